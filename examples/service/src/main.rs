//! Serves until it is interrupted; then everything that was sent is worked off.

use millstream::RunOptions;
use service::revenue::{Params, Running, start};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let Running { job, orders, totals } = start(Params::default(), RunOptions::new())?;
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let interrupted = async { drop(tokio::signal::ctrl_c().await) };
    axum::serve(listener, service::routes(orders, totals)).with_graceful_shutdown(interrupted).await?;
    tokio::task::spawn_blocking(|| job.wait()).await??;
    Ok(())
}
