//! `join payments as p on id == p.order_id`: rows of two streams or tables that belong together.
//!
//! In the condition and behind it, a bare name is a column of the rows so far before it is one of the joined side; a column
//! of the joined side whose name is taken is called `p.order_id`, and goes no further than this pipeline.

use millstream_runtime::graph::{
    BinaryOp, CastMode, Changelog, Emit, Expr, ExprKind, Field, JoinColumn, JoinColumnOf, JoinHow, JoinKey, JoinKind,
    JoinOperation, Operation, Schema, Side, StreamType, TimeColumn, Ty,
};

use super::{At, join_time};
use crate::hir::errors::{joins, tables};
use crate::hir::flow::{Alias, Flow, Hidden};
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::hir::types::casts::{adapt, plain_column};
use crate::syntax::ast::{self, Name};

/// Both sides of a join.
pub(super) struct Sides {
    pub left: Flow,
    pub right: Flow,
    /// A row of each, as the condition sees it.
    pub pair: Flow,
    /// What the right side is called.
    pub alias: String,
    /// Columns of the right side: there, and in the pair.
    pub right_columns: Vec<(String, String)>,
}

pub fn lower<'a>(at: &mut At<'_, '_, 'a>, join: &'a ast::Join, left: Flow) -> Flow {
    let right = match at.lowering.lookup(&join.right) {
        Some(lookup) => lookup,
        None => at.lowering.named(&join.right),
    };
    let sides = sides(at, join, left, right);
    let unknown = sides.pair.unknown;
    let on = join.on.as_ref().map(|on| Typer::new(&mut at.lowering.cx, Scope::Row(&sides.pair)).condition(on, "`on`"));
    let (mut keys, condition) = match (on, &join.on) {
        (Some(on), Some(written)) => split(at, on, &sides, written),
        _ => (Vec::new(), None),
    };
    if let (Some(lookup), false) = (&sides.right.lookup, unknown) {
        keys.sort_by_key(|key| lookup.key.iter().position(|column| column_under(&key.right) == Some(column)));
        if keys.len() < lookup.key.len() && condition.as_ref().is_none_or(|condition| condition.ty != Ty::Error) {
            let span = join.on.as_ref().map_or(at.stage.span, |on| on.span);
            at.report(joins::lookup_key(span, &lookup.name, &sides.alias, &lookup.key));
        }
    } else if keys.is_empty() && !unknown && condition.as_ref().is_none_or(|condition| condition.ty != Ty::Error) {
        let first = |flow: &Flow| flow.columns().first().map(|name| (*name).to_owned());
        let (left, right) = (first(&sides.left), first(&sides.right));
        let condition = join.on.as_ref().map(|on| on.span);
        at.report(joins::no_equality(
            join.kind.words(),
            at.stage.span,
            condition,
            left.as_deref(),
            right.as_deref(),
            &sides.alias,
        ));
    }
    let how = join_time::how(at, join, &sides, &keys);
    finish(at, join, sides, keys, condition, how)
}

/// The right side's columns get names beside the left's.
fn sides<'a>(at: &mut At<'_, '_, 'a>, join: &'a ast::Join, left: Flow, right: Flow) -> Sides {
    let name: &Name = join.alias.as_ref().unwrap_or(&join.right);
    if left.aliases.iter().any(|alias| alias.name == name.text) {
        at.report(joins::alias_taken(name, join.alias.is_some()));
    } else if let Some(alias) = &join.alias
        && (left.ty.schema.field(&alias.text).is_some() || right.ty.schema.field(&alias.text).is_some())
    {
        at.report(joins::alias_is_a_column(alias));
    }
    let mut pair = left.clone();
    pair.unknown |= right.unknown;
    let mut fields = left.ty.schema.fields.clone();
    let mut right_columns = Vec::new();
    for field in right.fields() {
        let taken = left.ty.schema.field(&field.name).is_some();
        let column = if taken { format!("{}.{}", name.text, field.name) } else { field.name.clone() };
        right_columns.push((field.name.clone(), column.clone()));
        if right.not_null.contains(&field.name) {
            pair.not_null.insert(column.clone());
        }
        let external = if taken { None } else { field.external.clone() };
        fields.push(Field { name: column, external, ..field.clone() });
    }
    pair.ty.schema = Schema::anonymous(fields);
    pair.aliases.push(Alias { name: name.text.clone(), columns: right_columns.clone() });
    Sides { left, right, pair, alias: name.text.clone(), right_columns }
}

/// Which side's columns an expression reads. None: of both.
fn side_of(expr: &Expr, sides: &Sides) -> Option<Option<Side>> {
    let mut reads = [false; 2];
    expr.walk(&mut |node| {
        if let ExprKind::Column(name) = &node.kind {
            let right = sides.right_columns.iter().any(|(_, column)| column == name);
            reads[usize::from(right)] = true;
        }
    });
    match reads {
        [true, true] => None,
        [true, false] => Some(Some(Side::Left)),
        [false, true] => Some(Some(Side::Right)),
        [false, false] => Some(None),
    }
}

