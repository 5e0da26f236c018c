//! What single passes do, and what they must leave alone, on graphs made by hand.

mod reference;

use millstream_compiler::plan::analysis::columns::depth;
use millstream_compiler::plan::passes::*;
use millstream_compiler::plan::{dump, optimise};
use millstream_runtime::graph::{
    BinaryOp, CastMode, Changelog, ConnectorOption, Expr, ExprKind, Field, JobGraph, Keep, Literal, Operation, OptionValue,
    Origin, Schema, Ty, VertexId,
};
use reference::*;

fn sound(graph: &JobGraph) {
    let problems = verify(graph);
    assert!(problems.is_empty(), "{problems:#?}\n{}", dump::job(graph));
}

/// The conditions of all filters and the names of all other operators, in topological order.
fn shape(graph: &JobGraph) -> Vec<String> {
    sound(graph);
    let line = |id: VertexId| dump::operation::summary(&graph.vertex(id).operation);
    graph.topological().into_iter().map(line).filter(|line| !line.starts_with("from ") && !line.starts_with("into ")).collect()
}

fn numbers() -> Schema {
    schema(&[("a", Ty::Int64), ("b", Ty::Int64.optional()), ("c", Ty::Int64)])
}

fn greater(left: Expr, right: i128) -> Expr {
    binary(BinaryOp::Greater, left, int(right))
}

/// `100 / column > 1`, which fails where the column is 0.
fn fallible(column: Expr) -> Expr {
    greater(binary(BinaryOp::Divide, int(100), column), 1)
}

#[test]
fn a_filter_moves_below_a_projection_under_the_columns_names_there() {
    let mut b = Builder::new();
    let source = b.source(numbers());
    let project = b.project(source, vec![("x", b.column(source, "a")), ("y", b.column(source, "c"))]);
    let filter = b.filter(project, greater(b.column(project, "x"), 3));
    b.sink(filter);
    assert!(PushFilters.run(&mut b.graph));
    assert_eq!(shape(&b.graph), ["where a > 3", "select { x, y }"]);
}

#[test]
fn a_part_of_a_filter_moves_alone_if_nothing_can_fail() {
    let mut b = Builder::new();
    let source = b.source(numbers());
    let computed = Expr::new(ExprKind::Coalesce(Box::new(b.column(source, "b")), Box::new(int(0))), Ty::Int64);
    let project = b.project(source, vec![("x", b.column(source, "a")), ("y", computed)]);
    let condition = binary(BinaryOp::And, greater(b.column(project, "y"), 1), greater(b.column(project, "x"), 3));
    let filter = b.filter(project, condition);
    b.sink(filter);
    assert!(PushFilters.run(&mut b.graph));
    assert_eq!(shape(&b.graph), ["where a > 3", "select { x, y }", "where y > 1"]);
}

#[test]
fn a_part_of_a_filter_does_not_jump_over_what_can_fail() {
    let mut b = Builder::new();
    let source = b.source(numbers());
    let computed = Expr::new(ExprKind::Coalesce(Box::new(b.column(source, "b")), Box::new(int(0))), Ty::Int64);
    let project = b.project(source, vec![("x", b.column(source, "a")), ("y", computed)]);
    // `y > 1` guards the division, which must not come first.
    let condition = binary(BinaryOp::And, greater(b.column(project, "y"), 1), fallible(b.column(project, "x")));
    let filter = b.filter(project, condition);
    b.sink(filter);
    assert!(!PushFilters.run(&mut b.graph));
    sound(&b.graph);
}

#[test]
fn a_null_in_front_keeps_a_condition_whole() {
    let mut b = Builder::new();
    let source = b.source(numbers());
    let computed = Expr::new(ExprKind::Coalesce(Box::new(b.column(source, "b")), Box::new(int(0))), Ty::Int64);
    let project = b.project(source, vec![("b", b.column(source, "b")), ("y", computed)]);
    // Where b is null, `y` is still divided by, and may fail: a filter on b alone would drop that row before.
    let condition = binary(BinaryOp::And, greater(b.column(project, "b"), 1), fallible(b.column(project, "y")));
    let filter = b.filter(project, condition);
    b.sink(filter);
    assert!(!PushFilters.run(&mut b.graph));
    sound(&b.graph);
}

