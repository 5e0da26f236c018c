//! Lines for people on standard error. Nobody reading them is no reason to fail.

use std::io::{IsTerminal, Write};

/// Writes a line, in the place of a status line where there is one.
pub(crate) fn notice(text: &str) {
    if crate::seam::said(text) {
        return;
    }
    let mut stderr = std::io::stderr().lock();
    let clear = if stderr.is_terminal() { "\r\x1b[K" } else { "" };
    let _ = writeln!(stderr, "{clear}{text}");
}
