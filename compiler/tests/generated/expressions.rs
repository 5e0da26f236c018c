//! Every kind of expression over every kind of operand, as functions of the language made by hand.

use std::collections::BTreeMap;
use std::path::PathBuf;

use millstream_compiler::codegen::{EmitOptions, emit};
use millstream_runtime::graph::*;

fn origin() -> Origin {
    Origin { file: "t.flow".into(), line: 3, column: 9, text: "a + b".into() }
}

fn expr(kind: ExprKind, ty: Ty) -> Expr {
    Expr { kind, ty, origin: origin() }
}

fn local(name: &str, ty: Ty) -> Expr {
    expr(ExprKind::Local(name.into()), ty)
}

fn binary(op: BinaryOp, left: Expr, right: Expr, ty: Ty) -> Expr {
    expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty)
}

fn unary(op: UnaryOp, operand: Expr) -> Expr {
    let ty = operand.ty.clone();
    expr(ExprKind::Unary(op, Box::new(operand)), ty)
}

fn literal(value: Literal, ty: Ty) -> Expr {
    expr(ExprKind::Literal(value), ty)
}

fn text(value: &str) -> Expr {
    literal(Literal::String(value.into()), Ty::String)
}

fn int(value: i128) -> Expr {
    literal(Literal::Int(value), Ty::Int64)
}

fn null(ty: Ty) -> Expr {
    literal(Literal::Null, ty.optional())
}

fn if_else(condition: Expr, then: Expr, otherwise: Expr, ty: Ty) -> Expr {
    expr(ExprKind::If(Box::new(condition), Box::new(then), Box::new(otherwise)), ty)
}

fn decimal(precision: u8, scale: u8) -> Ty {
    Ty::Decimal { precision, scale }
}

fn point() -> Ty {
    Ty::Record(Schema {
        name: Some("Point".into()),
        fields: vec![
            Field::new("x", Ty::Int64),
            Field::new("name", Ty::String),
            Field::new("tag", Ty::String.optional()),
            Field::new("at", Ty::Timestamp.optional()),
        ],
    })
}

/// Operands of every type: `a` and `b`, each required or not.
fn types() -> Vec<Ty> {
    vec![
        Ty::Bool,
        Ty::Int8,
        Ty::UInt64,
        Ty::Int64,
        Ty::Float32,
        Ty::Float64,
        decimal(10, 2),
        Ty::String,
        Ty::Bytes,
        Ty::Date,
        Ty::Time,
        Ty::Timestamp,
        Ty::Duration,
        Ty::Uuid,
        Ty::Json,
        Ty::List(Box::new(Ty::Int64)),
        Ty::List(Box::new(Ty::String.optional())),
        Ty::Map(Box::new(Ty::String), Box::new(Ty::Float64)),
        point(),
    ]
}

/// Collects functions, numbered.
#[derive(Default)]
struct Cases {
    list: Vec<Function>,
}

impl Cases {
    fn add(&mut self, params: &[(&str, Ty)], body: Expr) {
        let name = format!("case_{}", self.list.len());
        let params = params.iter().map(|(name, ty)| (name.to_string(), ty.clone())).collect();
        self.list.push(Function { name, params, body, doc: None, waits: None, origin: origin() });
    }

    /// A body over `a` and `b` of one type, with each of them optional and not.
    fn with_nulls(&mut self, ty: &Ty, result: &Ty, body: impl Fn(Expr, Expr, Ty) -> Expr) {
        for (a, b) in [(false, false), (true, false), (false, true), (true, true)] {
            let of = |optional: bool| if optional { ty.clone().optional() } else { ty.clone() };
            let result = if a || b { result.clone().optional() } else { result.clone() };
            self.add(&[("a", of(a)), ("b", of(b))], body(local("a", of(a)), local("b", of(b)), result));
        }
    }
}

