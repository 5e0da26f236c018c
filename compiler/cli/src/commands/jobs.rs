//! `millstream jobs`: what runs on this machine.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use millstream_runtime::remote::Running;

use crate::console::Console;
use crate::running;

/// List the running jobs of this user
#[derive(Debug, clap::Args)]
pub struct Args {
    /// One line of JSON for each, for programs
    #[arg(long)]
    json: bool,
}

/// Runs the command. No job is no failure.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    let jobs = match running::all() {
        Ok(jobs) => jobs,
        Err(reason) => return console.fail(reason),
    };
    if args.json {
        for info in jobs.iter().filter_map(|job| job.info.as_ref()) {
            console.print(format_args!("{}\n", info.to_json()));
        }
    } else if jobs.is_empty() {
        console.message("no job is running");
    } else {
        console.print(table(&jobs));
    }
    ExitCode::SUCCESS
}

fn table(jobs: &[Running]) -> String {
    let head = ["JOB", "PROCESS", "STATE", "UPTIME", "RESTARTS", "CHECKPOINT", "IN"].map(str::to_owned);
    let mut rows = vec![head];
    for job in jobs {
        rows.push(match &job.info {
            Some(info) => [
                info.facts.job.clone(),
                job.pid.to_string(),
                info.state.clone(),
                short(info.uptime),
                info.restarts.to_string(),
                info.checkpoint.map_or_else(|| "-".to_owned(), |(id, age)| format!("{id}, {} ago", short(age))),
                info.facts.checkpoints.as_ref().map_or_else(|| "-".to_owned(), |path| path.display().to_string()),
            ],
            None => ["?", &job.pid.to_string(), "does not answer", "-", "-", "-", "-"].map(str::to_owned),
        });
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// `3 s`, `2 min`, `5 h`, `4 d`
fn short(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}
