//! Rows that wait for the answers of an async function: a checkpoint comes behind those before it, so that none is lost or there twice.

use std::path::Path;
use std::sync::Arc;

use millstream::codegen::*;
use millstream::operators::{CallAsync, Filter, in_time};
use millstream::{BuildChain, Job};

use super::job::{Bid, Setup, job, read_bids, run_job};

/// Says whether a bid is a large one, after a while.
async fn is_large(row: Bid, poison: Arc<str>) -> (Bid, Result<bool, EvalError>) {
    let answer = in_time(60_000_000, async {
        assert!(&*row.auction != "poison" || !Path::new(&*poison).exists(), "poisoned");
        millstream::waiting::sleep(Duration(row.price % 3 * 1000)).await;
        Ok(row.price >= 100)
    });
    let answer = answer.await;
    (row, answer)
}

fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let poison: Arc<str> = cx.params().get::<String>("poison")?.into();
    let out = cx.hash(0, |row: &Bid| Ok(row.auction.clone()))?;
    let large = cx.operator("counts/where/0", "counts: where", Filter::new(|row: &Bid| Ok(row.price > 0)), out)?;
    let ask = move |row| is_large(row, poison.clone());
    let join = |row: Bid, large: bool| Bid { price: if large { row.price } else { 0 }, ..row };
    let asked = cx.operator("counts/async/0", "counts: async", CallAsync::new("is_large", true, 50, ask, join), large)?;
    read_bids(cx, asked)
}

#[test]
fn what_waits_is_neither_lost_nor_repeated() {
    let setup = Setup::new(20_000, 4);
    let poison = setup.path("poison");
    std::fs::write(&poison, "").unwrap();
    std::fs::write(setup.path("bids-9.jsonl"), "{\"auction\":\"poison\",\"price\":1,\"time\":\"1970-01-01T00:10:00Z\"}\n")
        .unwrap();
    let checkpoints = setup.path("checkpoints");
    let args = setup.args(&["--checkpoint-dir", &checkpoints, "--checkpoint-interval", "5ms", "--poison", &poison]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let asking = || {
        let mut job = job();
        job.chains[0].uids = &["bids/source/0", "counts/async/0", "counts/where/0"];
        job.chains[0].build = BuildChain::new(build);
        Job { fingerprint: 2, ..job }
    };
    assert_eq!(run_job(asking(), &args), 1, "it gives up after three restarts");
    std::fs::remove_file(&poison).unwrap();
    assert_eq!(run_job(asking(), &args), 0, "the next start goes on from the last checkpoint");
    setup.check();
}
