//! Rows with those of external tables.

use super::*;
use crate::formats::CsvFormat;
use crate::lookup::{Answer, KeyedTable};
use crate::value::Str;

#[derive(Clone, Debug, Record, State)]
struct Region {
    customer: String,
    region: String,
}

fn found<const N: usize>(rows: [(i64, &str); N]) -> Vec<(i64, String)> {
    rows.map(|(amount, region)| (amount, region.to_owned())).to_vec()
}

#[test]
fn a_file_that_is_read_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("regions.csv").to_string_lossy().into_owned();
    std::fs::write(&path, "customer,region\nann,north\neve,south\nann,west\n").unwrap();
    let run = |build: fn(Stream<Order>, &Pipeline, &str) -> Receiver<(i64, String)>| {
        let pipeline = Pipeline::new("regions").parallelism(2);
        let (sender, orders_in) = pipeline.channel::<Order>("orders", 4);
        let receiver = build(orders_in.shared(), &pipeline, &path);
        let job = pipeline.start(RunOptions::new()).unwrap();
        feed(sender, orders());
        sorted(job, receiver)
    };
    macro_rules! looked_up {
        ($orders:ident, $pipeline:ident, $path:ident) => {{
            let regions = $pipeline.lookup_files::<Region, CsvFormat>("regions", $path).cache(60 * SECOND);
            let regions = regions.key_by(|region| region.customer.clone());
            $orders.filter(|order| order.amount >= 250).lookup(regions, |order| order.customer.clone())
        }};
    }
    let inner = run(|orders, pipeline, path| {
        looked_up!(orders, pipeline, path).inner(|order, region| (order.amount, region.region.clone())).into_channel(9)
    });
    assert_eq!(inner, found([(250, "north"), (250, "west"), (300, "north"), (300, "west"), (999, "south")]));
    let semi = run(|orders, pipeline, path| {
        looked_up!(orders, pipeline, path).semi().map(|order| (order.amount, String::new())).into_channel(9)
    });
    assert_eq!(semi, found([(250, ""), (300, ""), (999, "")]));
    // A table of which nothing is found.
    std::fs::write(&path, "customer,region\neve,south\n").unwrap();
    let left = run(|orders, pipeline, path| {
        let make =
            |order: &Order, region: Option<&Region>| (order.amount, region.map_or("-", |region| &region.region).to_owned());
        looked_up!(orders, pipeline, path).left(make).into_channel(9)
    });
    assert_eq!(left, found([(250, "-"), (300, "-"), (999, "south")]));
    let anti = run(|orders, pipeline, path| {
        looked_up!(orders, pipeline, path).anti().map(|order| (order.amount, String::new())).into_channel(9)
    });
    assert_eq!(anti, found([(250, ""), (300, "")]));
}

/// Knows customers of names that begin with a vowel.
#[derive(Clone, Debug)]
struct Vowels;

impl KeyedTable for Vowels {
    type Row = (String, i64);

    fn ask(&self, key: &[Str]) -> Answer<(String, i64)> {
        let [name, amount] = key else { return Answer::Failed(crate::JobError::new("not two texts")) };
        let is_known = name.starts_with(['a', 'e', 'i', 'o', 'u']);
        Answer::Rows(is_known.then(|| (name.to_string(), amount.len() as i64)).into_iter().collect())
    }

    fn in_flight(&self) -> usize {
        2
    }

    fn retries(&self) -> u32 {
        0
    }
}

#[test]
fn a_table_that_is_asked_key_by_key() {
    let pipeline = Pipeline::new("asked");
    let (sender, orders_in) = pipeline.channel::<Order>("orders", 4);
    let vowels = pipeline.lookup_by_key("vowels", || Ok(Vowels)).cache(60 * SECOND).cache_limit(100);
    let asked = orders_in.lookup(vowels.unordered(), |order| (order.customer.clone(), order.amount));
    let rows = asked.left(|order, known| (order.amount, known.map(|(_, digits)| *digits))).into_channel(9);
    let graph = format!("{:?}", pipeline.graph());
    assert!(graph.contains("connector: \"Vowels\"") && graph.contains("ordered: false"), "{graph}");
    let job = pipeline.start(RunOptions::new()).unwrap();
    feed(sender, orders());
    assert_eq!(sorted(job, rows), [(50, Some(2)), (100, None), (250, Some(3)), (300, Some(3)), (999, Some(3))]);
}

#[test]
fn a_table_that_is_not_there_stops_the_job_with_its_name() {
    let pipeline = Pipeline::new("nothing").restart(crate::job::Restart::None);
    let (_sender, orders_in) = pipeline.channel::<Order>("orders", 4);
    let regions = pipeline.lookup_files::<Region, CsvFormat>("regions", "there/is/no/such.csv");
    let rows = orders_in.lookup(regions.key_by(|region| region.customer.clone()), |order| order.customer.clone()).semi();
    let _receiver = rows.into_channel(1);
    let error = pipeline.run(RunOptions::new()).unwrap_err().to_string();
    assert!(error.contains("lookup regions") && error.contains("such.csv"), "{error}");
}
