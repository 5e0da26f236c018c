//! What can go wrong between a crate in memory and a binary.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why there is no binary. Shown to the user as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// `E0901` to `E0905`; each has a page.
    pub code: &'static str,
    /// What is wrong, in one line.
    pub title: String,
    /// More lines, for instance what rustc says.
    pub details: Vec<String>,
    /// What to do.
    pub help: Option<String>,
}

impl BuildError {
    /// Generated code does not compile: always a mistake of the compiler, never of the user.
    pub(super) fn generated(file: &Path, rendered: Vec<String>) -> Self {
        BuildError {
            code: "E0901",
            title: format!("internal error: the generated file {} does not compile", file.display()),
            details: rendered,
            help: Some(
                "this is a mistake of millstream, not of yours: please report it with the .flow file and the generated file"
                    .into(),
            ),
        }
    }

    /// A Rust file of the user does not compile.
    pub(super) fn rust(name: &str, rendered: Vec<String>) -> Self {
        BuildError {
            code: "E0905",
            title: format!("{name} does not compile"),
            details: rendered,
            help: Some("rustc says so of the file as it lies there; `millstream check` reads only what is annotated".into()),
        }
    }

    /// `cargo` or `rustc`.
    pub(super) fn no_tool(name: &str, error: &std::io::Error) -> Self {
        let variable = name.to_uppercase();
        let help = "millstream builds pipelines with Rust: install it with rustup, or set";
        BuildError {
            code: "E0902",
            title: format!("cannot run `{name}`: {error}"),
            details: Vec::new(),
            help: Some(format!("{help} {variable} to the path of `{name}`")),
        }
    }

    pub(super) fn no_runtime(path: &Path) -> Self {
        BuildError {
            code: "E0902",
            title: format!("the runtime of millstream is not at {}", path.display()),
            details: Vec::new(),
            help: Some("set MILLSTREAM_RUNTIME to the folder `runtime/millstream` of its source".into()),
        }
    }

    /// Cargo failed, and not because of generated code.
    pub(super) fn cargo(output: Vec<String>) -> Self {
        BuildError { code: "E0903", title: "cargo could not build the pipeline".into(), details: output, help: None }
    }

    pub(super) fn io(what: impl fmt::Display, path: impl Into<PathBuf>, error: &std::io::Error) -> Self {
        BuildError {
            code: "E0904",
            title: format!("cannot {what} {}: {error}", path.into().display()),
            details: Vec::new(),
            help: None,
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.code, self.title)?;
        for detail in &self.details {
            write!(f, "\n{}", detail.trim_end())?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  = help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for BuildError {}
