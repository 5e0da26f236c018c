//! The language server: between the Language Server Protocol and [`millstream_compiler::ide`], which knows nothing of it.
//!
//! One thread, one loop: messages are taken as they come, and a file is analysed anew when the last change that has arrived is in, or
//! when an answer needs it. Texts that are open go before those on the disk. A panic while something is looked at is caught: it
//! is logged, and the server goes on.

mod convert;
mod files;
mod panics;
mod publish;
mod requests;
mod server;
#[cfg(test)]
mod tests;

use lsp_server::Connection;
use millstream_compiler::ide::Analysis;

use server::Server;

/// Serves over standard input and output. Err: the editor has gone without saying so, or does not speak the protocol.
pub fn stdio() -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let served = Server::serve(connection, Analysis::of);
    // The writer has ended; the reader has where the editor said `exit`.
    if served.is_ok() {
        threads.join().map_err(|error| error.to_string())?;
    }
    served
}
