//! `millstream lsp`: the language server for editors, over standard input and output.

use std::process::ExitCode;

use crate::console::Console;
use crate::lsp;

const EXAMPLES: &str = "Editors start it: see docs/editor.md for Neovim, Helix and VS Code.
It speaks the Language Server Protocol; what it has to say besides goes to standard error.

Exit code: 0 after `shutdown` and `exit`, 1 when the editor has gone without them.";

/// Serve an editor: mistakes while you type, completion, docs, definitions
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Taken for editors that say it; there is no other way
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Nesting of expressions is recursion.
const STACK: usize = 256 << 20;

/// Serves until the editor says `exit`.
pub fn run(_: &Args, console: &Console) -> ExitCode {
    let server = std::thread::Builder::new().name("lsp".to_owned()).stack_size(STACK).spawn(lsp::stdio);
    let served = match server.map(|server| server.join()) {
        Ok(Ok(served)) => served,
        Ok(Err(_)) => Err("it has failed, which is a bug of millstream".to_owned()),
        Err(error) => Err(format!("no thread can be started: {error}")),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => console.fail(format_args!("the language server: {reason}")),
    }
}
