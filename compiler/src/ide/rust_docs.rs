//! Doc comments in Rust files: what stands above an item or a field.

/// The `///` lines above the line of a place, joined by newlines. Attributes between are passed over.
pub fn above(text: &str, offset: u32) -> Option<String> {
    let line = text.get(..offset as usize)?.rfind('\n').map_or(0, |at| at + 1);
    let mut lines = text[..line].lines().rev().map(str::trim);
    let mut doc = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(line) = line.strip_prefix("///") {
            doc.push(line.strip_prefix(' ').unwrap_or(line));
        } else if line.ends_with(']') && !line.starts_with("#[") {
            // An attribute of several lines.
            lines.by_ref().find(|line| line.starts_with("#["));
        } else if line.starts_with("#[") || (line.starts_with("//") && doc.is_empty()) {
            continue;
        } else {
            break;
        }
    }
    doc.reverse();
    (!doc.is_empty()).then(|| doc.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::above;

    #[test]
    fn attributes_stand_between() {
        let text = "struct A;\n/// One.\n///\n/// Two.\n#[derive(\n    Clone,\n)]\n#[x]\npub struct B {\n    a: i64,\n    /// C.\n    c: i64,\n}\n";
        let at = |word: &str| above(text, text.find(word).unwrap() as u32);
        assert_eq!(at("B {").as_deref(), Some("One.\n\nTwo."));
        assert_eq!(at("c: i64").as_deref(), Some("C."));
        assert_eq!(at("a: i64"), None);
    }
}
