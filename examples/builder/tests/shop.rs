//! The example gives what it says, however often it runs side by side; and its build has nothing of the language.

mod support;

use std::process::Command;

use millstream::RunOptions;
use support::rows;

#[test]
fn four_streams_of_two() {
    for parallelism in [1, 3] {
        let out = tempfile::tempdir().unwrap();
        let data = format!("{}/data", env!("CARGO_MANIFEST_DIR"));
        let options = RunOptions::new().parallelism(parallelism).param("data", &data).param("out", out.path().to_string_lossy());
        millstream_builder_example::shop().run_with(options, millstream_builder_example::streams).unwrap();
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