#[test]
fn a_guarded_part_stays_behind_its_guard() {
    let mut b = Builder::new();
    let source = b.source(numbers());
    let flag = is_null(b.column(source, "b"));
    let project = b.project(source, vec![("b", b.column(source, "b")), ("none", flag)]);
    let guarded = greater(cast(CastMode::NotNull, b.column(project, "b"), Ty::Int64), 1);
    let filter = b.filter(project, binary(BinaryOp::And, not(b.column(project, "none")), guarded));
    b.sink(filter);
    assert!(!PushFilters.run(&mut b.graph));
    sound(&b.graph);
}

#[test]
fn filters_stay_behind_projections_that_can_fail_and_behind_watermarks() {
    let mut b = Builder::new();
    let source = b.source(schema(&[("a", Ty::Int64), ("t", Ty::Timestamp)]));
    let sum = binary(BinaryOp::Add, b.column(source, "a"), int(1));
    let project = b.project(source, vec![("a", b.column(source, "a")), ("t", b.column(source, "t")), ("sum", sum)]);
    let watermark = b.watermark(project, "t", b.column(project, "t"));
    let filter = b.filter(watermark, greater(b.column(watermark, "a"), 3));
    b.sink(filter);
    assert!(!PushFilters.run(&mut b.graph));
}

#[test]
fn a_filter_moves_into_every_input_of_a_union() {
    let mut b = Builder::new();
    let (left, right) = (b.source(numbers()), b.source(numbers()));
    let union = b.union(&[left, right, right]);
    let filter = b.filter(union, fallible(b.column(union, "a")));
    b.sink(filter);
    assert!(PushFilters.run(&mut b.graph));
    assert_eq!(shape(&b.graph).iter().filter(|line| line.as_str() == "where 100 / a > 1").count(), 3);
    let union = b.graph.topological().into_iter().find(|id| matches!(b.graph.vertex(*id).operation, Operation::Union)).unwrap();
    assert_eq!(b.graph.inputs(union).len(), 3);
}

#[test]
fn a_filter_that_others_do_not_share_stays() {
    let mut b = Builder::new();
    let source = b.source(numbers());
    let project = b.project(source, vec![("x", b.column(source, "a"))]);
    let filter = b.filter(project, greater(b.column(project, "x"), 3));
    b.sink(filter);
    b.sink(project);
    assert!(!PushFilters.run(&mut b.graph));
}

#[test]
fn projections_merge_unless_work_is_repeated_or_a_failure_is_lost() {
    let merged = |twice: bool, value: fn(Expr) -> Expr, reader: fn(Expr) -> Expr| {
        let mut b = Builder::new();
        let source = b.source(numbers());
        let first = b.project(source, vec![("x", value(b.column(source, "b"))), ("c", b.column(source, "c"))]);
        let mut columns = vec![("y", reader(b.column(first, "x"))), ("c", b.column(first, "c"))];
        if twice {
            columns.push(("z", b.column(first, "x")));
        }
        let second = b.project(first, columns);
        b.sink(second);
        let changed = MergeProjects.run(&mut b.graph);
        sound(&b.graph);
        changed
    };
    let coalesce = |value: Expr| Expr::new(ExprKind::Coalesce(Box::new(value), Box::new(int(7))), Ty::Int64);
    let negated = |value: Expr| {
        Expr::new(ExprKind::Unary(millstream_runtime::graph::UnaryOp::Negate, Box::new(value)), Ty::Int64.optional())
    };
    let as_it_is = |value: Expr| value;
    let in_a_branch = |value: Expr| {
        let (ty, other) = (value.ty.clone(), value.clone());
        let otherwise = Expr::new(ExprKind::Literal(Literal::Null), Ty::Int64.optional());
        let otherwise = if ty.is_optional() { otherwise } else { int(0) };
        let condition =
            Expr::new(ExprKind::Binary(BinaryOp::Greater, Box::new(Expr::column("c", Ty::Int64)), Box::new(int(0))), Ty::Bool);
        Expr::new(ExprKind::If(Box::new(condition), Box::new(other), Box::new(otherwise)), ty)
    };
    assert!(merged(false, coalesce, as_it_is), "a value that is read once");
    assert!(!merged(true, coalesce, as_it_is), "a value that is read twice");
    assert!(merged(true, as_it_is, as_it_is), "a column that is read twice");
    assert!(merged(false, negated, as_it_is), "a failure where it always happens");
    assert!(!merged(false, negated, in_a_branch), "a failure that would happen only sometimes");
    assert!(merged(false, coalesce, in_a_branch), "a value in a branch");
}

