//! Random small pipelines and rows for them. One seed, one case.

use std::collections::BTreeMap;

use millstream_runtime::graph::{
    BinaryOp, CastMode, Expr, ExprKind, Field, JobGraph, JoinKind, Keep, Literal, Schema, Ty, VertexId,
};

use super::build::*;
use super::value::{Row, Value, row};

/// A case: a graph, and the rows of its sources.
pub struct Case {
    pub graph: JobGraph,
    pub rows: BTreeMap<String, Vec<Row>>,
}

/// The case of a seed. Tame cases have small numbers and little arithmetic, so that most of them never fail.
pub fn case(seed: u64, tame: bool) -> Case {
    let mut random = Random { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, tame, joined: false };
    let mut builder = Builder::new();
    let source = builder.source(source_schema());
    let mut rows = BTreeMap::new();
    let count = random.below(12);
    rows.insert(builder.graph.vertex(source).uid.clone(), (0..count).map(|_| random.row()).collect());
    let mut last = source;
    for _ in 0..1 + random.below(6) {
        last = random.operator(&mut builder, last);
    }
    builder.sink(last);
    Case { graph: builder.graph, rows }
}

fn source_schema() -> Schema {
    let record =
        Schema { name: Some("Rec".to_owned()), ..schema(&[("x", Ty::Int64), ("y", Ty::Int64.optional()), ("s", Ty::String)]) };
    let record = Ty::Record(record).optional();
    schema(&[
        ("a", Ty::Int64),
        ("b", Ty::Int64.optional()),
        ("c", Ty::Int64),
        ("s", Ty::String),
        ("t", Ty::Timestamp),
        ("f", Ty::Bool),
        ("rec", record),
        ("items", Ty::List(Box::new(Ty::Int64))),
    ])
}

struct Random {
    state: u64,
    tame: bool,
    /// One join is enough: more of them make too many rows.
    joined: bool,
}

