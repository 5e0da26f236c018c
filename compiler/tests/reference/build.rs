//! Graphs and expressions by hand, in few words.

use millstream_runtime::graph::{
    AggregateCall, AggregateOperation, BinaryOp, Changelog, DedupOperation, Emit, ErrorPolicy, Exchange, Expr, ExprKind, Field,
    Hints, JobEdge, JobGraph, JobSettings, JobVertex, JoinColumn, JoinColumnOf, JoinHow, JoinKey, JoinKind, JoinOperation, Keep,
    Literal, Operation, Origin, Port, RestartSettings, Schema, Side, SinkOperation, SourceOperation, StateSettings, StreamType,
    Ty, VertexId, Window, WindowTime,
};

pub fn graph() -> JobGraph {
    let settings = JobSettings { parallelism: 2, on_error: ErrorPolicy::Skip, ..JobSettings::new("job") };
    JobGraph::new(settings, Vec::new(), Vec::new())
}

pub fn int(value: i128) -> Expr {
    Expr::new(ExprKind::Literal(Literal::Int(value)), Ty::Int64)
}

pub fn string(value: &str) -> Expr {
    Expr::new(ExprKind::Literal(Literal::String(value.to_owned())), Ty::String)
}

pub fn boolean(value: bool) -> Expr {
    Expr::new(ExprKind::Literal(Literal::Bool(value)), Ty::Bool)
}

pub fn null(ty: Ty) -> Expr {
    Expr::new(ExprKind::Literal(Literal::Null), ty.optional())
}

/// An operation, with the type that follows from its operands.
pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let optional = left.ty.is_optional() || right.ty.is_optional();
    let ty = match op {
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
            left.ty.required().clone()
        }
        _ => Ty::Bool,
    };
    let ty = if optional { ty.optional() } else { ty };
    Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty)
}

pub fn is_null(operand: Expr) -> Expr {
    Expr::new(ExprKind::IsNull(Box::new(operand)), Ty::Bool)
}

pub fn not(operand: Expr) -> Expr {
    let ty = operand.ty.clone();
    Expr::new(ExprKind::Unary(millstream_runtime::graph::UnaryOp::Not, Box::new(operand)), ty)
}

pub fn cast(mode: millstream_runtime::graph::CastMode, operand: Expr, ty: Ty) -> Expr {
    Expr::new(ExprKind::Cast(mode, Box::new(operand)), ty)
}

/// `base.field`, optional where the base or the field is.
pub fn field(base: Expr, name: &str) -> Expr {
    let Ty::Record(schema) = base.ty.required() else { panic!("{base} is no record") };
    let ty = schema.field(name).unwrap_or_else(|| panic!("no field {name}")).ty.clone();
    let ty = if base.ty.is_optional() { ty.optional() } else { ty };
    Expr::new(ExprKind::Field(Box::new(base), name.to_owned()), ty)
}

pub fn schema(columns: &[(&str, Ty)]) -> Schema {
    Schema::anonymous(columns.iter().map(|(name, ty)| Field::new(*name, ty.clone())).collect())
}

pub fn call(function: &'static str, args: Vec<Expr>, ty: Ty) -> AggregateCall {
    AggregateCall { function, args, distinct: false, filter: None, ty, state: function.to_owned(), origin: Origin::default() }
}

/// A graph under construction.
pub struct Builder {
    pub graph: JobGraph,
}

impl Builder {
    pub fn new() -> Self {
        Builder { graph: graph() }
    }

    fn add(&mut self, operation: Operation, schema: Schema, changelog: Changelog) -> VertexId {
        let uid = format!("op/{}", self.graph.vertices().count());
        self.graph.add(JobVertex {
            name: uid.clone(),
            uid,
            operation,
            output: StreamType { schema, changelog, time: None },
            hints: Hints::default(),
            origin: Origin::default(),
        })
    }

    fn after(
        &mut self,
        input: VertexId,
        operation: Operation,
        schema: Schema,
        changelog: Changelog,
        exchange: Exchange,
    ) -> VertexId {
        let id = self.add(operation, schema, changelog);
        self.graph.connect(input, id, JobEdge { exchange, port: Port::Main, input: 0 });
        id
    }

    /// The columns of a vertex.
    pub fn rows(&self, id: VertexId) -> Schema {
        self.graph.vertex(id).output.schema.clone()
    }

    /// A column of a vertex, as an expression.
    pub fn column(&self, id: VertexId, name: &str) -> Expr {
        Expr::column(name, self.rows(id).field(name).unwrap_or_else(|| panic!("no column {name}")).ty.clone())
    }

    fn changelog(&self, id: VertexId) -> Changelog {
        self.graph.vertex(id).output.changelog.clone()
    }

    pub fn source(&mut self, schema: Schema) -> VertexId {
        let operation = SourceOperation { format: Some("json".to_owned()), ..SourceOperation::new("file", Vec::new()) };
        self.add(Operation::Source(operation), schema, Changelog::Append)
    }

    pub fn filter(&mut self, input: VertexId, condition: Expr) -> VertexId {
        let (schema, changelog) = (self.rows(input), self.changelog(input));
        self.after(input, Operation::Filter(condition), schema, changelog, Exchange::Forward)
    }

    pub fn project(&mut self, input: VertexId, columns: Vec<(&str, Expr)>) -> VertexId {
        let fields = columns.iter().map(|(name, value)| Field::new(*name, value.ty.clone())).collect();
        let columns = columns.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let changelog = match self.changelog(input) {
            Changelog::Append => Changelog::Append,
            Changelog::Table { .. } => Changelog::Table { key: None },
        };
        self.after(input, Operation::Project(columns), Schema::anonymous(fields), changelog, Exchange::Forward)
    }

