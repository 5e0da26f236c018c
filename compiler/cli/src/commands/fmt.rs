//! `millstream fmt FILE...`: the one style.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use millstream_compiler::disk::Disk;
use millstream_compiler::session::Loader;

use crate::console::Console;

const EXAMPLES: &str = "Examples:
  millstream fmt orders.flow           rewrite the file
  millstream fmt pipelines             all .flow files below a folder
  millstream fmt --check pipelines     say which files are not in the style
  millstream fmt --stdin < orders.flow write to standard output

An item with a mistake stays as it is; no comment is lost.
Exit code: 0 done, 1 when a file cannot be read, or with --check is not in the style.";

/// Bring pipelines into the one style
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files, or folders with .flow files in them
    #[arg(value_name = "FILE", required_unless_present = "stdin")]
    files: Vec<String>,
    /// Change nothing; name the files that are not in the style
    #[arg(long)]
    check: bool,
    /// Read standard input, write standard output
    #[arg(long, conflicts_with = "files")]
    stdin: bool,
}

/// Formats files in place.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    let done = if args.stdin {
        standard_input(args.check, console)
    } else {
        let mut done = true;
        for path in &args.files {
            let (found, unread) = flow_files(path);
            for reason in &unread {
                console.error(reason);
            }
            done &= unread.is_empty();
            for path in found {
                done &= file(&path, args.check, console);
            }
        }
        done
    };
    if done { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// The file itself, or all `.flow` files below a folder, in order; and which folders cannot be read.
fn flow_files(path: &str) -> (Vec<String>, Vec<String>) {
    if !Path::new(path).is_dir() {
        return (vec![path.to_owned()], Vec::new());
    }
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    let mut open = vec![Path::new(path).to_owned()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| unread.push(format!("{}: {error}", folder.display())));
        for entry in entries.into_iter().flatten().flatten() {
            let path = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            // Links may go round in circles.
            let kind = entry.file_type();
            if !hidden && kind.as_ref().is_ok_and(std::fs::FileType::is_dir) {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "flow") {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    (found, unread)
}

fn file(path: &str, check: bool, console: &Console) -> bool {
    let Some(text) = Disk.load(path).and_then(utf8).map_err(|reason| console.error(format_args!("{path}: {reason}"))).ok() else {
        return false;
    };
    let formatted = millstream_compiler::fmt::format(&text);
    if formatted == text {
        return true;
    }
    if check {
        console.message(format_args!("{path} is not in the style; `millstream fmt {path}` brings it there"));
        return false;
    }
    match std::fs::write(path, formatted) {
        Ok(()) => {
            console.message(format_args!("{path}: formatted"));
            true
        }
        Err(error) => {
            console.error(format_args!("{path}: {error}"));
            false
        }
    }
}

fn standard_input(check: bool, console: &Console) -> bool {
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes).map_err(|error| error.to_string());
    let text = match read.and_then(|_| utf8(bytes)) {
        Ok(text) => text,
        Err(reason) => {
            console.error(format_args!("standard input: {reason}"));
            return false;
        }
    };
    let formatted = millstream_compiler::fmt::format(&text);
    if check {
        return formatted == text;
    }
    console.print(&formatted);
    true
}

fn utf8(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| format!("it is not UTF-8 (byte {})", error.utf8_error().valid_up_to()))
}
