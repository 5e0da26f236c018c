//! Paths into JSON values: `$.name`, `["name"]`, `[0]`. The compiler checks those that are literals.

/// One step of a path.
#[cfg_attr(not(feature = "engine"), allow(dead_code))]
pub(super) enum Step<'a> {
    /// Of members with one name the last counts.
    Member(&'a str),
    /// From 0.
    Element(u64),
}

/// Takes the next step off a path. `first`: a name may stand without a dot.
pub(super) fn step<'a>(path: &mut &'a str, first: bool) -> Result<Option<Step<'a>>, String> {
    let whole = *path;
    let wrong = || format!("`{whole}` is not a JSON path: use steps like `.name`, `[\"name\"]` and `[0]`");
    if path.is_empty() {
        return Ok(None);
    }
    if let Some(rest) = path.strip_prefix('[') {
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let (name, rest) = rest[1..].split_once(quote).ok_or_else(wrong)?;
            *path = rest.strip_prefix(']').ok_or_else(wrong)?;
            return Ok(Some(Step::Member(name)));
        }
        let (index, rest) = rest.split_once(']').ok_or_else(wrong)?;
        *path = rest;
        return index.parse().map(|index| Some(Step::Element(index))).map_err(|_| wrong());
    }
    let rest = match path.strip_prefix('.') {
        Some(rest) => rest,
        None if first => path,
        None => return Err(wrong()),
    };
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    if end == 0 {
        return Err(wrong());
    }
    *path = &rest[end..];
    Ok(Some(Step::Member(&rest[..end])))
}

/// What is wrong with a path.
pub(super) fn check(path: &str) -> Result<(), String> {
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    let mut first = rest.len() == path.len();
    while step(&mut rest, first)?.is_some() {
        first = false;
    }
    Ok(())
}
