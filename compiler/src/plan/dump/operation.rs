//! One operator as lines of text.

use super::ranking;
use millstream_runtime::graph::text::{OptionList, duration_text};
use millstream_runtime::graph::{
    AggregateCall, AggregateOperation, Alignment, CallAsyncOperation, ConnectorOption, DedupOperation, Emit, EnumInput,
    ErrorPolicy, Expr, Frame, Keep, Operation, OverOperation, ProcessOperation, Schema, Ty, Waits, Window, WindowTime,
};

/// The operator's parameters, one a line; the first line starts with its word in the language.
pub fn lines(operation: &Operation) -> Vec<String> {
    match operation {
        Operation::Source(source) => {
            let mut out = match source.stages.is_empty() {
                true => vec![connector("from", &source.connector, &source.options)],
                false => vec![format!("from {}", source.connector)],
            };
            format(&mut out, source.format.as_deref(), &source.format_options);
            for stage in &source.stages {
                out.push(connector(&format!("stage {} =", stage.name), &stage.connector, &stage.options));
                format(&mut out, stage.format.as_deref(), &stage.format_options);
            }
            if let Some(watermark) = &source.watermark {
                out.push(format!("watermark {} of {}", watermark.watermark, watermark.column));
            }
            if let Some(idle_after) = source.idle_after {
                out.push(format!("idle after {}", duration_text(idle_after)));
            }
            out.extend(source.align.as_ref().map(align));
            match source.on_error {
                ErrorPolicy::Fail => {}
                ErrorPolicy::Skip => out.push("on error skip".to_owned()),
                ErrorPolicy::Into => out.push("on error into a stream of their own".to_owned()),
            }
            out
        }
        Operation::Filter(condition) => vec![format!("where {condition}")],
        Operation::Project(columns) => {
            let mut out = vec!["select".to_owned()];
            out.extend(columns.iter().map(column));
            out
        }
        Operation::Explode { list, name } => vec![format!("explode {list} as {name}")],
        Operation::CallAsync(asked) => vec![call_async(asked)],
        Operation::Union => vec!["union".to_owned()],
        Operation::Errors => vec!["what operators cannot compute".to_owned()],
        Operation::Watermark(watermark) => vec![format!("watermark {} of {}", watermark.watermark, watermark.column)],
        Operation::Process(process) => vec![self::process(process)],
        Operation::Dedup(dedup) => vec![self::dedup(dedup)],
        Operation::Aggregate(aggregate) => self::aggregate(aggregate),
        Operation::Top(top) => vec![ranking::top(top)],
        Operation::Sort(sort) => vec![ranking::sort(sort)],
        Operation::Combine(combine) => vec![ranking::combine(combine)],
        Operation::Inserts => vec!["as a table of inserts".to_owned()],
        Operation::KeyBy(key) => vec![format!("key by ({})", key.join(", "))],
        Operation::Over(over) => self::over(over),
        Operation::Join(join) => super::join::lines(join),
        Operation::Final => vec!["final".to_owned()],
        Operation::Changes => vec!["changes".to_owned()],
        Operation::Rebalance => vec!["rebalance".to_owned()],
        Operation::Broadcast => vec!["broadcast".to_owned()],
        Operation::PartitionBy(keys) => vec![format!("partition by ({})", list(keys))],
        Operation::Sink(sink) => {
            let mut out = vec![connector("into", &sink.connector, &sink.options)];
            format(&mut out, sink.format.as_deref(), &sink.format_options);
            out
        }
    }
}

fn call_async(asked: &CallAsyncOperation) -> String {
    let Waits { in_flight, timeout, ordered, retries, backoff } = asked.waits;
    let order = if ordered { "in order" } else { "as answers come" };
    let retries = match retries {
        0 => String::new(),
        _ => format!(", {retries} retries, the first after {}", duration_text(backoff)),
    };
    let timeout = duration_text(timeout);
    format!("wait for {} as {}, {order}, {in_flight} in flight, timeout {timeout}{retries}", asked.call, asked.name)
}

fn align(align: &Alignment) -> String {
    let every = align.every.map_or(String::new(), |every| format!(" every {}", duration_text(every)));
    format!("align {} within {}{every}", align.group, duration_text(align.within))
}

