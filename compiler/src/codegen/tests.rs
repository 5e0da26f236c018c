//! Emission of graphs made by hand: what the front end does not produce easily.

use std::path::Path;

use millstream_runtime::graph::*;

use super::{EmitOptions, GeneratedCrate, emit};

fn origin(line: u32, text: &str) -> Origin {
    Origin { file: "t.flow".into(), line, column: 5, text: text.into() }
}

fn stream(fields: Vec<Field>) -> StreamType {
    StreamType { schema: Schema::anonymous(fields), changelog: Changelog::Append, time: None }
}

/// A source of these columns, one operator, a sink.
fn pipeline(name: &str, columns: Vec<Field>, operation: Operation, output: Vec<Field>) -> JobGraph {
    let mut job = JobGraph::new(JobSettings::new(name), Vec::new(), Vec::new());
    let mut add = |uid: &str, operation, output, line| {
        job.add(JobVertex {
            uid: uid.into(),
            name: uid.into(),
            operation,
            output,
            hints: Hints::default(),
            origin: origin(line, uid),
        })
    };
    let source = SourceOperation { format: Some("json".into()), ..SourceOperation::new("file", Vec::new()) };
    let sink = SinkOperation {
        connector: "file".into(),
        key: Vec::new(),
        options: Vec::new(),
        format: Some("json".into()),
        format_options: Vec::new(),
    };
    let source = add("rows/source/0", Operation::Source(source), stream(columns), 1);
    let middle = add("rows/step/0", operation, stream(output.clone()), 2);
    let sink = add("sink/rows/file", Operation::Sink(sink), stream(output), 3);
    let edge = || JobEdge { exchange: Exchange::Forward, port: Port::Main, input: 0 };
    job.connect(source, middle, edge());
    job.connect(middle, sink, edge());
    job
}

fn generate(job: &JobGraph) -> GeneratedCrate {
    let execution = ExecutionGraph::expand(job).expect("a layout");
    emit(job, &execution, &EmitOptions { source: "t.flow".into(), folder: Default::default(), version: "0.0.0".into() })
}

fn all(generated: &GeneratedCrate) -> String {
    generated.files.iter().map(|(path, text)| format!("==> {}\n{text}", path.display())).collect()
}

fn file<'a>(generated: &'a GeneratedCrate, path: &str) -> &'a str {
    generated.files.get(Path::new(path)).unwrap_or_else(|| panic!("no {path} in\n{}", all(generated)))
}

fn column(name: &str, ty: Ty) -> Expr {
    Expr { origin: origin(7, name), ..Expr::column(name, ty) }
}

fn int(value: i128) -> Expr {
    Expr::new(ExprKind::Literal(Literal::Int(value)), Ty::Int64)
}

fn binary(op: BinaryOp, left: Expr, right: Expr, ty: Ty) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, origin: origin(7, "a + b") }
}

#[test]
fn odd_names_stay_reachable_and_distinct() {
    let names = ["order", "type", "a-b", "a.b", "", "数量", "é", "e\u{301}", "1x", "select ", "row", "params", "types"];
    let fields: Vec<Field> = names.iter().map(|name| Field::new(*name, Ty::Int64)).collect();
    let columns = fields.iter().map(|field| (field.name.clone(), Expr::column(&field.name, Ty::Int64))).collect();
    let job = pipeline("self", fields.clone(), Operation::Project(columns), fields);
    let generated = generate(&job);
    let types = file(&generated, "src/types.rs");
    for name in ["type_", "a_b", "a_b_2", "u6570_u91cf", "ue9", "e_u301", "n1x", "select"] {
        assert!(types.contains(&format!("pub {name}: i64")), "{name}:\n{types}");
    }
    assert!(types.contains(r#"#[flow(name = "select ")]"#) && types.contains(r#"#[flow(name = "")]"#), "{types}");
    assert_eq!(generated.package, "self");
}

#[test]
fn text_cannot_become_code() {
    let evil = "\"); std::process::exit(1); //\n\u{202e}*/ {}";
    let condition = binary(
        BinaryOp::Equal,
        column("a", Ty::String),
        Expr::new(ExprKind::Literal(Literal::String(evil.into())), Ty::String),
        Ty::Bool,
    );
    let condition = Expr { origin: origin(1, evil), ..condition };
    let fields = vec![Field::new("a", Ty::String)];
    let mut job = pipeline("t", fields.clone(), Operation::Filter(condition), fields);
    job.settings.doc = Some(evil.into());
    let generated = generate(&job);
    for (path, text) in &generated.files {
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}\n{text}", path.display()));
        assert!(!text.contains('\u{202e}'), "{text}");
        assert!(!parsed.items.is_empty());
    }
}

#[test]
fn long_chains_stay_flat() {
    let sum = (0..5_000).fold(column("a", Ty::Int64), |sum, n| binary(BinaryOp::Add, sum, int(n), Ty::Int64));
    let fields = vec![Field::new("a", Ty::Int64)];
    let job = pipeline("t", fields.clone(), Operation::Project(vec![("a".into(), sum)]), fields);
    let generated = generate(&job);
    let chain = file(&generated, "src/chain_rows_source_0.rs");
    assert!(chain.lines().count() > 200, "{}", chain.len());
    // Dropping a tree as deep as this needs more stack than a test has: the parser never makes one.
    std::mem::forget(job);
}

#[test]
fn null_is_lifted_and_conditions_are_lazy() {
    let a = || column("a", Ty::Int64.optional());
    let b = || column("b", Ty::Int64);
    let sum = binary(BinaryOp::Add, a(), b(), Ty::Int64.optional());
    let condition = binary(
        BinaryOp::And,
        binary(BinaryOp::Greater, sum, int(3), Ty::Bool.optional()),
        binary(BinaryOp::NotEqual, b(), int(0), Ty::Bool),
        Ty::Bool.optional(),
    );
    let fields = vec![Field::new("a", Ty::Int64.optional()), Field::new("b", Ty::Int64)];
    let generated = generate(&pipeline("t", fields.clone(), Operation::Filter(condition), fields));
    let chain = file(&generated, "src/chain_rows_source_0.rs");
    println!("{}", all(&generated));
    assert!(chain.contains("== Some(true) && row.b != 0i64"), "{chain}");
    assert!(chain.contains("Some(v1) => Some(arith::add(v1, row.b)"), "{chain}");
}
