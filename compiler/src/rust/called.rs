//! What the language calls an item of a Rust file, for messages about items that it cannot reach.

use syn::Item;
use syn::ext::IdentExt;

use super::attributes;
use super::connectors::snake;

/// The name; None: it is nothing that the language knows.
pub(super) fn called(item: &Item) -> Option<String> {
    let plain = |ident: &syn::Ident| ident.unraw().to_string();
    match item {
        Item::Fn(item) => {
            let annotation = attributes::find(&item.attrs, "function")?;
            Some(given(annotation).unwrap_or_else(|| plain(&item.sig.ident)))
        }
        Item::Struct(item) => {
            let derives = attributes::derives(&item.attrs);
            if derives.iter().any(|derive| derive == "Connector") {
                let own = attributes::find(&item.attrs, "flow").and_then(given);
                return Some(own.unwrap_or_else(|| snake(&plain(&item.ident))));
            }
            derives.iter().any(|derive| derive == "Record").then(|| plain(&item.ident))
        }
        Item::Enum(item) => attributes::derives(&item.attrs).iter().any(|derive| derive == "Record").then(|| plain(&item.ident)),
        Item::Impl(item) => {
            let syn::Type::Path(of) = &*item.self_ty else { return None };
            let of = plain(&of.path.segments.last()?.ident);
            if let Some(annotation) = attributes::find(&item.attrs, "aggregate") {
                return Some(given(annotation).unwrap_or_else(|| snake(&of)));
            }
            attributes::find(&item.attrs, "operator").map(|_| of)
        }
        _ => None,
    }
}

/// `name = ".."` in the brackets of an attribute.
fn given(attribute: &syn::Attribute) -> Option<String> {
    let mut name = None;
    let _ = attribute.parse_nested_meta(|meta| {
        if meta.path.is_ident("name") {
            name = Some(meta.value()?.parse::<syn::LitStr>()?.value());
        } else if meta.input.peek(syn::Token![=]) {
            meta.value()?.parse::<syn::Expr>()?;
        }
        Ok(())
    });
    name
}

#[cfg(test)]
mod tests {
    use super::called;

    #[test]
    fn items_have_the_names_that_pipelines_call_them_by() {
        let file: syn::File = syn::parse_quote! {
            #[function(in_flight = 5, name = "g")] pub async fn f(a: i64) -> i64 { a }
            #[function] pub fn h(a: i64) -> i64 { a }
            pub fn plain(a: i64) -> i64 { a }
            #[derive(Clone, Record)] pub struct Row { pub id: i64 }
            pub struct Plain { pub id: i64 }
            #[derive(Connector)] pub struct LongPoll {}
            #[derive(Connector)] #[flow(bounded, formats = "json, csv", name = "poll")] pub struct Other {}
            #[operator] impl Process for Detector {}
            #[aggregate] impl Accumulator for MostFrequent {}
            #[aggregate(name = "top_most")] impl Accumulator for Frequent {}
            impl Plain {}
        };
        let names: Vec<String> = file.items.iter().filter_map(called).collect();
        assert_eq!(names, ["g", "h", "Row", "long_poll", "poll", "Detector", "most_frequent", "top_most"]);
    }
}
