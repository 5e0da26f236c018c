//! Which texts name a local folder or file, which a folder of a bucket, and which neither. Known to the compiler too, so that what
//! stands in the text is refused by `check`.

/// Scheme and the rest of a place that is no local folder. Also of one that looks as if a scheme was meant: no folder `s3:` is made
/// where a bucket was to be. The schemes of such places are none that is known.
pub fn scheme_of(place: &str) -> Option<(&str, &str)> {
    let whole = place.split_once("://").filter(|(scheme, _)| *scheme != "file" && !scheme.contains('/'));
    whole.or_else(|| mistyped(place))
}

/// What others call places that are no folders, and those who write them.
const SCHEMES: [&str; 16] =
    ["s3", "s3a", "s3n", "gs", "gcs", "hdfs", "az", "abfs", "abfss", "wasb", "wasbs", "http", "https", "file", "oss", "minio"];

/// `s3:/bucket`, `s3:bucket`, `s3//bucket`, `file:/folder`: up to where the rest begins. A folder of such a name is `./s3:/bucket`.
fn mistyped(place: &str) -> Option<(&str, &str)> {
    let end = place.find(|letter: char| !letter.is_ascii_alphanumeric() && !"+-.".contains(letter))?;
    let (word, rest) = place.split_at(end);
    let known = SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
    let looks_so = match rest.strip_prefix(':') {
        Some(rest) if rest.starts_with("//") => false,
        Some(rest) => known || rest.starts_with('/') && word.len() > 1 && word.starts_with(|letter: char| letter.is_alphabetic()),
        None => known && rest.starts_with("//"),
    };
    looks_so.then(|| place.split_at(end + rest.len() - rest.trim_start_matches([':', '/']).len()))
}

/// Whether the place is a local one or in a bucket that it names.
pub fn is_known(place: &str) -> bool {
    scheme_of(place).is_none_or(|(scheme, rest)| scheme == "s3" && !rest.is_empty() && !rest.starts_with('/'))
}

/// What was meant by a place that is not known, where one can tell.
pub fn meant(place: &str) -> Option<String> {
    let (scheme, rest) = scheme_of(place)?;
    match scheme.trim_end_matches([':', '/']).to_ascii_lowercase().as_str() {
        "file" => Some(format!("/{rest}")),
        "minio" => Some(format!("s3://{rest}")),
        word if word.contains('3') => Some(format!("s3://{}", rest.trim_start_matches('/'))),
        _ => None,
    }
}

/// A place that means the same in another process, which may have another working directory. One with a scheme stays as it is, also where
/// that is misspelled: whoever opens it says so.
///
/// # Errors
/// An empty place, or no working directory.
pub fn everywhere(place: &str) -> std::io::Result<String> {
    if place.contains("://") || scheme_of(place).is_some() {
        return Ok(place.to_owned());
    }
    Ok(std::path::absolute(place)?.display().to_string())
}

/// The message for a place that is not known.
#[cfg(feature = "engine")]
pub(crate) fn unknown(place: &str) -> String {
    match meant(place) {
        Some(meant) => {
            format!("`{place}` is no place that is known: did you mean `{meant}`? A local folder of this name is `./{place}`")
        }
        None => format!("`{place}` is no place that is known: there are local folders and `s3://bucket/path`"),
    }
}

/// The local folder that a place without another scheme means.
#[cfg(feature = "engine")]
pub(crate) fn local_path(place: &str) -> &str {
    place.strip_prefix("file://").unwrap_or(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_apart() {
        assert_eq!(scheme_of("s3://bucket/a"), Some(("s3", "bucket/a")));
        for (place, known) in
            [("s3://b/a", true), ("data/*.csv", true), ("gs://b/a", false), ("s3:/b", false), ("s3:///a", false)]
        {
            assert_eq!(is_known(place), known, "{place}");
        }
        assert_eq!(scheme_of("a/b://c"), None);
        assert_eq!(scheme_of("file:///tmp/x"), None);
        for place in ["./s3:/bucket", "/s3:/bucket", "data", "data:2024/x", "a/b:/c", "x:/y", "s3", "s3/bucket", "file:///tmp/x"]
        {
            assert_eq!(scheme_of(place), None, "{place}");
        }
    }

    #[test]
    fn a_folder_is_that_of_this_process_and_a_bucket_stays_one() {
        for place in ["s3://bucket/a", "s3:/bucket/a", "s3:bucket", "S3//bucket", "file:///tmp/x", "file:/tmp/x", "/tmp/x"] {
            assert_eq!(everywhere(place).unwrap(), place);
        }
        let here = std::env::current_dir().unwrap();
        for (place, name) in [("saved", "saved"), ("./s3:/bucket", "s3:/bucket")] {
            assert_eq!(everywhere(place).unwrap(), here.join(name).display().to_string());
        }
        assert!(everywhere("").is_err());
    }
}