/// The events of Nexmark, cut down.
fn event() -> Schema {
    let record =
        |name: &str, columns: &[(&str, Ty)]| Ty::Record(Schema { name: Some(name.to_owned()), ..schema(columns) }).optional();
    schema(&[
        ("event_type", Ty::Int32),
        ("person", record("Person", &[("id", Ty::Int64), ("name", Ty::String)])),
        (
            "bid",
            record("Bid", &[("auction", Ty::Int64), ("price", Ty::Int64), ("dateTime", Ty::Timestamp), ("extra", Ty::String)]),
        ),
    ])
}

#[test]
fn columns_inside_records_are_pruned_and_a_watermark_reaches_the_source() {
    let mut b = Builder::new();
    let source = b.source(event());
    let bid = b.column(source, "bid");
    let filter = b.filter(source, not(is_null(bid.clone())));
    let columns = vec![
        ("event_type", b.column(source, "event_type")),
        ("bid", cast(CastMode::NotNull, bid.clone(), bid.ty.required().clone())),
    ];
    let narrow = b.project(filter, columns);
    let of_bid = |name| field(b.column(narrow, "bid"), name);
    let columns = vec![
        ("auction", of_bid("auction")),
        ("price", of_bid("price")),
        ("dateTime", of_bid("dateTime")),
        ("extra", of_bid("extra")),
    ];
    let bids = b.project(narrow, columns);
    let delay = Expr::new(ExprKind::Literal(Literal::Duration(4_000_000)), Ty::Duration);
    let watermark = b.watermark(bids, "dateTime", binary(BinaryOp::Subtract, b.column(bids, "dateTime"), delay));
    let cheap = b.filter(watermark, greater(b.column(watermark, "price"), 10));
    let prices = b.project(cheap, vec![("price", b.column(cheap, "price"))]);
    b.sink(prices);
    let (graph, _) = optimise(b.graph);
    assert_eq!(shape(&graph), ["where bid is not null and bid?.price! > 10", "select { price }"]);
    let source = graph.vertex(graph.topological()[0]);
    assert_eq!(dump::types::schema(&source.output.schema), "{ bid: Bid { price: int64, dateTime: timestamp }? }");
    let Operation::Source(operation) = &source.operation else { panic!("{source:?}") };
    let watermark = &operation.watermark.as_ref().unwrap().watermark;
    assert_eq!(watermark.to_string(), "if bid is not null then bid?.dateTime! - 4s else null");
}

#[test]
fn two_watermarks_over_one_source_stay_where_they_are() {
    let mut b = Builder::new();
    let source = b.source(schema(&[("a", Ty::Int64), ("t", Ty::Timestamp)]));
    for limit in [1, 2] {
        let filter = b.filter(source, greater(b.column(source, "a"), limit));
        let watermark = b.watermark(filter, "t", b.column(filter, "t"));
        b.sink(watermark);
    }
    assert!(!PushWatermarks.run(&mut b.graph));
}

#[test]
fn the_inputs_of_a_union_keep_equal_columns() {
    let mut b = Builder::new();
    let (left, right) = (b.source(event()), b.source(event()));
    let union = b.union(&[left, right]);
    let types = b.project(union, vec![("type", b.column(union, "event_type"))]);
    b.sink(types);
    // Somebody else reads more of one of them.
    let more = b.project(left, vec![("price", field(b.column(left, "bid"), "price")), ("person", b.column(left, "person"))]);
    b.sink(more);
    assert!(PruneColumns.run(&mut b.graph));
    sound(&b.graph);
    assert!(b.rows(right).field("event_type").is_some());
    assert!(dump::types::schema(&b.rows(right)).contains("bid: Bid { price: int64 }?"), "{}", b.rows(right));
    assert_eq!(b.rows(left).fields, b.rows(right).fields);
}

