//! `lookup` items: external tables that rows are looked up in by `join`.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use millstream_runtime::connectors::{self as catalog, LookupSpec};
use millstream_runtime::graph::{ConnectorOption, ExprKind, Literal, Lookup, OptionValue, Schema, Ty};

use super::attributes;
use super::connectors::options::{self, Owner};
use super::connectors::{formats, source};
use super::context::Context;
use super::errors::{connectors, joins, time};
use super::flow::Flow;
use super::resolve::scope::Scope;
use super::types::Typer;
use crate::syntax::ast;

/// So many answers are kept where the text does not say.
const CACHE_LIMIT: u64 = 100_000;

/// What each lookup stands for behind `join`. One that is wrong has columns all the same, where they are known.
pub fn lower<'a>(cx: &mut Context<'a>) -> HashMap<&'a str, Flow> {
    let mut flows = HashMap::new();
    for index in 0..cx.items.lookups.len() {
        let (item, lookup) = (cx.items.lookups[index].item, cx.items.lookups[index].node);
        attributes::none(cx, &item.attributes, "a lookup");
        flows.insert(lookup.name.text.as_str(), flow(cx, lookup, item.partial));
    }
    flows
}

fn flow<'a>(cx: &mut Context<'a>, item: &'a ast::Lookup, partial: bool) -> Flow {
    let schema = source::record(cx, &item.ty);
    let mut flow = Flow::broken(&item.name.text);
    flow.unknown = schema.is_none();
    flow.ty.schema = schema.clone().unwrap_or_default();
    let lookup = table(cx, item, schema.as_ref(), partial);
    flow.lookup = Some(Rc::new(lookup));
    flow
}

fn table<'a>(cx: &mut Context<'a>, item: &'a ast::Lookup, schema: Option<&Schema>, partial: bool) -> Lookup {
    let connector = &item.connector;
    let key = key(cx, item, schema, partial);
    let mut lookup = Lookup {
        name: item.name.text.clone(),
        connector: connector.name.text.clone(),
        options: Vec::new(),
        format: None,
        format_options: Vec::new(),
        schema: schema.cloned().unwrap_or_default(),
        key,
        texts: Vec::new(),
        cache: None,
        cache_limit: CACHE_LIMIT,
        ordered: item.unordered.is_none(),
    };
    if let Some(cache) = &item.cache {
        lookup.cache = duration(cx, &cache.time);
        if let Some(limit) = &cache.limit {
            lookup.cache_limit = count(cx, limit).unwrap_or(CACHE_LIMIT);
        }
    }
    let Some(spec) = spec(cx, connector) else { return lookup };
    let beside: &[&str] = if spec.formats.is_empty() { &[] } else { &["format"] };
    let owner = Owner { name: &connector.name.text, span: connector.name.span, specs: spec.options, columns: None, beside };
    lookup.options = options::lower(cx, &owner, &connector.options);
    if !spec.formats.is_empty() {
        (lookup.format, lookup.format_options) = formats::lower(cx, connector, spec.formats, schema, true);
    }
    if spec.by_key && !(partial && lookup.key.is_empty()) {
        names_key(cx, connector, &lookup.options, &lookup.key);
    }
    lookup
}

fn spec(cx: &mut Context<'_>, connector: &ast::Connector) -> Option<&'static LookupSpec> {
    let name = &connector.name;
    let all = || catalog::CONNECTORS.iter().filter(|spec| spec.lookup.is_some()).map(|spec| spec.name).collect::<Vec<_>>();
    let found = cx.connector(&name.text);
    match found {
        Some(found) if connector.stages.is_none() => match &found.lookup {
            Some(spec) => return Some(spec),
            None => cx.report(joins::no_lookup(name, &all())),
        },
        _ if name.text.is_empty() => {}
        None if connector.stages.is_none() => cx.report(cx.unknown_connector(name, &all())),
        _ => cx.report(joins::no_lookup(name, &all())),
    }
    None
}

/// The columns of `key`.
fn key(cx: &mut Context<'_>, item: &ast::Lookup, schema: Option<&Schema>, partial: bool) -> Vec<String> {
    if item.key.is_empty()
        && let Some(schema) = schema
        && let Some(own) = schema.name.as_deref().and_then(|name| cx.record_keys.get(name))
    {
        return own.iter().map(|name| name.text.clone()).collect();
    }
    // It may stand behind what does not parse.
    if item.key.is_empty() && !partial {
        let first = schema.and_then(|schema| schema.fields.first()).map_or("id", |field| &field.name);
        cx.report(joins::lookup_without_key(item.name.span, &item.name.text, first));
    }
    let mut key = Vec::new();
    let mut seen = BTreeSet::new();
    for column in &item.key {
        let known = schema.is_none_or(|schema| schema.field(&column.text).is_some());
        if !known {
            let columns: Vec<&str> = schema.iter().flat_map(|schema| &schema.fields).map(|field| field.name.as_str()).collect();
            cx.report(connectors::unknown_column("key", &column.text, column.span, &columns));
        } else if seen.insert(column.text.as_str()) {
            key.push(column.text.clone());
        }
    }
    key
}

/// An address that is known now names each column of the key, and nothing else.
fn names_key(cx: &mut Context<'_>, connector: &ast::Connector, options: &[ConnectorOption], key: &[String]) {
    let Some(written) = connector.options.iter().find(|option| option.name.text == "url") else { return };
    let url = options.iter().find(|option| option.name == "url").map(|option| &option.value);
    let Some(OptionValue::Value(value)) = url else { return };
    let ExprKind::Literal(Literal::String(url)) = &value.kind else { return };
    let named: Vec<&str> = url.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name.trim()).collect();
    let missing = key.iter().find(|column| !named.contains(&column.as_str()));
    let unknown = named.iter().find(|name| !key.iter().any(|column| column == *name));
    if missing.is_some() || unknown.is_some() {
        cx.report(joins::url_without_key(written.span, missing.map(String::as_str), unknown.copied(), key));
    }
}

fn duration<'a>(cx: &mut Context<'a>, written: &'a ast::Expr) -> Option<i64> {
    const WHAT: &str = "the time behind `cache`";
    match Typer::new(cx, Scope::Constant(WHAT)).constant(written, &Ty::Duration, WHAT)? {
        Literal::Duration(time) if time > 0 => Some(time),
        Literal::Duration(_) => {
            cx.report(time::not_positive(WHAT, written.span));
            None
        }
        _ => None,
    }
}

fn count<'a>(cx: &mut Context<'a>, written: &'a ast::Expr) -> Option<u64> {
    const WHAT: &str = "the number behind `up to`";
    match Typer::new(cx, Scope::Constant(WHAT)).constant(written, &Ty::Int64, WHAT)? {
        Literal::Int(count) if count > 0 => u64::try_from(count).ok(),
        Literal::Int(_) => {
            cx.report(time::not_positive(WHAT, written.span));
            None
        }
        _ => None,
    }
}
