//! The text of `--help`.

use std::fmt::Write as _;

use crate::flags::FLAGS;
use crate::job::Job;
use crate::params::flag_of;

/// Everything that a job's binary takes.
pub(crate) fn text(job: &Job) -> String {
    let mut text = job.name.to_owned();
    if !job.doc.is_empty() {
        let _ = write!(text, ": {}", job.doc.trim());
    }
    let _ = write!(text, "\n\nUsage: {} [flags]\n", job.name);
    if !job.params.is_empty() {
        text.push_str("\nParams:\n");
        let rows: Vec<_> = job
            .params
            .iter()
            .map(|param| {
                let mut doc = param.doc.trim().replace('\n', " ");
                match param.default {
                    Some(default) => {
                        let _ = write!(doc, " [default: {default}]");
                    }
                    None if param.ty.ends_with('?') => {}
                    None => doc.push_str(" [required]"),
                }
                (format!("--{} <{}>", flag_of(param.name), param.ty), doc.trim().to_owned())
            })
            .collect();
        table(&mut text, &rows);
    }
    text.push_str("\nFlags:\n");
    let rows: Vec<_> =
        FLAGS.iter().map(|(name, value, doc)| (format!("--{name} {value}").trim_end().to_owned(), (*doc).to_owned())).collect();
    table(&mut text, &rows);
    let checkpoints =
        if job.checkpoint.is_some() { "on" } else { "off unless --checkpoint-dir or --checkpoint-interval is given" };
    let _ = writeln!(text, "\nParallelism: {}. Checkpoints: {checkpoints}.", job.parallelism);
    text.push_str("Exit code: 0 done or stopped, 1 failed, 2 wrong command line, 3 done but rows are lost.\n");
    text
}

fn table(text: &mut String, rows: &[(String, String)]) {
    let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
    for (left, right) in rows {
        let _ = writeln!(text, "{}", format!("  {left:width$}  {right}").trim_end());
    }
}

/// How many letters must change to make one word of the other.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances() {
        assert_eq!(distance("since", "sinse"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("flag", "flag"), 0);
    }
}
