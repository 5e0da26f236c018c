//! What each pass changed: the difference of the dumps, for `millstream explain --passes`.

use std::fmt::Write;

use crate::plan::passes::PassTrace;

/// Each pass by name, with the lines that it took away (`-`) and added (`+`) under the operator they belong to.
pub fn passes(before: &str, traces: &[PassTrace]) -> String {
    let mut out = String::new();
    let mut last = before;
    for trace in traces {
        if trace.changed {
            let _ = writeln!(out, "{}", trace.name);
            out.push_str(&difference(last, &trace.dump));
            out.push('\n');
        } else {
            let _ = writeln!(out, "{}: nothing to do\n", trace.name);
        }
        last = &trace.dump;
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

/// Changed lines, each group under the last unchanged `[operator]` line before it.
fn difference(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut out = String::new();
    let mut heading = None;
    for line in aligned(&before, &after) {
        match line {
            Line::Same(text) if text.starts_with('[') => heading = Some(text),
            Line::Same(_) => {}
            Line::Removed("") | Line::Added("") => {}
            Line::Removed(text) | Line::Added(text) => {
                if text.starts_with('[') {
                    heading = None;
                }
                if let Some(heading) = heading.take() {
                    let _ = writeln!(out, "    {heading}");
                }
                let sign = if matches!(line, Line::Added(_)) { '+' } else { '-' };
                let _ = writeln!(out, "  {sign} {text}");
            }
        }
    }
    out
}

#[derive(Clone, Copy)]
enum Line<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// The longest common subsequence, with what is left over on both sides.
fn aligned<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<Line<'a>> {
    let width = after.len() + 1;
    let mut lengths = vec![0u32; (before.len() + 1) * width];
    for i in (0..before.len()).rev() {
        for j in (0..after.len()).rev() {
            lengths[i * width + j] = if before[i] == after[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut out = Vec::new();
    while i < before.len() || j < after.len() {
        if i < before.len() && j < after.len() && before[i] == after[j] {
            out.push(Line::Same(before[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == after.len() || (i < before.len() && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) {
            out.push(Line::Removed(before[i]));
            i += 1;
        } else {
            out.push(Line::Added(after[j]));
            j += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_changed_lines_under_their_operator() {
        let before = "job x\n\n[a/0]\n  where a\n\n[b/0]\n  where b";
        let after = "job x\n\n[a/0]\n  where c\n\n[d/0]\n  union\n\n[b/0]\n  where b";
        let trace = |changed| PassTrace { name: "some_pass", changed, dump: after.to_owned() };
        let shown = passes(before, &[trace(true), trace(false)]);
        assert_eq!(
            shown,
            "some_pass\n    [a/0]\n  -   where a\n  +   where c\n  + [d/0]\n  +   union\n\nsome_pass: nothing to do\n"
        );
    }
}