fn comparisons(cases: &mut Cases) {
    for ty in types() {
        cases.with_nulls(&ty, &Ty::Bool, |a, b, ty| binary(BinaryOp::Equal, a, b, ty));
        if ty.is_ordered() && !matches!(ty, Ty::Record(_)) {
            cases.with_nulls(&ty, &Ty::Bool, |a, b, ty| binary(BinaryOp::Less, a, b, ty));
        }
        cases.add(&[("a", ty.clone().optional())], expr(ExprKind::IsNull(Box::new(local("a", ty.clone().optional()))), Ty::Bool));
        cases.add(&[("a", ty.clone())], expr(ExprKind::IsNull(Box::new(local("a", ty.clone()))), Ty::Bool));
        if !matches!(ty, Ty::Record(_) | Ty::Map(..) | Ty::List(_)) {
            let list = |item: Ty| vec![local("b", item.clone()), local("b", item)];
            cases.with_nulls(&ty, &Ty::Bool, |a, b, result| expr(ExprKind::In(Box::new(a), list(b.ty.clone())), result));
        }
    }
    let items = vec![text("a"), text("b"), text("a")];
    cases.add(&[("a", Ty::String)], expr(ExprKind::In(Box::new(local("a", Ty::String)), items), Ty::Bool));
    let items = vec![int(1), null(Ty::Null), int(-2)];
    cases.add(&[("a", Ty::Int64)], expr(ExprKind::In(Box::new(local("a", Ty::Int64)), items), Ty::Bool.optional()));
}

fn arithmetic(cases: &mut Cases) {
    let all = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Remainder];
    for ty in [Ty::Int8, Ty::UInt64, Ty::Int64, Ty::Float32, Ty::Float64, decimal(10, 2)] {
        for op in all {
            cases.with_nulls(&ty, &ty, |a, b, ty| binary(op, a, b, ty));
        }
    }
    for ty in [Ty::Int8, Ty::Int64, Ty::Float64, decimal(10, 2), Ty::Duration] {
        cases.add(&[("a", ty.clone())], unary(UnaryOp::Negate, local("a", ty.clone())));
        cases.add(&[("a", ty.clone().optional())], unary(UnaryOp::Negate, local("a", ty.optional())));
    }
    let two = [("a", decimal(24, 3)), ("b", decimal(5, 1))];
    cases.add(&two, binary(BinaryOp::Multiply, local("a", decimal(24, 3)), local("b", decimal(5, 1)), decimal(29, 4)));
    let times: [(Ty, BinaryOp, Ty, Ty); 7] = [
        (Ty::Timestamp, BinaryOp::Add, Ty::Duration, Ty::Timestamp),
        (Ty::Timestamp, BinaryOp::Subtract, Ty::Duration, Ty::Timestamp),
        (Ty::Timestamp, BinaryOp::Subtract, Ty::Timestamp, Ty::Duration),
        (Ty::Date, BinaryOp::Add, Ty::Duration, Ty::Timestamp),
        (Ty::Duration, BinaryOp::Multiply, Ty::Int64, Ty::Duration),
        (Ty::Duration, BinaryOp::Divide, Ty::Int64, Ty::Duration),
        (Ty::String, BinaryOp::Add, Ty::String, Ty::String),
    ];
    for (a, op, b, result) in times {
        cases
            .add(&[("a", a.clone()), ("b", b.clone())], binary(op, local("a", a.clone()), local("b", b.clone()), result.clone()));
        let optional = a.clone().optional();
        cases.add(
            &[("a", optional.clone()), ("b", b.clone())],
            binary(op, local("a", optional), local("b", b), result.optional()),
        );
    }
    let nested = binary(
        BinaryOp::Multiply,
        binary(BinaryOp::Add, local("a", Ty::Float64), local("b", Ty::Float64), Ty::Float64),
        binary(BinaryOp::Subtract, local("a", Ty::Float64), unary(UnaryOp::Negate, local("b", Ty::Float64)), Ty::Float64),
        Ty::Float64,
    );
    cases.add(&[("a", Ty::Float64), ("b", Ty::Float64)], nested);
}

fn logic(cases: &mut Cases) {
    for op in [BinaryOp::And, BinaryOp::Or] {
        cases.with_nulls(&Ty::Bool, &Ty::Bool, |a, b, ty| binary(op, a, b, ty));
        cases.with_nulls(&Ty::Bool, &Ty::Bool, |a, b, ty| {
            let inner = binary(op, a.clone(), b.clone(), ty.clone());
            binary(op, unary(UnaryOp::Not, inner), binary(BinaryOp::Or, b, a, ty.clone()), ty)
        });
    }
    // In a condition, where null is as good as false.
    cases.with_nulls(&Ty::Bool, &Ty::Int64, |a, b, _| {
        let ty = if a.ty.is_optional() || b.ty.is_optional() { Ty::Bool.optional() } else { Ty::Bool };
        let condition = binary(BinaryOp::And, unary(UnaryOp::Not, a.clone()), binary(BinaryOp::Or, a, b, ty.clone()), ty);
        if_else(condition, int(1), int(2), Ty::Int64)
    });
}