impl Random {
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { items.get(self.below(items.len())) }
    }

    fn number(&mut self) -> i128 {
        match self.below(if self.tame { 4 } else { 7 }) {
            0 => 0,
            1 => 1,
            2 => -1,
            3 => self.below(5) as i128,
            4 => i128::from(i64::MAX),
            5 => i128::from(i64::MIN),
            _ => self.below(1000) as i128 - 500,
        }
    }

    fn text(&mut self) -> String {
        ["", "x", "yz"][self.below(3)].to_owned()
    }

    fn or_null(&mut self, make: impl FnOnce(&mut Self) -> Value) -> Value {
        if self.one_in(3) { Value::Null } else { make(self) }
    }

    fn row(&mut self) -> Row {
        let number = |random: &mut Self| Value::Int(random.number());
        row([
            ("a", number(self)),
            ("b", self.or_null(number)),
            ("c", number(self)),
            ("s", Value::String(self.text())),
            ("t", Value::Timestamp(self.below(40) as i64 - 10)),
            ("f", Value::Bool(self.one_in(2))),
            (
                "rec",
                self.or_null(|random| {
                    Value::Record(row([
                        ("x", number(random)),
                        ("y", random.or_null(number)),
                        ("s", Value::String(random.text())),
                    ]))
                }),
            ),
            ("items", {
                let count = self.below(3);
                Value::List((0..count).map(|_| number(self)).collect())
            }),
        ])
    }

    /// One more operator behind a vertex.
    fn operator(&mut self, builder: &mut Builder, input: VertexId) -> VertexId {
        let rows = builder.rows(input);
        match self.below(12) {
            0..=2 => {
                let condition = self.condition(&rows, 3);
                builder.filter(input, condition)
            }
            3..=4 => self.projection(builder, input),
            5 => match self.column_of(&rows, &Ty::List(Box::new(Ty::Int64))) {
                Some(list) if rows.field("item").is_none() => builder.explode(input, list, "item"),
                _ => self.projection(builder, input),
            },
            6 => {
                let condition = self.condition(&rows, 2);
                let other = if self.one_in(2) { builder.filter(input, condition) } else { input };
                builder.union(&[input, other])
            }
            7 => self.table(builder, input),
            8 => match self.column_of(&rows, &Ty::Timestamp) {
                Some(time) if self.one_in(2) => self.windowed(builder, input, time),
                Some(time) => {
                    let ExprKind::Column(name) = &time.kind else { return input };
                    let name = name.clone();
                    let delay = Expr::new(ExprKind::Literal(Literal::Duration(5)), Ty::Duration);
                    builder.watermark(input, &name, binary(BinaryOp::Subtract, time, delay))
                }
                None => input,
            },
            9 => {
                builder.sink(input);
                input
            }
            10 if !self.joined => self.join(builder, input),
            _ => self.narrow(builder, input),
        }
    }

    /// With itself, or with a filtered or narrowed part of itself.
    fn join(&mut self, builder: &mut Builder, input: VertexId) -> VertexId {
        self.joined = true;
        let rows = builder.rows(input);
        let right = match self.below(3) {
            0 => input,
            1 => {
                let condition = self.condition(&rows, 2);
                builder.filter(input, condition)
            }
            _ => self.projection(builder, input),
        };
        let right_rows = builder.rows(right);
        let ty = if self.one_in(2) { Ty::Int64 } else { Ty::String };
        let keys = (self.column_of(&rows, &ty), self.column_of(&right_rows, &ty));
        let (Some(left_key), Some(right_key)) = keys else { return right };
        let kind = if self.one_in(3) { JoinKind::Semi } else { JoinKind::Inner };
        let with_condition = self.one_in(2);
        builder.join(kind, input, right, (left_key, right_key), |pair| with_condition.then(|| self.condition(pair, 2)))
    }

    fn projection(&mut self, builder: &mut Builder, input: VertexId) -> VertexId {
        let rows = builder.rows(input);
        let mut columns: Vec<(&str, Expr)> = Vec::new();
        for field in &rows.fields {
            if self.one_in(2) {
                columns.push((&field.name, Expr::column(field.name.clone(), field.ty.clone())));
            }
        }
        for name in ["p", "q", "r"] {
            if (self.one_in(2) || columns.is_empty()) && rows.field(name).is_none() {
                let value = match self.below(4) {
                    0 => self.number_of(&rows, 2, true),
                    1 => self.condition(&rows, 2),
                    2 => self.string_of(&rows, 2),
                    _ => self.number_of(&rows, 2, false),
                };
                columns.push((name, value));
            }
        }
        if columns.is_empty() { input } else { builder.project(input, columns) }
    }

    /// `where x is not null`, and the column narrowed behind it.
    fn narrow(&mut self, builder: &mut Builder, input: VertexId) -> VertexId {
        let rows = builder.rows(input);
        let optional: Vec<&Field> = rows.fields.iter().filter(|field| matches!(field.ty, Ty::Optional(_))).collect();
        let Some(narrowed) = self.pick(&optional).map(|field| (*field).clone()) else { return input };
        let column = Expr::column(narrowed.name.clone(), narrowed.ty.clone());
        let filter = builder.filter(input, not(is_null(column)));
        let columns = rows.fields.iter().map(|field| {
            let column = Expr::column(field.name.clone(), field.ty.clone());
            let value = if *field == narrowed { cast(CastMode::NotNull, column, field.ty.required().clone()) } else { column };
            (field.name.as_str(), value)
        });
        builder.project(filter, columns.collect())
    }

    fn table(&mut self, builder: &mut Builder, input: VertexId) -> VertexId {
        let rows = builder.rows(input);
        let keys: Vec<&Field> =
            rows.fields.iter().filter(|field| matches!(field.ty, Ty::Int64 | Ty::String | Ty::Bool)).collect();
        let Some(key) = self.pick(&keys).map(|field| Expr::column(field.name.clone(), field.ty.clone())) else { return input };
        let table = if self.one_in(2) {
            let keep = if self.one_in(2) { Keep::First } else { Keep::Last };
            let time = self.column_of(&rows, &Ty::Timestamp);
            builder.dedup(input, vec![key], time, keep)
        } else {
            let (calls, mut output) = self.calls(&rows);
            output.push(("k", Expr::new(ExprKind::Key(0), key.ty.clone())));
            builder.aggregate(input, vec![("k", key)], None, calls, output)
        };
        let rows = builder.rows(table);
        let between = match self.below(4) {
            0 => {
                let condition = self.condition(&rows, 2);
                builder.filter(table, condition)
            }
            1 => self.projection(builder, table),
            _ => table,
        };
        builder.final_(between)
    }

    fn windowed(&mut self, builder: &mut Builder, input: VertexId, time: Expr) -> VertexId {
        let rows = builder.rows(input);
        let (calls, mut output) = self.calls(&rows);
        output.push(("start", Expr::new(ExprKind::Window(millstream_runtime::graph::WindowBound::Start), Ty::Timestamp)));
        builder.aggregate(input, Vec::new(), Some((10, time)), calls, output)
    }

    fn calls(&mut self, rows: &Schema) -> (Vec<millstream_runtime::graph::AggregateCall>, Vec<(&'static str, Expr)>) {
        let mut calls = Vec::new();
        let mut output = Vec::new();
        for (index, name) in ["n", "m", "total"].into_iter().enumerate() {
            let mut call = match self.below(4) {
                0 => call("count", Vec::new(), Ty::Int64),
                1 => call("count", vec![self.number_of(rows, 1, true)], Ty::Int64),
                2 => call("sum", vec![self.number_of(rows, 1, true)], Ty::Int64.optional()),
                _ => call("max", vec![self.number_of(rows, 1, false)], Ty::Int64.optional()),
            };
            call.distinct = self.one_in(4);
            if self.one_in(3) {
                call.filter = Some(self.condition(rows, 2));
            }
            output.push((name, Expr::new(ExprKind::Aggregate(index), call.ty.clone())));
            calls.push(call);
        }
        (calls, output)
    }

    fn column_of(&mut self, rows: &Schema, ty: &Ty) -> Option<Expr> {
        let columns: Vec<&Field> = rows.fields.iter().filter(|field| field.ty == *ty).collect();
        self.pick(&columns).map(|field| Expr::column(field.name.clone(), field.ty.clone()))
    }

    /// An int64, or an `int64?`.
    fn number_of(&mut self, rows: &Schema, depth: usize, optional: bool) -> Expr {
        let ty = if optional { Ty::Int64.optional() } else { Ty::Int64 };
        let choice = if depth == 0 { self.below(3) } else { self.below(9) };
        match choice {
            0 if optional && self.one_in(3) => null(Ty::Int64),
            0 if optional => cast(CastMode::Implicit, int(self.number()), ty),
            0 => int(self.number()),
            1 | 2 if optional => {
                if let (Some(record), true) = (self.record_of(rows), self.one_in(2)) {
                    let field = field(record, if self.one_in(2) { "x" } else { "y" });
                    return if field.ty == ty { field } else { cast(CastMode::Implicit, field, ty) };
                }
                self.column_of(rows, &ty).unwrap_or_else(|| null(Ty::Int64))
            }
            1 | 2 => self.column_of(rows, &ty).unwrap_or_else(|| int(1)),
            3 => {
                let (condition, then, otherwise) = (
                    self.condition(rows, depth - 1),
                    self.number_of(rows, depth - 1, optional),
                    self.number_of(rows, depth - 1, optional),
                );
                Expr::new(ExprKind::If(Box::new(condition), Box::new(then), Box::new(otherwise)), ty)
            }
            4 => {
                let (first, second) = (self.number_of(rows, depth - 1, true), self.number_of(rows, depth - 1, optional));
                Expr::new(ExprKind::Coalesce(Box::new(first), Box::new(second)), ty)
            }
            5 => {
                let operand = self.number_of(rows, depth - 1, optional);
                Expr::new(ExprKind::Unary(millstream_runtime::graph::UnaryOp::Negate, Box::new(operand)), ty)
            }
            _ => {
                let ops = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Remainder];
                let op = ops[self.below(if self.tame { 2 } else { 5 })];
                let (left, right) = (self.number_of(rows, depth - 1, optional), self.number_of(rows, depth - 1, false));
                binary(op, left, right)
            }
        }
    }

    fn record_of(&mut self, rows: &Schema) -> Option<Expr> {
        let records: Vec<&Field> = rows.fields.iter().filter(|field| matches!(field.ty.required(), Ty::Record(_))).collect();
        self.pick(&records).map(|field| Expr::column(field.name.clone(), field.ty.clone()))
    }

    fn string_of(&mut self, rows: &Schema, depth: usize) -> Expr {
        match self.below(if depth == 0 { 2 } else { 4 }) {
            0 => string(&self.text()),
            3 => binary(BinaryOp::Add, self.string_of(rows, depth - 1), self.string_of(rows, depth - 1)),
            _ => self.column_of(rows, &Ty::String).unwrap_or_else(|| string("s")),
        }
    }

    /// A bool or a `bool?`.
    fn condition(&mut self, rows: &Schema, depth: usize) -> Expr {
        let choice = if depth == 0 { self.below(4) } else { self.below(12) };
        match choice {
            0 => boolean(self.one_in(2)),
            1 => match self.record_of(rows) {
                Some(record) if record.ty.is_optional() => not(is_null(record)),
                _ => boolean(true),
            },
            2 => self.column_of(rows, &Ty::Bool).unwrap_or_else(|| boolean(true)),
            3 => null(Ty::Bool),
            4 => not(self.condition(rows, depth - 1)),
            5 => is_null(self.number_of(rows, depth - 1, true)),
            6 => {
                let optional = self.one_in(2);
                let operand = self.number_of(rows, depth - 1, optional);
                let list: Vec<_> = (0..self.below(3)).map(|_| self.number_of(rows, 0, optional)).collect();
                let ty = if optional { Ty::Bool.optional() } else { Ty::Bool };
                Expr::new(ExprKind::In(Box::new(operand), list), ty)
            }
            7 | 8 => {
                let op = if self.one_in(2) { BinaryOp::And } else { BinaryOp::Or };
                binary(op, self.condition(rows, depth - 1), self.condition(rows, depth - 1))
            }
            _ => {
                let ops = [
                    BinaryOp::Equal,
                    BinaryOp::NotEqual,
                    BinaryOp::Less,
                    BinaryOp::LessOrEqual,
                    BinaryOp::Greater,
                    BinaryOp::GreaterOrEqual,
                ];
                let op = ops[self.below(6)];
                let optional = self.one_in(2);
                binary(op, self.number_of(rows, depth - 1, optional), self.number_of(rows, depth - 1, false))
            }
        }
    }
}
