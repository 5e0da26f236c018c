//! Params: their values, and what is said of them.

use std::process::ExitCode;

use super::*;
use crate::params::ParamValues;

fn with_params() -> Pipeline {
    let pipeline = Pipeline::new("large").doc("Large numbers.");
    pipeline
        .param_or::<i64>("least", "3", "Smaller ones are left out.")
        .param::<String>("from_file", "Where numbers are.")
        .param_if::<bool>("twice", "Each of them two times.")
}

fn large(pipeline: &Pipeline, params: &ParamValues) -> JobResult<Receiver<i64>> {
    let (least, path): (i64, String) = (params.get("least")?, params.get("from_file")?);
    let times = if params.optional("twice")?.unwrap_or(false) { 2 } else { 1 };
    let numbers = pipeline.json_files::<Number>("numbers", &path).filter(move |row| row.number >= least);
    Ok(numbers.flat_map(move |row| vec![row.number; times]).into_channel(99))
}

#[test]
fn values_are_there_when_streams_are_built() -> JobResult<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers.jsonl").to_string_lossy().into_owned();
    std::fs::write(&path, "{\"number\":2}\n{\"number\":3}\n{\"number\":4}\n").unwrap();
    let run = |options: RunOptions| -> JobResult<Vec<i64>> {
        let mut receiver = None;
        let job = with_params().start_with(options.param("from_file", &path), |pipeline, params| {
            receiver = Some(large(pipeline, params)?);
            Ok(())
        })?;
        Ok(sorted(job, receiver.unwrap()))
    };
    assert_eq!(run(RunOptions::new())?, [3, 4]);
    assert_eq!(run(RunOptions::new().param("least", "4").param("twice", "true"))?, [4, 4]);
    let error = run(RunOptions::new().param("least", "much")).unwrap_err().to_string();
    assert_eq!(error, "the flag `--least` takes a value of type int64, like `5`: `much` is none");
    Ok(())
}

#[test]
fn a_program_has_its_params_as_flags() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(path("numbers.jsonl"), "{\"number\":2}\n{\"number\":3}\n").unwrap();
    let run = |args: &[&str]| {
        let out = path("out");
        let code = with_params().with_args(args.iter().map(|&arg| arg.into()), |pipeline, params| {
            let (least, path): (i64, String) = (params.get("least")?, params.get("from_file")?);
            let numbers = pipeline.json_files::<Number>("numbers", &path).filter(move |row| row.number >= least);
            numbers.into_json_files(&out);
            Ok(())
        });
        // What `ExitCode` does not tell otherwise.
        format!("{code:?}")
    };
    let code = |code: u8| format!("{:?}", ExitCode::from(code));
    assert_eq!(run(&["--quiet", "--least", "3", "--from-file", &path("numbers.jsonl")]), code(0));
    let written: Vec<_> = std::fs::read_dir(path("out")).unwrap().map(|file| file.unwrap().path()).collect();
    let rows: String = written.iter().filter(|file| file.is_file()).map(|file| std::fs::read_to_string(file).unwrap()).collect();
    assert_eq!(rows, "{\"number\":3}\n");
    // `--help` needs no values; without one that is needed, or with one that there is not, the command line is wrong.
    assert_eq!(run(&["--help"]), code(0));
    assert_eq!(run(&["--version"]), code(0));
    assert_eq!(run(&["--quiet"]), code(2));
    assert_eq!(run(&["--quiet", "--leest", "3"]), code(2));
    let help = crate::help::text(&with_params().shell());
    let lines = [
        "large: Large numbers.",
        "  --least <int64>       Smaller ones are left out. [default: 3]",
        "  --from-file <string>  Where numbers are. [required]",
        "  --twice <bool?>       Each of them two times.",
    ];
    for line in lines {
        assert!(help.lines().any(|found| found == line), "`{line}` is not in {help}");
    }
}

#[test]
fn params_that_cannot_be() {
    let pipeline = with_params().param::<i64>("least", "Again.").param::<i64>("Most", "").param::<i64>("checkpoint_dir", "");
    let pipeline = pipeline.param_or::<i64>("some", "many", "");
    let error = pipeline
        .start_with(RunOptions::new().param("from_file", "x").param("Most", "1").param("checkpoint_dir", "1"), |_, _| Ok(()));
    let error = error.unwrap_err().to_string();
    let said = [
        "there are two params `least`",
        "`Most` is no name of a param: it takes small letters, digits and `_`, and begins with a letter",
        "`--checkpoint-dir` is a flag that every job has: give the param another name",
        "the default of `some` is no int64, like `5`: `many`",
    ];
    for said in said {
        let line = error.lines().find(|line| line.contains(said));
        assert!(line.is_some_and(|line| line.contains("tests/params.rs:")), "`{said}` is not in {error}");
    }
    let pipeline = with_params();
    let (_sender, orders) = pipeline.channel::<Order>("orders", 4);
    let _receiver = orders.into_channel(1);
    let error = pipeline.start(RunOptions::new()).unwrap_err().to_string();
    assert!(error.contains("the pipeline has a param, `least`") && error.contains("`start_with`"), "{error}");
}