fn branches(cases: &mut Cases) {
    for ty in types() {
        let c = || local("c", Ty::Bool.optional());
        let params = |a: Ty, b: Ty| vec![("a", a), ("b", b), ("c", Ty::Bool.optional())];
        let optional = ty.clone().optional();
        cases.add(&params(ty.clone(), ty.clone()), if_else(c(), local("a", ty.clone()), local("b", ty.clone()), ty.clone()));
        let inner = if_else(c(), null(ty.clone()), local("b", optional.clone()), optional.clone());
        let chain = if_else(c(), local("a", ty.clone()), inner, optional.clone());
        cases.add(&params(ty.clone(), optional.clone()), chain);
        let both = |b: Ty| expr(ExprKind::Coalesce(Box::new(local("a", optional.clone())), Box::new(local("b", b.clone()))), b);
        cases.add(&[("a", optional.clone()), ("b", ty.clone())], both(ty.clone()));
        cases.add(&[("a", optional.clone()), ("b", optional.clone())], both(optional.clone()));
        let (subject, arms) = (
            local("k", Ty::String.optional()),
            vec![
                (vec![text("x"), text("y")], local("a", ty.clone())),
                (vec![null(Ty::Null)], local("b", ty.clone())),
                (vec![text("x")], local("b", ty.clone())),
            ],
        );
        let matched = ExprKind::Match { subject: Box::new(subject), arms, otherwise: Box::new(local("a", ty.clone())) };
        cases.add(&[("k", Ty::String.optional()), ("a", ty.clone()), ("b", ty.clone())], expr(matched, ty));
    }
    let arms =
        vec![(vec![literal(Literal::Bool(true), Ty::Bool)], int(1)), (vec![literal(Literal::Bool(false), Ty::Bool)], int(-1))];
    let matched = ExprKind::Match { subject: Box::new(local("a", Ty::Bool)), arms, otherwise: Box::new(int(0)) };
    cases.add(&[("a", Ty::Bool)], expr(matched, Ty::Int64));
    for ty in [Ty::Float64.optional(), Ty::Float64] {
        let arms = vec![
            (vec![literal(Literal::Float(1.5), Ty::Float64), literal(Literal::Float(-2.0), Ty::Float64)], text("a")),
            (vec![null(Ty::Null)], text("b")),
        ];
        let subject = Box::new(local("a", ty.clone()));
        cases.add(&[("a", ty)], expr(ExprKind::Match { subject, arms, otherwise: Box::new(text("c")) }, Ty::String));
    }
}

fn access(cases: &mut Cases) {
    let field = |base: Expr, name: &str, ty: Ty| expr(ExprKind::Field(Box::new(base), name.into()), ty);
    for (name, ty) in [("x", Ty::Int64), ("name", Ty::String), ("tag", Ty::String.optional()), ("at", Ty::Timestamp.optional())] {
        cases.add(&[("a", point())], field(local("a", point()), name, ty.clone()));
        let optional = field(local("a", point().optional()), name, ty.clone().optional());
        cases.add(&[("a", point().optional())], optional.clone());
        if !ty.is_optional() {
            cases.add(&[("a", point().optional())], expr(ExprKind::Cast(CastMode::NotNull, Box::new(optional)), ty.clone()));
        }
        let made = || {
            let fields = vec![
                ("x".to_string(), int(1)),
                ("name".to_string(), text("n")),
                ("tag".to_string(), null(Ty::String)),
                ("at".to_string(), literal(Literal::Timestamp(5), Ty::Timestamp)),
            ];
            expr(ExprKind::Record(fields), point())
        };
        cases.add(&[], field(made(), name, ty.clone()));
        let chosen = if_else(local("c", Ty::Bool), made(), null(point()), point().optional());
        cases.add(&[("c", Ty::Bool)], field(chosen, name, ty.optional()));
    }
    for element in types().into_iter().chain([Ty::Int64.optional(), Ty::String.optional()]) {
        let list = Ty::List(Box::new(element.clone()));
        let map = Ty::Map(Box::new(Ty::String), Box::new(element.clone()));
        let result = element.clone().optional();
        for list in [list.clone(), list.clone().optional()] {
            let index = ExprKind::Index(Box::new(local("a", list.clone())), Box::new(int(0)));
            cases.add(&[("a", list)], expr(index, result.clone()));
        }
        let index = ExprKind::Index(Box::new(local("a", map.clone())), Box::new(text("k")));
        cases.add(&[("a", map)], expr(index, result.clone()));
        let made = expr(ExprKind::List(vec![local("a", element.clone()), local("a", element.clone())]), list);
        cases.add(&[("a", element.clone())], made.clone());
        cases.add(&[("a", element)], expr(ExprKind::Index(Box::new(made), Box::new(int(1))), result));
    }
    cases.add(&[], expr(ExprKind::List(Vec::new()), Ty::List(Box::new(point()))));
}