    pub fn explode(&mut self, input: VertexId, list: Expr, name: &str) -> VertexId {
        let mut schema = self.rows(input);
        let Ty::List(item) = list.ty.required() else { panic!("{list} is no list") };
        schema.fields.push(Field::new(name, (**item).clone()));
        let operation = Operation::Explode { list, name: name.to_owned() };
        self.after(input, operation, schema, Changelog::Append, Exchange::Forward)
    }

    pub fn watermark(&mut self, input: VertexId, column: &str, watermark: Expr) -> VertexId {
        let schema = self.rows(input);
        let operation =
            Operation::Watermark(millstream_runtime::graph::WatermarkOperation { column: column.to_owned(), watermark });
        self.after(input, operation, schema, Changelog::Append, Exchange::Forward)
    }

    pub fn union(&mut self, inputs: &[VertexId]) -> VertexId {
        let schema = self.rows(inputs[0]);
        let id = self.add(Operation::Union, schema, Changelog::Append);
        for input in inputs {
            self.graph.connect(*input, id, JobEdge { exchange: Exchange::Forward, port: Port::Main, input: 0 });
        }
        id
    }

    /// Rows with equal keys for which the condition, over the columns of both, is true. Columns of the right side whose
    /// names are taken get others.
    pub fn join(
        &mut self,
        kind: JoinKind,
        left: VertexId,
        right: VertexId,
        keys: (Expr, Expr),
        condition: impl FnOnce(&Schema) -> Option<Expr>,
    ) -> VertexId {
        let of = |side, name: &str| JoinColumnOf::Side(side, name.to_owned());
        let mut pair = self.rows(left);
        let name = |field: &Field| field.name.clone();
        let mut columns: Vec<JoinColumn> =
            pair.fields.iter().map(|field| JoinColumn { name: name(field), of: of(Side::Left, &field.name) }).collect();
        for field in self.rows(right).fields {
            let mut taken = field.name.clone();
            while pair.field(&taken).is_some() {
                taken.insert_str(0, "r.");
            }
            columns.push(JoinColumn { name: taken.clone(), of: of(Side::Right, &field.name) });
            pair.fields.push(Field::new(taken, field.ty));
        }
        let condition = condition(&pair);
        let schema = if kind.pairs() { Schema::anonymous(pair.fields) } else { self.rows(left) };
        let exchanges = [Exchange::Hash(vec![keys.0.clone()]), Exchange::Hash(vec![keys.1.clone()])];
        let keys = vec![JoinKey { left: keys.0, right: keys.1 }];
        let how = JoinHow::Unbounded;
        let operation = JoinOperation { kind, how, keys, condition, columns, emit: Emit::Append, broadcast: false };
        let id = self.add(Operation::Join(operation), schema, Changelog::Append);
        for (input, (producer, exchange)) in [left, right].into_iter().zip(exchanges).enumerate() {
            self.graph.connect(producer, id, JobEdge { exchange, port: Port::Main, input });
        }
        id
    }

    /// Without a window: a table.
    pub fn aggregate(
        &mut self,
        input: VertexId,
        keys: Vec<(&str, Expr)>,
        tumbling: Option<(i64, Expr)>,
        calls: Vec<AggregateCall>,
        output: Vec<(&str, Expr)>,
    ) -> VertexId {
        let fields = output.iter().map(|(name, value)| Field::new(*name, value.ty.clone())).collect();
        let exchange = Exchange::Hash(keys.iter().map(|(_, key)| key.clone()).collect());
        let (changelog, emit) = match tumbling {
            Some(_) => (Changelog::Append, Emit::Append),
            None => (Changelog::Table { key: Some(keys.iter().map(|(name, _)| (*name).to_owned()).collect()) }, Emit::Changes),
        };
        let operation = AggregateOperation {
            keys: keys.into_iter().map(|(name, key)| (name.to_owned(), key)).collect(),
            window: tumbling.map(|(size, time)| Window::Tumbling { size, offset: 0, time: WindowTime::Event(time) }),
            calls,
            output: output.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            allowed_lateness: 0,
            every: None,
            late_output: false,
            emit,
        };
        self.after(input, Operation::Aggregate(operation), Schema::anonymous(fields), changelog, exchange)
    }

    pub fn dedup(&mut self, input: VertexId, keys: Vec<Expr>, time: Option<Expr>, keep: Keep) -> VertexId {
        let schema = self.rows(input);
        let names = keys.iter().map(ToString::to_string).collect();
        let exchange = Exchange::Hash(keys.clone());
        let operation =
            Operation::Dedup(DedupOperation { keys, keep, time, within: None, late_output: false, emit: Emit::Changes });
        self.after(input, operation, schema, Changelog::Table { key: Some(names) }, exchange)
    }

    pub fn final_(&mut self, input: VertexId) -> VertexId {
        let schema = self.rows(input);
        self.after(input, Operation::Final, schema, Changelog::Append, Exchange::Forward)
    }

    pub fn sink(&mut self, input: VertexId) -> VertexId {
        let schema = self.rows(input);
        let operation = SinkOperation {
            connector: "file".to_owned(),
            key: Vec::new(),
            options: Vec::new(),
            format: None,
            format_options: Vec::new(),
        };
        self.after(input, Operation::Sink(operation), schema, Changelog::Append, Exchange::Forward)
    }
}