#[test]
fn aggregate_calls_that_nobody_reads_go_and_keys_stay() {
    let mut b = Builder::new();
    let source = b.source(numbers());
    let calls = vec![
        call("count", vec![], Ty::Int64),
        call("sum", vec![b.column(source, "c")], Ty::Int64),
        call("max", vec![b.column(source, "b")], Ty::Int64.optional()),
    ];
    let value = |index, ty| Expr::new(ExprKind::Aggregate(index), ty);
    let output = vec![
        ("k", Expr::new(ExprKind::Key(0), Ty::Int64)),
        ("n", value(0, Ty::Int64)),
        ("sum", value(1, Ty::Int64)),
        ("best", value(2, Ty::Int64.optional())),
    ];
    let table = b.aggregate(source, vec![("k", b.column(source, "a"))], None, calls, output);
    let result = b.final_(table);
    let best = b.project(result, vec![("best", b.column(result, "best"))]);
    b.sink(best);
    assert!(PruneColumns.run(&mut b.graph));
    sound(&b.graph);
    let Operation::Aggregate(aggregate) = &b.graph.vertex(table).operation else { panic!() };
    assert_eq!(aggregate.calls.iter().map(|call| call.function).collect::<Vec<_>>(), ["max"]);
    assert_eq!(
        aggregate.output.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>(),
        ["k: key[0]", "best: call[0]"]
    );
    assert_eq!(b.rows(source).fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_csv_file_without_header_keeps_the_names_of_all_its_columns() {
    let mut b = Builder::new();
    let source = b.source(numbers());
    if let Operation::Source(operation) = &mut b.graph.vertex_mut(source).operation {
        operation.format = Some("csv".to_owned());
        let value = OptionValue::Value(boolean(false));
        operation.format_options.push(ConnectorOption { name: "header".to_owned(), value, origin: Origin::default() });
    }
    let project = b.project(source, vec![("c", b.column(source, "c"))]);
    b.sink(project);
    assert!(PruneColumns.run(&mut b.graph));
    let Operation::Source(operation) = &b.graph.vertex(source).operation else { panic!() };
    assert_eq!(operation.format_options[1].value, OptionValue::Columns(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]));
}

#[test]
fn final_goes_into_dedup_past_what_cannot_fail_only() {
    for (fails, expected) in [(false, true), (true, false)] {
        let mut b = Builder::new();
        let source = b.source(numbers());
        let dedup = b.dedup(source, vec![b.column(source, "a")], None, Keep::Last);
        let condition = if fails { fallible(b.column(dedup, "c")) } else { greater(b.column(dedup, "c"), 1) };
        let filter = b.filter(dedup, condition);
        let result = b.final_(filter);
        b.sink(result);
        assert_eq!(FuseFinal.run(&mut b.graph), expected);
        sound(&b.graph);
        if expected {
            assert_eq!(b.graph.vertex(filter).output.changelog, Changelog::Append);
        }
    }
}

#[test]
fn constants_are_folded_where_they_do_not_fail() {
    let decimal =
        |unscaled, precision, scale| Expr::new(ExprKind::Literal(Literal::Decimal(unscaled)), Ty::Decimal { precision, scale });
    let decimals = |op, left: Expr, right: Expr, precision, scale| {
        Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), Ty::Decimal { precision, scale })
    };
    let cases = [
        (binary(BinaryOp::Add, int(1), int(2)), "3"),
        (binary(BinaryOp::Divide, int(-7), int(2)), "-3"),
        (binary(BinaryOp::Add, int(i64::MAX.into()), int(1)), "9223372036854775807 + 1"),
        (binary(BinaryOp::Divide, int(1), int(0)), "1 / 0"),
        (binary(BinaryOp::Remainder, int(i64::MIN.into()), int(-1)), "-9223372036854775808 % -1"),
        (binary(BinaryOp::Add, null(Ty::Int64), int(1)), "null"),
        (binary(BinaryOp::And, null(Ty::Bool), boolean(false)), "false"),
        (binary(BinaryOp::Or, null(Ty::Bool), boolean(true)), "true"),
        (binary(BinaryOp::And, null(Ty::Bool), boolean(true)), "null"),
        (binary(BinaryOp::And, fallible(int(0)), boolean(false)), "100 / 0 > 1 and false"),
        (binary(BinaryOp::And, boolean(false), fallible(int(0))), "false"),
        (binary(BinaryOp::Less, string("a"), string("b")), "true"),
        (is_null(int(1)), "false"),
        (not(boolean(true)), "false"),
        (decimals(BinaryOp::Multiply, decimal(908, 3, 3), decimal(150, 3, 2), 6, 5), "1.36200d"),
        (decimals(BinaryOp::Add, decimal(1, 2, 1), decimal(-25, 3, 2), 4, 2), "-0.15d"),
        (decimals(BinaryOp::Add, decimal(9, 1, 0), decimal(9, 1, 0), 1, 0), "9d + 9d"),
        (decimals(BinaryOp::Divide, decimal(1, 1, 0), decimal(3, 1, 0), 7, 6), "1d / 3d"),
        (cast(CastMode::Implicit, int(5), Ty::Decimal { precision: 19, scale: 0 }), "5d"),
        (cast(CastMode::Checked, int(300), Ty::Int8), "cast(300, int8)"),
        (cast(CastMode::Checked, int(30), Ty::Int8), "30"),
    ];
    for (expr, expected) in cases {
        let mut b = Builder::new();
        let source = b.source(numbers());
        let text = expr.to_string();
        let project = b.project(source, vec![("x", expr)]);
        b.sink(project);
        FoldConstants.run(&mut b.graph);
        sound(&b.graph);
        let Operation::Project(columns) = &b.graph.vertex(project).operation else { panic!() };
        assert_eq!(columns[0].1.to_string(), expected, "{text}");
    }
}

