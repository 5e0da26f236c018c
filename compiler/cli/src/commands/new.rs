//! `millstream new NAME`: a folder with a pipeline that runs as it is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::console::Console;

const EXAMPLES: &str = "Examples:
  millstream new my_pipeline
  cd my_pipeline && millstream run my_pipeline.flow";

/// Make a folder with a small pipeline, sample data and a README
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder to make; its name becomes that of the job
    #[arg(value_name = "NAME")]
    folder: PathBuf,
}

/// Path in the new folder, and text. `{{name}}` stands for the job's name.
const TEMPLATE: &[(&str, &str)] = &[
    ("{{name}}.flow", include_str!("../../templates/basic/pipeline.flow")),
    ("data/orders.csv", include_str!("../../templates/basic/data/orders.csv")),
    ("README.md", include_str!("../../templates/basic/README.md")),
    (".gitignore", include_str!("../../templates/basic/gitignore")),
];

/// Makes the folder.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    let folder = &args.folder;
    let name = match job_name(folder) {
        Ok(name) => name,
        Err(message) => return console.fail(message),
    };
    match write(folder, &name) {
        Ok(()) => {
            let shown = folder.display();
            console.print(format_args!("Made {shown}. Next:\n\n  cd {shown}\n  millstream run {name}.flow\n"));
            ExitCode::SUCCESS
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            console.fail(format_args!("{} is there already; nothing was changed", folder.display()))
        }
        Err(error) => console.fail(format_args!("cannot make {}: {error}", folder.display())),
    }
}

/// The folder's own name as the name of a job: letters, digits and `_`, not starting with a digit.
fn job_name(folder: &Path) -> Result<String, String> {
    let Some(name) = folder.file_name() else {
        return Err(format!("{} has no name of its own", folder.display()));
    };
    let Some(name) = name.to_str() else {
        return Err(format!("the name {} is not valid UTF-8", folder.display()));
    };
    let name = name.replace('-', "_");
    let fits = name.chars().all(|c| c.is_alphanumeric() || c == '_') && name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if fits {
        Ok(name)
    } else {
        Err(format!("a job cannot be called `{name}`: use letters, digits, `_` and `-`, and start with a letter"))
    }
}

fn write(folder: &Path, name: &str) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::create_dir(folder)?;
    for (path, text) in TEMPLATE {
        let path = folder.join(path.replace("{{name}}", name));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text.replace("{{name}}", name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_jobs_come_from_folders() {
        assert_eq!(job_name(Path::new("a/b/my-pipeline")), Ok("my_pipeline".to_owned()));
        assert_eq!(job_name(Path::new("größe")), Ok("größe".to_owned()));
        assert!(job_name(Path::new("2nd")).is_err());
        assert!(job_name(Path::new("a b")).is_err());
        assert!(job_name(Path::new("..")).is_err());
    }
}