fn texts(cases: &mut Cases) {
    let scalars = types().into_iter().filter(|ty| !matches!(ty, Ty::List(_) | Ty::Map(..) | Ty::Record(_)));
    for ty in scalars {
        for ty in [ty.clone(), ty.clone().optional()] {
            let result = if ty.is_optional() { Ty::String.optional() } else { Ty::String };
            cases.add(
                &[("a", ty.clone())],
                expr(ExprKind::Format(vec![text("a = "), local("a", ty.clone()), text("{}")]), result),
            );
        }
        if ty != Ty::String {
            for mode in [CastMode::Checked, CastMode::Try] {
                let result = if mode == CastMode::Try { Ty::String.optional() } else { Ty::String };
                cases.add(&[("a", ty.clone())], expr(ExprKind::Cast(mode, Box::new(local("a", ty.clone()))), result));
                let back = if mode == CastMode::Try { ty.clone().optional() } else { ty.clone() };
                cases.add(&[("a", Ty::String)], expr(ExprKind::Cast(mode, Box::new(local("a", Ty::String))), back));
                let optional = expr(ExprKind::Cast(mode, Box::new(local("a", Ty::String.optional()))), ty.clone().optional());
                cases.add(&[("a", Ty::String.optional())], optional);
            }
        }
    }
    for op in [BinaryOp::Like, BinaryOp::Matches] {
        cases.with_nulls(&Ty::String, &Ty::Bool, |a, b, ty| binary(op, a, b, ty));
        cases.add(&[("a", Ty::String)], binary(op, local("a", Ty::String), text("^a+\\d \"'{}"), Ty::Bool));
    }
}

fn casts(cases: &mut Cases) {
    let numbers = [
        Ty::Int8,
        Ty::Int16,
        Ty::Int32,
        Ty::Int64,
        Ty::UInt8,
        Ty::UInt64,
        Ty::Float32,
        Ty::Float64,
        decimal(10, 2),
        decimal(38, 0),
    ];
    for from in &numbers {
        for to in &numbers {
            for mode in [CastMode::Checked, CastMode::Try] {
                let result = if mode == CastMode::Try && from != to { to.clone().optional() } else { to.clone() };
                cases.add(&[("a", from.clone())], expr(ExprKind::Cast(mode, Box::new(local("a", from.clone()))), result));
                let cast = expr(ExprKind::Cast(mode, Box::new(local("a", from.clone().optional()))), to.clone().optional());
                cases.add(&[("a", from.clone().optional())], cast);
            }
        }
    }
    for ty in types() {
        let cast = |ty: &Ty, to: Ty| expr(ExprKind::Cast(CastMode::Implicit, Box::new(local("a", ty.clone()))), to);
        cases.add(&[("a", ty.clone())], cast(&ty, ty.clone().optional()));
        let required = expr(ExprKind::Cast(CastMode::NotNull, Box::new(local("a", ty.clone().optional()))), ty.clone());
        cases.add(&[("a", ty.clone().optional())], required);
    }
    let widen = [
        (Ty::Int32, Ty::Int64),
        (Ty::Int32, Ty::Float64),
        (Ty::Int64, decimal(19, 0)),
        (Ty::Float32, Ty::Float64),
        (Ty::Date, Ty::Timestamp),
    ];
    for (from, to) in widen {
        cases.add(
            &[("a", from.clone())],
            expr(ExprKind::Cast(CastMode::Implicit, Box::new(local("a", from.clone()))), to.clone()),
        );
        let optional = expr(ExprKind::Cast(CastMode::Implicit, Box::new(local("a", from.clone()))), to.optional());
        cases.add(&[("a", from)], optional);
    }
    let list = |ty| Ty::List(Box::new(ty));
    let cast = expr(ExprKind::Cast(CastMode::Implicit, Box::new(local("a", list(Ty::Int32)))), list(Ty::Int64));
    cases.add(&[("a", list(Ty::Int32))], cast);
}

