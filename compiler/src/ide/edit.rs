//! Formatting as an edit: only the lines that change.

/// A stretch of a text, in bytes, and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub start: u32,
    pub end: u32,
    pub text: String,
}

/// The edit that brings a text into the one style. None: it is in it.
pub fn format(text: &str) -> Option<Edit> {
    let formatted = crate::fmt::format(text);
    if formatted == text {
        return None;
    }
    let same = text.split_inclusive('\n').zip(formatted.split_inclusive('\n')).take_while(|(old, new)| old == new);
    let start: usize = same.map(|(line, _)| line.len()).sum();
    let (old, new) = (&text[start..], &formatted[start..]);
    let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
    let (old_lines, new_lines) = (lines(old), lines(new));
    let tail = old_lines.iter().rev().zip(new_lines.iter().rev()).take_while(|(old, new)| old == new);
    let tail: usize = tail.map(|(line, _)| line.len()).sum();
    Some(Edit { start: start as u32, end: (text.len() - tail) as u32, text: new[..new.len() - tail].to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stay_are_not_touched() {
        let text = "job a {}\n\nparam x:int64\n\njob b {}\n";
        let edit = format(text).unwrap();
        assert_eq!(&text[edit.start as usize..edit.end as usize], "param x:int64\n");
        assert_eq!(edit.text, "param x: int64\n");
        assert_eq!(format("param x: int64\n"), None);
    }

    #[test]
    fn the_edit_gives_the_formatted_text() {
        for text in ["param x:int64", "\n\n\nparam x: int64\n", "a\na\na\n", "", "param a: int64\n\n\n\n\n"] {
            let edited = match format(text) {
                Some(edit) => format!("{}{}{}", &text[..edit.start as usize], edit.text, &text[edit.end as usize..]),
                None => text.to_owned(),
            };
            assert_eq!(edited, crate::fmt::format(text), "{text:?}");
        }
    }
}