/// Hundreds of operators neither take long nor make expressions that are too deep to work with.
#[test]
fn long_pipelines_are_no_danger() {
    let mut b = Builder::new();
    let mut last = b.source(numbers());
    let columns = |b: &Builder, last| vec![("a", b.column(last, "a")), ("b", b.column(last, "b"))];
    for _ in 0..300 {
        let sum = binary(BinaryOp::Add, b.column(last, "c"), int(1));
        last = b.project(last, [columns(&b, last), vec![("c", sum)]].concat());
    }
    for step in 0..300 {
        let other = Expr::new(ExprKind::Coalesce(Box::new(b.column(last, "b")), Box::new(int(step))), Ty::Int64);
        last = b.project(last, [columns(&b, last), vec![("c", b.column(last, "c")), ("d", other)]].concat());
        last = b.filter(last, greater(b.column(last, "a"), step));
    }
    b.sink(last);
    let (graph, _) = optimise(b.graph);
    let mut deepest = 0;
    for id in graph.topological() {
        if let Operation::Project(columns) = &graph.vertex(id).operation {
            deepest = columns.iter().map(|(_, value)| depth(value)).max().unwrap_or(0).max(deepest);
        }
    }
    assert!((100..=200).contains(&deepest), "{deepest}");
    assert!(graph.vertices().count() < 20, "{}", graph.vertices().count());
}

#[test]
fn verify_sees_what_is_wrong() {
    let mut b = Builder::new();
    let source = b.source(numbers());
    let filter = b.filter(source, greater(Expr::column("nowhere", Ty::Int64), 1));
    b.sink(filter);
    assert!(verify(&b.graph)[0].contains("`nowhere` is no column"), "{:?}", verify(&b.graph));
    let mut b = Builder::new();
    let source = b.source(numbers());
    let project = b.project(source, vec![("x", b.column(source, "a"))]);
    b.sink(project);
    b.graph.vertex_mut(source).output.schema.fields[0] = Field::new("a", Ty::String);
    assert_eq!(verify(&b.graph).len(), 1, "{:?}", verify(&b.graph));
}
