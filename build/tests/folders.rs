//! Folders of pipelines: what is written, what is watched, and what is said of mistakes.

use std::path::Path;

use millstream_build::compile_to;
use tempfile::TempDir;

const RECORD: &str = "record Word { word: string }\n";

fn pipeline(job: &str, rest: &str) -> String {
    format!(
        "job {job} {{}}\nuse \"shared/words.flow\"\nsource words: Word from file {{ path: \"words.jsonl\", format: json }}\n{rest}\n"
    )
}

/// A folder with these files, and where the output goes.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join("flows").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::create_dir(folder.path().join("out")).unwrap();
    folder
}

fn compile(folder: &TempDir) -> Result<millstream_build::Compiled, String> {
    compile_to(&folder.path().join("flows"), &folder.path().join("out"))
}

#[test]
fn every_pipeline_becomes_a_module_and_every_file_is_watched() {
    let (short, long) =
        (pipeline("short", "sink words into stdout"), pipeline("long", "stream gone = words\nsink words into stdout"));
    let folder = folder(&[("b.flow", &short), ("a.flow", &long), ("shared/words.flow", RECORD)]);
    let compiled = compile(&folder).unwrap();
    assert_eq!(compiled.modules, ["long", "short"]);
    let files: Vec<_> = compiled.files.iter().map(|path| path.strip_prefix(folder.path().join("flows")).unwrap()).collect();
    assert_eq!(files, ["a.flow", "b.flow", "shared/words.flow"].map(Path::new));
    assert_eq!(compiled.warnings.len(), 1);
    assert!(compiled.warnings[0].ends_with("a.flow:4:8: the stream `gone` reaches no sink [W0202]"), "{:?}", compiled.warnings);
    assert_eq!(compiled.output, folder.path().join("out/flows.rs"));
    let text = std::fs::read_to_string(&compiled.output).unwrap();
    assert!(text.contains("pub mod long {") && text.contains("pub mod short {"), "{text}");

    // Nothing new: rustc has nothing to do.
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    std::fs::File::options().write(true).open(&compiled.output).unwrap().set_modified(long_ago).unwrap();
    compile(&folder).unwrap();
    assert_eq!(std::fs::metadata(&compiled.output).unwrap().modified().unwrap(), long_ago);
}

#[test]
fn all_mistakes_of_all_files_are_shown() {
    let (first, second) =
        (pipeline("a", "sink wrods into stdout"), pipeline("b", "sink words | where wrod == \"x\" into stdout"));
    let folder = folder(&[("a.flow", &first), ("b.flow", &second), ("shared/words.flow", RECORD)]);
    let message = compile(&folder).unwrap_err();
    assert!(message.contains("error[E02") && message.contains("a.flow:4:6") && message.contains("b.flow:4:20"), "{message}");
    assert!(!folder.path().join("out/flows.rs").exists());
}

#[test]
fn two_jobs_of_one_name_and_empty_folders_are_refused() {
    let same = pipeline("same", "sink words into stdout");
    let folder_of_two = folder(&[("a.flow", &same), ("b.flow", &same), ("shared/words.flow", RECORD)]);
    let message = compile(&folder_of_two).unwrap_err();
    assert!(message.contains("a.flow") && message.contains("b.flow") && message.contains("job `same`"), "{message}");
    let message = compile(&folder(&[("notes.txt", "")])).unwrap_err();
    assert!(message.contains("no .flow file"), "{message}");
    let empty = TempDir::new().unwrap();
    assert!(compile_to(&empty.path().join("none"), empty.path()).unwrap_err().contains("cannot read the folder"));
}
