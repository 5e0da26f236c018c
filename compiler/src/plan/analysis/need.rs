//! What is read of a row or of a record in it.

use std::collections::BTreeMap;

use millstream_runtime::graph::{CastMode, Expr, ExprKind, Schema, Ty};

/// What is read of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// All of it.
    All,
    /// Of a record, these fields. None: only whether it is there.
    Fields(BTreeMap<String, Need>),
}

impl Need {
    /// Nothing is read.
    pub fn nothing() -> Self {
        Need::Fields(BTreeMap::new())
    }

    /// What a value of this type has, field by field.
    pub fn of_ty(ty: &Ty) -> Self {
        match ty.required() {
            Ty::Record(schema) => {
                Need::Fields(schema.fields.iter().map(|field| (field.name.clone(), Need::of_ty(&field.ty))).collect())
            }
            _ => Need::All,
        }
    }

    /// What is read of one field; None: it is not read.
    pub fn of(&self, field: &str) -> Option<Need> {
        match self {
            Need::All => Some(Need::All),
            Need::Fields(fields) => fields.get(field).cloned(),
        }
    }

    /// Also this much of one field.
    pub fn add(&mut self, field: &str, need: Need) {
        if let Need::Fields(fields) = self {
            match fields.get_mut(field) {
                Some(known) => known.merge(need),
                None => {
                    fields.insert(field.to_owned(), need);
                }
            }
        }
    }

    /// Also all that is in the other.
    pub fn merge(&mut self, other: Need) {
        match other {
            Need::All => *self = Need::All,
            Need::Fields(fields) => fields.into_iter().for_each(|(field, need)| self.add(&field, need)),
        }
    }

    /// Without one field.
    pub fn without(mut self, field: &str) -> Need {
        if let Need::Fields(fields) = &mut self {
            fields.remove(field);
        }
        self
    }

    /// Also what an expression reads of its row.
    pub fn add_expr(&mut self, expr: &Expr) {
        self.add_part(expr, Need::All);
    }

    /// Also what an expression reads of its row if only this much of its value is read.
    pub fn add_part(&mut self, expr: &Expr, need: Need) {
        match &expr.kind {
            ExprKind::Column(name) => self.add(name, need),
            ExprKind::Field(base, field) => {
                let mut part = Need::nothing();
                part.add(field, need);
                self.add_part(base, part);
            }
            ExprKind::Cast(CastMode::Implicit | CastMode::NotNull, inner) if expr.ty.required() == inner.ty.required() => {
                self.add_part(inner, need);
            }
            ExprKind::IsNull(operand) if is_path(operand) => self.add_part(operand, Need::nothing()),
            _ => expr.for_each_child(&mut |child| self.add_part(child, Need::All)),
        }
    }

    /// The columns of a schema that are read, records in them pruned as well. At least one stays.
    pub fn prune(&self, schema: &Schema) -> Schema {
        let Need::Fields(needs) = self else { return schema.clone() };
        let keep_one = if needs.is_empty() { cheapest(schema) } else { None };
        let fields = schema
            .fields
            .iter()
            .enumerate()
            .filter_map(|(index, field)| {
                let need = match needs.get(&field.name) {
                    Some(need) => need.clone(),
                    None if Some(index) == keep_one => Need::nothing(),
                    None => return None,
                };
                let mut field = field.clone();
                field.ty = need.prune_ty(&field.ty);
                Some(field)
            })
            .collect();
        Schema { name: schema.name.clone(), fields }
    }

    fn prune_ty(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Record(schema) => Ty::Record(self.prune(schema)),
            Ty::Optional(inner) => self.prune_ty(inner).optional(),
            other => other.clone(),
        }
    }
}

/// A column, or a field of one.
fn is_path(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column(_) => true,
        ExprKind::Field(base, _) => is_path(base),
        _ => false,
    }
}

/// The column that costs least to read, where one has to stay.
fn cheapest(schema: &Schema) -> Option<usize> {
    let copied = schema.fields.iter().position(|field| field.ty.is_copy());
    copied.or_else(|| (!schema.fields.is_empty()).then_some(0))
}

/// Gives columns, fields and the casts around them the types that they have in a pruned row.
pub fn retype(expr: &mut Expr, row: &Schema) {
    expr.for_each_child_mut(&mut |child| retype(child, row));
    match &expr.kind {
        ExprKind::Column(name) => {
            if let Some(field) = row.field(name) {
                expr.ty = field.ty.clone();
            }
        }
        ExprKind::Field(base, field) => {
            let Ty::Record(schema) = base.ty.required() else { return };
            let Some(field) = schema.field(field) else { return };
            expr.ty = if base.ty.is_optional() { field.ty.clone().optional() } else { field.ty.clone() };
        }
        ExprKind::Cast(CastMode::Implicit | CastMode::NotNull, inner) => {
            let (Ty::Record(_), Ty::Record(_)) = (inner.ty.required(), expr.ty.required()) else { return };
            let record = inner.ty.required().clone();
            expr.ty = if expr.ty.is_optional() { record.optional() } else { record };
        }
        _ => {}
    }
}
