//! The example gives what it says, however often it runs side by side; and its build has nothing of the language.

use std::path::Path;
use std::process::Command;

use millstream::RunOptions;

/// All rows in the files of a folder, in order.
fn rows(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display())).unwrap();
    let files = files.map(|file| file.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        path.is_file() && !name.starts_with(['.', '_'])
    });
    let mut rows: Vec<String> =
        files.flat_map(|file| std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    rows.sort();
    rows
}

#[test]
fn four_streams_of_two() {
    for parallelism in [1, 3] {
        let out = tempfile::tempdir().unwrap();
        let data = format!("{}/data", env!("CARGO_MANIFEST_DIR"));
        let shop = millstream_builder_example::shop(&data, &out.path().to_string_lossy());
        shop.run(RunOptions::new().parallelism(parallelism)).unwrap();
        let found = |stream: &str| rows(&out.path().join(stream));
        let revenue = found("revenue");
        assert_eq!(revenue.len(), 4, "{revenue:?}");
        assert!(revenue[0].contains(r#""customer":"ann""#) && revenue[0].contains(r#""orders":2"#), "{revenue:?}");
        assert!(revenue[0].contains("3.00"), "{revenue:?}");
        let paid = found("paid");
        let method =
            |id: i64| paid.iter().find(|row| row.contains(&format!(r#""id":{id},"#))).map(String::as_str).unwrap_or_default();
        assert_eq!(paid.len(), 3, "{paid:?}");
        assert!(method(1).contains("card") && method(5).contains("transfer") && method(6).contains("card"), "{paid:?}");
        // Order 2 was paid later than that.
        let unpaid = found("unpaid");
        assert_eq!(unpaid.len(), 2, "{unpaid:?}");
        assert!(
            unpaid[0].contains(r#""id":2,"#) && unpaid[1].contains(r#""id":3,"#) && unpaid[1].contains("10:00:59"),
            "{unpaid:?}"
        );
    }
}

#[test]
fn the_build_has_nothing_of_the_language() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let tree = Command::new(cargo)
        .args(["tree", "--offline", "--edges", "normal", "--prefix", "none"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let (text, errors) = (String::from_utf8_lossy(&tree.stdout), String::from_utf8_lossy(&tree.stderr));
    assert!(tree.status.success(), "{errors}");
    assert!(text.contains("millstream-runtime"), "{text}");
    for none in ["millstream-compiler", "millstream-grammar", "millstream-flow", "pest "] {
        assert!(!text.contains(none), "{none} is in\n{text}");
    }
}