fn connector(word: &str, name: &str, options: &[ConnectorOption]) -> String {
    format!("{word} {name} {}", OptionList(options))
}

fn format(out: &mut Vec<String>, name: Option<&str>, options: &[ConnectorOption]) {
    let Some(name) = name else { return };
    if options.is_empty() {
        out.push(format!("format {name}"));
    } else {
        out.push(format!("format {name} {}", OptionList(options)));
    }
}

fn column((name, value): &(String, Expr)) -> String {
    match &value.kind {
        millstream_runtime::graph::ExprKind::Column(column) if column == name => format!("  {name}"),
        _ => format!("  {name}: {value}"),
    }
}

pub(super) fn list(exprs: &[Expr]) -> String {
    exprs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn dedup(dedup: &DedupOperation) -> String {
    let mut out = format!("dedup by ({})", list(&dedup.keys));
    out.push_str(match dedup.keep {
        Keep::First => " keep first",
        Keep::Last => " keep last",
    });
    match &dedup.time {
        Some(time) => out.push_str(&format!(" of {time}")),
        None => out.push_str(" to arrive"),
    }
    if let Some(within) = dedup.within {
        out.push_str(&format!(" within {}", duration_text(within)));
    }
    if dedup.late_output {
        out.push_str(", late rows to a stream of their own");
    }
    out.push_str(emit(dedup.emit));
    out
}

pub(super) fn emit(emit: Emit) -> &'static str {
    match emit {
        Emit::Append => "",
        Emit::Changes => ", emits changes",
        Emit::Upserts => ", emits upserts",
        Emit::Final => ", emits what stands at the end",
    }
}

fn aggregate(aggregate: &AggregateOperation) -> Vec<String> {
    let mut head = "aggregate".to_owned();
    if !aggregate.keys.is_empty() {
        let keys: Vec<_> = aggregate.keys.iter().map(|key| column(key).trim_start().to_owned()).collect();
        head.push_str(&format!(" by ({})", keys.join(", ")));
    }
    if let Some(window) = &aggregate.window {
        head.push_str(&format!(" over {}", self::window(window)));
    }
    if aggregate.allowed_lateness != 0 {
        head.push_str(&format!(" allow {} late", duration_text(aggregate.allowed_lateness)));
    }
    if let Some(every) = aggregate.every {
        head.push_str(&format!(" every {}", duration_text(every)));
    }
    if aggregate.late_output {
        head.push_str(", late rows to a stream of their own");
    }
    head.push_str(emit(aggregate.emit));
    let mut out = vec![head];
    out.extend(
        aggregate.calls.iter().enumerate().map(|(index, call)| format!("  call[{index}] = {}: {}", self::call(call), call.ty)),
    );
    out.extend(aggregate.output.iter().map(|(name, value)| {
        // Keys by their names: `carrier`, not `carrier: key[0]`.
        match &value.kind {
            millstream_runtime::graph::ExprKind::Key(index) if aggregate.keys.get(*index).is_some_and(|(key, _)| key == name) => {
                format!("  {name}")
            }
            _ => format!("  {name}: {value}"),
        }
    }));
    out
}

fn over(over: &OverOperation) -> Vec<String> {
    let by = if over.keys.is_empty() { String::new() } else { format!(" by ({})", list(&over.keys)) };
    let frame = match over.frame {
        Frame::Running | Frame::All => ", all rows so far".to_owned(),
        Frame::Rows(count) => format!(", last {count} rows"),
        Frame::Time(length) => format!(", last {}", duration_text(length)),
        Frame::Ahead(1) => ", up to the next row".to_owned(),
        Frame::Ahead(count) => format!(", up to {count} rows ahead"),
    };
    let mut out = vec![format!("over{by} in the order of {}{frame}", over.time)];
    out.extend(over.calls.iter().map(|(name, call)| {
        let back = if call.back > 1 { format!(" of {} rows away", call.back) } else { String::new() };
        format!("  {name}: {}{back}: {}", self::call(&call.call), call.call.ty)
    }));
    out
}

/// `count(distinct bidder where price < 10000)`
pub fn call(call: &AggregateCall) -> String {
    let distinct = if call.distinct { "distinct " } else { "" };
    let filter = call.filter.as_ref().map(|filter| format!("where {filter}")).unwrap_or_default();
    let space = if call.args.is_empty() || filter.is_empty() { "" } else { " " };
    format!("{}({distinct}{}{space}{filter})", call.function, list(&call.args))
}

