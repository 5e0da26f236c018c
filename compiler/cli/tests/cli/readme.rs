//! The README tells the truth: its commands run, its pipeline is the example, its message is what the command says.

use std::path::Path;
use std::process::{Command, Output};

use crate::support;

/// The fenced blocks of the README that begin with this word.
fn blocks(language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(support::root().join("README.md")).expect("the README");
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        match &mut open {
            Some(block) if line == "```" => blocks.extend(Some(std::mem::take(block)).into_iter().inspect(|_| open = None)),
            Some(block) => {
                block.push_str(line);
                block.push('\n');
            }
            None if line == format!("```{language}") => open = Some(String::new()),
            None => {}
        }
    }
    blocks
}

/// Runs one line as a shell would, with the built command in place of `millstream`.
fn shell(line: &str, folder: &Path) -> Output {
    let millstream = support::millstream();
    let binary = Path::new(millstream.get_program());
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).current_dir(folder);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", binary.parent().expect("a folder").display()));
    for (name, value) in millstream.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.output().expect("a shell starts")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("the example") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a copy");
        }
    }
}

#[test]
fn the_first_command_runs_the_main_job() {
    let first = blocks("sh").into_iter().next().expect("a first block");
    let line = first.lines().next().expect("a command").split('#').next().unwrap_or("").trim().to_string();
    let (place, command) = line.split_once(" && ").expect("cd and a command");
    let place = place.strip_prefix("cd ").expect("cd");
    let command = command.strip_prefix("cargo run --release -- ").expect("the command is built and run");
    let folder = support::fresh_folder("readme-first");
    copy(&support::root().join(place), &folder.join("example"));
    let output = shell(&format!("millstream {command}"), &folder.join("example"));
    support::assert_success(&output, command);
    assert!(folder.join("example/out/delays").read_dir().expect("the output").next().is_some());
}

#[test]
fn the_commands_of_use_it_run() {
    let folder = support::fresh_folder("readme-use");
    copy(&support::root().join("examples/orders"), &folder);
    let block = blocks("sh").into_iter().find(|block| block.contains("millstream new")).expect("the block");
    for line in block.lines() {
        let command = line.split('#').next().unwrap_or("").trim();
        support::assert_success(&shell(command, &folder), command);
    }
}

#[test]
fn the_pipeline_is_the_example() {
    let example =
        std::fs::read_to_string(support::root().join("examples/flight_delays/flight_delays.flow")).expect("the example");
    assert_eq!(blocks("flow").first(), Some(&example));
}

#[test]
fn the_message_is_what_check_says() {
    let blocks = blocks("text");
    let shown = blocks.first().expect("a message");
    let folder = support::fresh_folder("readme-message");
    let example = std::fs::read_to_string(support::root().join("examples/orders/orders.flow")).expect("the example");
    std::fs::write(folder.join("orders.flow"), example.replace("sum(amount)", "sum(amout)")).expect("a file");
    let output = shell("millstream check orders.flow", &folder);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(shown.trim()), "README:\n{shown}\nsaid:\n{said}");
}
