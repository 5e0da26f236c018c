//! Where messages go and how they look.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::ValueEnum;
use millstream_compiler::diagnostics::render::Style;

/// `--color`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal that shows them, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

/// The two streams of this process: results go to standard output, messages to standard error.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    choice: ColorChoice,
}

impl Console {
    /// A console that colours as asked.
    pub fn new(choice: ColorChoice) -> Self {
        Console { choice }
    }

    /// How messages on standard error look.
    pub fn style(&self) -> Style {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let coloured = match self.choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => std::io::stderr().is_terminal() && !set("NO_COLOR") && !dumb,
        };
        if coloured { Style::Coloured } else { Style::Plain }
    }

    /// Writes a result. A reader that has gone away (`| head`) is no error.
    pub fn print(&self, text: impl Display) {
        let _ = write!(std::io::stdout().lock(), "{text}");
    }

    /// Writes a message.
    pub fn message(&self, text: impl Display) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// Writes `error: ..`, in the look of diagnostics.
    pub fn error(&self, text: impl Display) {
        match self.style() {
            Style::Coloured => self.message(format_args!("\x1b[1m\x1b[91merror\x1b[0m\x1b[1m: {text}\x1b[0m")),
            Style::Plain => self.message(format_args!("error: {text}")),
        }
    }

    /// Writes `error: ..` and gives the exit code of a failure.
    pub fn fail(&self, text: impl Display) -> ExitCode {
        self.error(text);
        ExitCode::from(1)
    }
}