/// The equalities of both sides, and what must hold besides.
fn split<'a>(at: &mut At<'_, '_, 'a>, on: Expr, sides: &Sides, written: &'a ast::Expr) -> (Vec<JoinKey>, Option<Expr>) {
    let mut parts = Vec::new();
    let mut open = vec![on];
    while let Some(expr) = open.pop() {
        match expr.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => {
                open.push(*right);
                open.push(*left);
            }
            _ => parts.push(expr),
        }
    }
    let (mut keys, mut rest) = (Vec::new(), Vec::new());
    for part in parts {
        let ExprKind::Binary(BinaryOp::Equal, first, second) = &part.kind else {
            rest.push(part);
            continue;
        };
        let (left, right) = match (side_of(first, sides), side_of(second, sides)) {
            (Some(Some(Side::Left)), Some(Some(Side::Right))) => (first, second),
            (Some(Some(Side::Right)), Some(Some(Side::Left))) => (second, first),
            _ => {
                rest.push(part);
                continue;
            }
        };
        let (mut left, mut right) = ((**left).clone(), (**right).clone());
        if !left.ty.is_ordered() {
            at.report(tables::not_a_key("a column that rows are joined by", written.span, &left.ty));
            // No message follows from its absence.
            rest.push(Expr { kind: ExprKind::Error, ty: Ty::Error, origin: part.origin });
            continue;
        }
        if left.ty.is_optional() != right.ty.is_optional() {
            let ty = left.ty.required().clone().optional();
            left = adapt(left, &ty).unwrap_or_else(|left| left);
            right = adapt(right, &ty).unwrap_or_else(|right| right);
        }
        own_names(&mut right, sides);
        // What a lookup is not asked by is looked at afterwards.
        if let Some(lookup) = &sides.right.lookup {
            let column = column_under(&right);
            let asked = column.is_some_and(|column| lookup.key.iter().any(|key| key == column));
            if !asked || keys.iter().any(|key: &JoinKey| column_under(&key.right) == column) {
                rest.push(part);
                continue;
            }
        }
        keys.push(JoinKey { left, right });
    }
    let condition = rest.into_iter().reduce(|left, right| {
        let ty = if left.ty.is_optional() || left.ty == Ty::Error { left.ty.clone() } else { right.ty.clone() };
        let origin = left.origin.clone();
        Expr { kind: ExprKind::Binary(BinaryOp::And, Box::new(left), Box::new(right)), ty, origin }
    });
    (keys, condition)
}

/// The column that an expression is, in whatever type.
fn column_under(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Column(name) => Some(name),
        ExprKind::Cast(CastMode::NotNull | CastMode::Implicit, inner) => column_under(inner),
        _ => None,
    }
}

/// Columns of the right side by their names there.
fn own_names(expr: &mut Expr, sides: &Sides) {
    if let ExprKind::Column(name) = &mut expr.kind
        && let Some((own, _)) = sides.right_columns.iter().find(|(_, column)| column == name)
    {
        name.clone_from(own);
    }
    expr.for_each_child_mut(&mut |child| own_names(child, sides));
}

/// Whether the two columns of an equality hold the same value in every pair, so that one is enough.
fn same_column<'k>(key: &'k JoinKey, own: &str) -> Option<&'k str> {
    let exact = |expr: &Expr| !matches!(expr.ty.required(), Ty::Float32 | Ty::Float64);
    match (&key.left.kind, plain_column(&key.right)) {
        (ExprKind::Column(left), Some(right)) if right == own && left == own && exact(&key.left) => Some(left),
        _ => None,
    }
}

