//! What cargo prints, read: JSON messages on its standard output, progress on its standard error.

use std::path::PathBuf;

use serde_json::Value;

/// A message on standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// A unit is there: compiled now, or found up to date.
    Artifact { package: String, fresh: bool, executable: Option<PathBuf> },
    /// rustc found a mistake: in which package and file, and how rustc shows it.
    Error { package: String, file: Option<PathBuf>, rendered: String },
    /// rustc warns, in the generated crate or in a crate of a path.
    Warning { package: String, file: Option<PathBuf>, rendered: String },
}

/// Reads a line of standard output.
pub(super) fn message(line: &str) -> Option<Message> {
    let value: Value = serde_json::from_str(line).ok()?;
    let package = package_name(value.get("package_id")?.as_str()?);
    match value.get("reason")?.as_str()? {
        "compiler-artifact" => Some(Message::Artifact {
            package,
            fresh: value.get("fresh")?.as_bool()?,
            executable: value.get("executable").and_then(Value::as_str).map(PathBuf::from),
        }),
        "compiler-message" => {
            let message = value.get("message")?;
            let rendered = message.get("rendered")?.as_str()?.to_owned();
            let spans = message.get("spans").and_then(Value::as_array);
            let primary = spans.and_then(|spans| spans.iter().find(|span| span.get("is_primary") == Some(&Value::Bool(true))));
            let file = primary.and_then(|span| span.get("file_name")).and_then(Value::as_str).map(PathBuf::from);
            match message.get("level")?.as_str()? {
                "error" | "error: internal compiler error" => Some(Message::Error { package, file, rendered }),
                "warning" => Some(Message::Warning { package, file, rendered }),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The name in a package id: `path+file:///x/word_count-1#0.0.0`, `registry+..#tokio@1.52.0`.
fn package_name(id: &str) -> String {
    let (place, name) = id.rsplit_once('#').unwrap_or(("", id));
    match name.split_once('@') {
        Some((name, _)) => name.to_owned(),
        // No name: it is the last part of the place.
        None => place.rsplit('/').next().unwrap_or(name).to_owned(),
    }
}

/// `(12, 93, "tokio")` of `    Building [====>     ] 12/93: tokio, regex`.
pub(super) fn progress(text: &str) -> Option<(usize, usize, String)> {
    let text = text.trim_start().strip_prefix("Building")?;
    let text = text.rsplit_once(']').map_or(text, |(_, rest)| rest);
    let (numbers, names) = text.split_once(':').unwrap_or((text, ""));
    let (done, total) = numbers.trim().split_once('/')?;
    let name = names.split(',').next().unwrap_or_default().trim();
    let name = name.split_once('(').map_or(name, |(name, _)| name);
    Some((done.trim().parse().ok()?, total.trim().parse().ok()?, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_lines_are_understood() {
        assert_eq!(progress("   Building [====>     ] 12/93: tokio, regex(build)"), Some((12, 93, "tokio".into())));
        assert_eq!(progress("    Building [=>  ] 2/9: regex(build.rs)"), Some((2, 9, "regex".into())));
        assert_eq!(progress("   Compiling tokio v1.0.0"), None);
    }

    #[test]
    fn artifacts_and_errors_are_understood() {
        let line = r#"{"reason":"compiler-artifact","package_id":"path+file:///c/word_count-1#0.0.0","fresh":false,"executable":"/t/flow/word_count-1"}"#;
        let expected =
            Message::Artifact { package: "word_count-1".into(), fresh: false, executable: Some("/t/flow/word_count-1".into()) };
        assert_eq!(message(line), Some(expected));
        let line = r#"{"reason":"compiler-message","package_id":"registry+x#tokio@1.2.3","message":{"level":"error","rendered":"no","spans":[{"is_primary":true,"file_name":"src/a.rs"}]}}"#;
        let expected = Message::Error { package: "tokio".into(), file: Some("src/a.rs".into()), rendered: "no".into() };
        assert_eq!(message(line), Some(expected));
    }
}
