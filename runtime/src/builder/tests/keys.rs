//! Keys in checkpoints.

use super::*;

/// Those of tables, too.
#[test]
fn the_key_of_a_table_has_a_name() {
    let pipeline = Pipeline::new("keys");
    let (_sender, orders) = pipeline.channel::<Order>("orders", 9);
    let sums = orders.key_by(|order| order.customer.clone());
    let sums = sums.aggregate(sum(|order: &Order| order.amount), |name: &String, sum| (name.clone(), sum));
    let _most = sums.key_by(|(_, sum)| *sum % 2).key_name("parity").top(1, |(_, sum)| *sum).rows().into_channel(9);
    let kept = pipeline.graph().follow_keys();
    let named: Vec<&str> = kept.iter().flat_map(|kept| &kept.keys).map(|key| key.text.as_str()).collect();
    assert_eq!(named, ["", "parity"], "{kept:?}");
}

/// One that goes by another name does not get the state of the other; of one without a name nobody can tell.
#[test]
fn state_that_was_kept_by_a_key_of_another_name_is_refused() -> JobResult<()> {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: Option<&str>, options: RunOptions| -> JobResult<Vec<(String, i64)>> {
        let pipeline = Pipeline::new("keys").checkpoints(&folder.path().to_string_lossy(), Duration::from_secs(3600));
        let (sender, orders) = pipeline.channel::<Order>("orders", 9);
        let keyed = orders.stream("sums").key_by(|order| order.customer.clone());
        let keyed = match name {
            Some(name) => keyed.key_name(name),
            None => keyed,
        };
        let sums = keyed.aggregate(sum(|order: &Order| order.amount), |name: &String, sum| (name.clone(), sum));
        let mut sums = sums.into_channel(9);
        let job = pipeline.start(options.parallelism(2))?;
        let mut rows = Vec::new();
        for row in [order("ann", 1, 1), order("bob", 10, 2)] {
            if sender.send_blocking(row).is_err() {
                break;
            }
            while let Some(change) = sums.recv_blocking() {
                if change.kind != crate::record::ChangeKind::UpdateBefore {
                    rows.push(change.row);
                    break;
                }
            }
        }
        match job.state() {
            crate::JobState::Failed => drop(job.wait()?),
            _ => drop(job.stop_with_checkpoint()?),
        }
        Ok(rows)
    };
    let rows = |ann: i64, bob: i64| vec![("ann".to_owned(), ann), ("bob".to_owned(), bob)];
    let new = RunOptions::new;
    assert_eq!(run(Some("customer"), new())?, rows(1, 10));
    assert_eq!(run(Some("customer"), new())?, rows(2, 20));
    let error = run(Some("account"), new()).unwrap_err();
    assert!(error.message().contains("`sums/aggregate/0`: its key was `customer`, and is `account` now"), "{error}");
    assert_eq!(run(Some("account"), new().keep_state("sums/aggregate/0"))?, rows(3, 30));
    assert_eq!(run(None, new())?, rows(4, 40));
    assert_eq!(run(Some("account"), new())?, rows(5, 50), "what has no name is not compared");
    assert_eq!(run(Some("other"), new().drop_state("sums/aggregate/0"))?, rows(1, 10));
    Ok(())
}