fn odd_names(cases: &mut Cases) {
    let names = ["params", "v1", "type", "types", "数量", "row", "Ok"];
    let params: Vec<_> = names.iter().map(|name| (*name, Ty::Int64)).collect();
    let sum = names[1..].iter().fold(local(names[0], Ty::Int64), |sum, name| {
        let nullable = expr(ExprKind::Cast(CastMode::Implicit, Box::new(local(name, Ty::Int64))), Ty::Int64.optional());
        let inner = expr(ExprKind::Coalesce(Box::new(nullable), Box::new(local(name, Ty::Int64))), Ty::Int64);
        binary(BinaryOp::Add, sum, inner, Ty::Int64)
    });
    cases.add(&params, sum);
    let call =
        ExprKind::CallUser { function: "case_0".into(), args: vec![local("a", Ty::Bool.optional()), local("b", Ty::Bool)] };
    cases.add(&[("a", Ty::Bool.optional()), ("b", Ty::Bool)], expr(call, Ty::Bool.optional()));
    cases.add(&[], expr(ExprKind::Param("since".into()), Ty::Timestamp));
    let secret = expr(ExprKind::Format(vec![expr(ExprKind::Env("KEY".into()), Ty::String), text("!")]), Ty::String);
    cases.add(&[], secret);
    let long = (0..600).fold(local("a", Ty::Int64), |sum, n| binary(BinaryOp::Add, sum, int(n), Ty::Int64));
    cases.add(&[("a", Ty::Int64)], long);
    let long = (0..600).fold(local("a", Ty::Bool.optional()), |left, n| {
        let right = binary(BinaryOp::Equal, local("b", Ty::Int64), int(n), Ty::Bool);
        binary(BinaryOp::Or, left, right, Ty::Bool.optional())
    });
    cases.add(&[("a", Ty::Bool.optional()), ("b", Ty::Int64)], long);
}

/// A job that calls all functions, so that all are emitted.
fn job(functions: Vec<Function>) -> JobGraph {
    let settings = JobSettings { buffer_timeout: 0, restart: RestartSettings::None, ..JobSettings::new("expressions") };
    let since = Param { name: "since".into(), ty: Ty::Timestamp, default: None, doc: None, origin: origin() };
    let columns: Vec<(String, Expr)> = functions
        .iter()
        .map(|function| {
            let args = function.params.iter().map(|(_, ty)| null(ty.clone())).collect();
            (function.name.clone(), expr(ExprKind::CallUser { function: function.name.clone(), args }, function.body.ty.clone()))
        })
        .collect();
    let mut job = JobGraph::new(settings, vec![since], functions);
    let schema = Schema::anonymous(vec![Field::new("a", Ty::Int64)]);
    let output = StreamType { schema, changelog: Changelog::Append, time: None };
    let operation = Operation::Project(columns);
    let hints = Hints::default();
    job.add(JobVertex { uid: "a/select/0".into(), name: "a".into(), operation, output, hints, origin: origin() });
    job
}

/// The modules of a library that holds every kind of expression.
pub fn modules() -> BTreeMap<PathBuf, String> {
    let mut cases = Cases::default();
    comparisons(&mut cases);
    arithmetic(&mut cases);
    logic(&mut cases);
    branches(&mut cases);
    access(&mut cases);
    texts(&mut cases);
    casts(&mut cases);
    odd_names(&mut cases);
    let job = job(cases.list);
    let execution = ExecutionGraph::expand(&job).expect("a layout");
    let mut files =
        emit(&job, &execution, &EmitOptions { source: "t.flow".into(), folder: Default::default(), version: "0".into() }).files;
    // The chain only served to call the functions.
    files.retain(|path, _| !path.ends_with("main.rs") && !path.display().to_string().contains("chain_"));
    let names = files.keys().filter_map(|path| path.file_stem()).map(|name| format!("pub mod {};\n", name.display()));
    let root = names.collect();
    files.insert("src/lib.rs".into(), root);
    files
}