/// `tumbling(1d) of time_hour`
pub fn window(window: &Window) -> String {
    let duration = |micros: &i64| duration_text(*micros);
    let placed = |time: &WindowTime| match time {
        WindowTime::Event(expr) => format!(" of {expr}"),
        WindowTime::Processing => " of processing time".to_owned(),
    };
    let shift = |offset: &i64| if *offset == 0 { String::new() } else { format!(", offset: {}", duration_text(*offset)) };
    match window {
        Window::Tumbling { size, offset, time } => format!("tumbling({}{}){}", duration(size), shift(offset), placed(time)),
        Window::Sliding { size, step, offset, time } => {
            format!("sliding({}, {}{}){}", duration(size), duration(step), shift(offset), placed(time))
        }
        Window::Session { gap, time } => format!("session({}){}", duration(gap), placed(time)),
        Window::Cumulative { max, step, offset, time } => {
            format!("cumulative({}, {}{}){}", duration(max), duration(step), shift(offset), placed(time))
        }
        Window::Calendar { unit, zone, time } => format!("calendar({}, zone: {zone:?}){}", unit.word(), placed(time)),
        Window::Count { size } => format!("count({size})"),
        Window::SlidingCount { size, step } => format!("count({size}, {step})"),
        Window::Global => "global".to_owned(),
    }
}

/// The operator on one line, without what fills a page.
pub fn summary(operation: &Operation) -> String {
    let names = |columns: &[(String, Expr)]| columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    match operation {
        Operation::Source(source) if !source.stages.is_empty() => {
            let stages: Vec<_> = source.stages.iter().map(|stage| format!("{} = {}", stage.name, stage.connector)).collect();
            format!("from {} {{ {} }}", source.connector, stages.join(", "))
        }
        Operation::Source(source) => format!("from {}", source.connector),
        Operation::Sink(sink) => connector("into", &sink.connector, &sink.options),
        Operation::Project(columns) => format!("select {{ {} }}", names(columns)),
        Operation::Aggregate(aggregate) => {
            let head = self::aggregate(aggregate).into_iter().next().unwrap_or_default();
            format!("{head} {{ {} }}", names(&aggregate.output))
        }
        Operation::Over(over) => self::over(over).into_iter().next().unwrap_or_default(),
        Operation::Join(join) => super::join::head(join),
        other => lines(other).join(" "),
    }
}

fn process(process: &ProcessOperation) -> String {
    let keys: Vec<String> = process.keys.iter().map(ToString::to_string).collect();
    let by = if keys.is_empty() { String::new() } else { format!(" by ({})", keys.join(", ")) };
    let options: Vec<String> = process.options.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let options = if options.is_empty() { String::new() } else { format!(" {{ {} }}", options.join(", ")) };
    let sides: Vec<&str> = process.sides.iter().filter_map(|side| side.variant.as_deref()).collect();
    let side = match (process.sides.len(), sides.as_slice()) {
        (0, _) => String::new(),
        (_, []) => ", with a side output".to_owned(),
        (_, names) => format!(", with side outputs {}", names.join(" and ")),
    };
    let record = |record: &Ty| match record {
        Ty::Record(Schema { name: Some(name), .. }) => name.clone(),
        _ => "rows".to_owned(),
    };
    let records = |of: &Option<EnumInput>, one: &Ty| match of {
        Some(of) => of.variants.iter().map(|variant| record(&variant.record)).collect::<Vec<_>>().join(" and "),
        None => record(one),
    };
    let of = process.of.as_ref().map_or(String::new(), |_| format!(", of {}", records(&process.of, &process.input)));
    let second = process.second.as_ref().map_or(String::new(), |second| {
        let record = records(&second.of, &second.input);
        match &second.keyed {
            Some(keyed) => format!(", with {record} by ({})", list(&keyed.keys)),
            None => format!(", with {record} in every subtask"),
        }
    });
    let stateless = if process.stateless { ", stateless" } else { "" };
    format!("process{by} rust {}{options}{of}{second}{side}{stateless}", process.path.join("::"))
}
