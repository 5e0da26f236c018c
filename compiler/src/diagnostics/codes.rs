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
    // Syntax.
    "E0101" "E0102" "E0103" "E0104" "E0105" "E0106" "E0107" "E0108" "E0109" "E0110" "E0111" "E0112"
    "E0113" "E0114" "E0115" "E0116" "E0117" "E0118" "E0119" "E0120" "E0121" "E0122" "E0199"
    // Names.
    "E0201" "E0202" "E0203" "E0204" "E0205" "E0206" "E0207" "E0208" "E0209" "E0210" "E0211" "E0212"
    "E0213" "E0214" "E0215" "E0216"
    // Types.
    "E0301" "E0302" "E0303" "E0304" "E0305" "E0306" "E0307" "E0308" "E0309" "E0310" "E0311" "E0312"
    "E0313" "E0314" "E0315" "E0316" "E0317" "E0318" "E0319"
    // Time and windows.
    "E0401" "E0402" "E0403" "E0404" "E0405" "E0406" "E0407" "E0408" "E0409" "E0410" "E0411" "E0412"
    "E0413" "E0414" "E0415" "E0416" "E0417" "E0418" "E0419"
    // Keys, state, tables.
    "E0501" "E0502" "E0503" "E0504" "E0506" "E0507" "E0508" "E0509" "E0510" "E0511" "E0512"
    "E0513" "E0514" "E0515"
    "E0520" "E0521" "E0522" "E0523" "E0524" "E0525" "E0526" "E0527" "E0528" "E0530" "E0531" "E0532"
    "E0533" "E0534" "E0535" "E0536"
    // Connectors and delivery.
    "E0601" "E0602" "E0603" "E0604" "E0605" "E0606" "E0607" "E0608" "E0609" "E0610" "E0611" "E0612"
    "E0613" "E0614" "E0615"
    "E0640" "E0641" "E0642" "E0643" "E0644" "E0645" "E0646" "E0647" "E0648"
    // Layouts.
    "E0701" "E0702" "E0703"
    // Rust files.
    "E0801" "E0802" "E0803" "E0804" "E0805" "E0806" "E0807" "E0808" "E0809" "E0810" "E0811" "E0812" "E0813" "E0814"
    "E0815" "E0816" "E0817" "E0818" "E0819" "E0820"
    // Generated code and build.
    "E0901" "E0902" "E0903" "E0904" "E0905" "E0906" "E0907"
    // Warnings.
    "W0201" "W0202" "W0203" "W0301" "W0302" "W0501" "W0502" "W0601" "W0801" "W0802"
];

/// The page of a code, in any case: `e0203`.
pub fn page(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|page| page.code.eq_ignore_ascii_case(code)).map(|page| page.text)
}