fn finish<'a>(
    at: &mut At<'_, '_, 'a>,
    join: &'a ast::Join,
    sides: Sides,
    keys: Vec<JoinKey>,
    condition: Option<Expr>,
    how: JoinHow,
) -> Flow {
    let Sides { left, right, pair, right_columns, .. } = sides;
    let kind = join.kind;
    let windowed = matches!(how, JoinHow::Over { .. });
    let mut columns: Vec<JoinColumn> = Vec::new();
    let mut fields: Vec<Field> = Vec::new();
    let mut hidden: Vec<Hidden> = pair.hidden.clone();
    let mut aliases = pair.aliases.clone();
    let padded = |side: Side, field: &Field| match kind.keeps(side) && kind.pairs() {
        true => Field { ty: field.ty.clone().optional(), ..field.clone() },
        false => field.clone(),
    };
    for field in left.fields() {
        columns.push(JoinColumn { name: field.name.clone(), of: JoinColumnOf::Side(Side::Left, field.name.clone()) });
        fields.push(padded(Side::Right, field));
    }
    let mut renamed: Vec<(String, String)> = Vec::new();
    for (own, column) in &right_columns {
        columns.push(JoinColumn { name: column.clone(), of: JoinColumnOf::Side(Side::Right, own.clone()) });
        let Some(field) = pair.ty.schema.field(column) else { continue };
        if !kind.pairs() {
            continue;
        }
        let twin = (own != column).then(|| keys.iter().find_map(|key| same_column(key, own))).flatten();
        if kind == JoinKind::Inner
            && let Some(twin) = twin
        {
            renamed.push((own.clone(), twin.to_owned()));
            continue;
        }
        if own != column {
            hidden.push(Hidden {
                column: column.clone(),
                twin: Some(own.clone()),
                spare: twin.is_some() && kind == JoinKind::Left,
            });
        }
        fields.push(padded(Side::Left, field));
        renamed.push((own.clone(), column.clone()));
    }
    if windowed {
        join_time::window_columns(&mut columns, &mut fields, &mut hidden, &mut aliases);
    }
    match kind.pairs() {
        true => {
            if let Some(alias) = aliases.iter_mut().find(|alias| alias.name == sides.alias) {
                alias.columns.clone_from(&renamed);
            }
        }
        false => aliases.retain(|alias| alias.name != sides.alias),
    }
    let schema = match kind.pairs() || windowed {
        true => Schema::anonymous(fields),
        false => left.ty.schema.clone(),
    };
    let table = matches!(how, JoinHow::Unbounded)
        && (left.is_table() || right.is_table() || !matches!(kind, JoinKind::Inner | JoinKind::Semi));
    let changelog = match table {
        false => Changelog::Append,
        true => Changelog::Table { key: key(kind, &left, &right, &keys, &renamed) },
    };
    let time: Option<TimeColumn> = join_time::time(kind, &how, &left, &right, &renamed);
    let mut known = pair;
    known.time_dropped = time.is_none() && (left.ty.time.is_some() || left.time_dropped);
    known.not_null.retain(|column| {
        let of_left = left.ty.schema.field(column).is_some();
        schema.field(column).is_some() && !kind.keeps(if of_left { Side::Right } else { Side::Left })
    });
    (known.hidden, known.aliases) = (hidden, aliases);
    known.table_cause = match (table, left.is_table(), right.is_table()) {
        (false, ..) => None,
        (true, true, _) => left.table_cause.clone(),
        (true, false, true) => right.table_cause.clone(),
        (true, false, false) => {
            let words = kind.words();
            Some((at.stage.span, format!("a `{words}` takes rows back when a partner comes, which makes a table")))
        }
    };
    let emit = if table { Emit::Changes } else { Emit::Append };
    let broadcast = broadcast(at, join, &left, &how);
    let operation = JoinOperation { kind, how, keys, condition, columns, emit, broadcast };
    let mut inputs = vec![(left.node, left.port), (right.node, right.port)];
    inputs.truncate(if operation.lookup().is_some() { 1 } else { 2 });
    let output = StreamType { schema, changelog, time };
    let flow = at.add_over("join", Operation::Join(operation), inputs, known, output);
    at.late_rows(join.late_into.as_ref(), left, &flow);
    flow
}

/// Whether the joined side goes to every task. Then a task sees only some of the left rows, each once.
fn broadcast(at: &mut At<'_, '_, '_>, join: &ast::Join, left: &Flow, how: &JoinHow) -> bool {
    let Some(span) = join.broadcast else { return false };
    if let JoinHow::Lookup(lookup) = how {
        at.report(joins::broadcast_of_a_lookup(span, &lookup.name));
    } else if join.kind.keeps(Side::Right) {
        at.report(joins::broadcast_keeps_right(span, join.kind, &join.right.text));
    } else if left.is_table() {
        at.report(joins::broadcast_to_a_table(span, &left.name));
    }
    true
}

/// What tells rows of the result apart: one side's key where each of its rows has at most one partner, else both.
fn key(kind: JoinKind, left: &Flow, right: &Flow, keys: &[JoinKey], renamed: &[(String, String)]) -> Option<Vec<String>> {
    let own = |flow: &Flow| match &flow.ty.changelog {
        Changelog::Table { key } => key.clone(),
        Changelog::Append => None,
    };
    let left_key = own(left);
    if !kind.pairs() {
        return left_key;
    }
    let in_row = |column: &String| renamed.iter().find(|(own, _)| own == column).map(|(_, column)| column.clone());
    let right_own = own(right);
    let right_key: Option<Vec<String>> = right_own.as_ref().and_then(|key| key.iter().map(in_row).collect());
    let fixes = |key: &Option<Vec<String>>, of: fn(&JoinKey) -> &Expr| {
        key.as_ref().is_some_and(|key| key.iter().all(|column| keys.iter().any(|equal| plain_column(of(equal)) == Some(column))))
    };
    let one_right = fixes(&right_own, |key| &key.right);
    let one_left = fixes(&left_key, |key| &key.left);
    match kind {
        JoinKind::Inner | JoinKind::Left if one_right && left_key.is_some() => left_key,
        JoinKind::Inner | JoinKind::Right if one_left && right_key.is_some() => right_key,
        _ => {
            let mut both = left_key?;
            both.extend(right_key?.into_iter().filter(|column| !left_key_has(left, column)));
            Some(both)
        }
    }
}

fn left_key_has(left: &Flow, column: &str) -> bool {
    matches!(&left.ty.changelog, Changelog::Table { key: Some(key) } if key.iter().any(|own| own == column))
}
