//! The register of codes: each has a page that says what it means, why it is so, and how to write it.
//!
//! A test holds this list, the codes used in the compiler, the files in `pages/` and the UI tests together.

/// A code and its page.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// `E0203`
    pub code: &'static str,
    /// Markdown: a heading `# E0203: title`, then text and examples.
    pub text: &'static str,
}

macro_rules! pages {
    ($($code:literal)*) => {
        &[$(Page { code: $code, text: include_str!(concat!("pages/", $code, ".md")) }),*]
    };
}

/// All codes in order.
pub static PAGES: &[Page] = pages![
    "E0101" "E0102" "E0103" "E0104" "E0105" "E0106" "E0107" "E0108" "E0109" "E0110" "E0111" "E0112" "E0113" "E0114" "E0115"
    "E0116" "E0117" "E0118" "E0119" "E0199"
    "E0901" "E0902" "E0903" "E0904"
];

/// The page of a code, in any case: `e0203`.
pub fn page(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|page| page.code.eq_ignore_ascii_case(code)).map(|page| page.text)
}
