//! The rows of an answer: one object, a list of objects, or nothing.

/// The bytes of each row. `null` and an empty answer are none.
pub(crate) fn elements(body: &[u8]) -> Result<Vec<&[u8]>, String> {
    let body = body.trim_ascii();
    match body.first() {
        None => Ok(Vec::new()),
        Some(_) if body == b"null" => Ok(Vec::new()),
        Some(b'[') => list(body),
        Some(_) => Ok(vec![body]),
    }
}

/// The elements of a list. What is in them, their decoder looks at.
fn list(body: &[u8]) -> Result<Vec<&[u8]>, String> {
    const BROKEN: &str = "the answer is no whole JSON list";
    let inner = body.strip_prefix(b"[").and_then(|body| body.strip_suffix(b"]")).ok_or(BROKEN)?;
    let mut found = Vec::new();
    let (mut depth, mut start, mut in_text, mut escaped) = (0usize, 0, false, false);
    for (at, byte) in inner.iter().enumerate() {
        if in_text {
            (in_text, escaped) = match byte {
                _ if escaped => (true, false),
                b'\\' => (true, true),
                byte => (*byte != b'"', false),
            };
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1).ok_or(BROKEN)?,
            b',' if depth == 0 => {
                found.push(inner[start..at].trim_ascii());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = inner[start..].trim_ascii();
    if depth > 0 || in_text || (last.is_empty() && !found.is_empty()) || found.iter().any(|element| element.is_empty()) {
        return Err(BROKEN.to_owned());
    }
    found.extend((!last.is_empty()).then_some(last));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(body: &str) -> Result<Vec<String>, String> {
        Ok(elements(body.as_bytes())?.into_iter().map(|element| String::from_utf8_lossy(element).into_owned()).collect())
    }

    #[test]
    fn objects_lists_and_nothing() {
        assert_eq!(texts(" {\"a\": 1}\n").unwrap(), ["{\"a\": 1}"]);
        assert_eq!(texts("[]").unwrap(), [""; 0]);
        assert_eq!(texts("null").unwrap(), [""; 0]);
        assert_eq!(texts(" \n").unwrap(), [""; 0]);
        assert_eq!(texts("[ {\"a\": [1, 2]} , {\"b\": \"],\\\"}\"} ]").unwrap(), ["{\"a\": [1, 2]}", "{\"b\": \"],\\\"}\"}"]);
    }

    #[test]
    fn broken_lists_are_refused() {
        for body in ["[{\"a\": 1}", "[{\"a\": 1},]", "[,{}]", "[\"]", "[}]", "[{]"] {
            assert!(texts(body).is_err(), "{body}");
        }
    }
}
