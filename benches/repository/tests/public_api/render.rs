//! Items as one line each, without bodies, comments and what is not public.

use quote::ToTokens;
use syn::{
    Attribute, Block, Fields, FnArg, ImplItem, ImplItemFn, Item, ItemFn, ItemImpl, Meta, Signature,
    TraitItem, Type, Visibility, parse_quote,
};

use crate::source::is_public;

/// What of an item can be seen, one line for itself and one for each part.
pub(crate) fn lines(item: &Item) -> Vec<String> {
    let mut item = item.clone();
    match &mut item {
        Item::Struct(item) => {
            shown(&mut item.attrs);
            let fields = fields(&mut item.fields);
            let line = text(Item::Struct(item.clone()));
            let line = line.trim_end_matches(';').trim_end_matches("{}").trim_end().to_owned();
            [line].into_iter().chain(fields).collect()
        }
        Item::Union(item) => {
            shown(&mut item.attrs);
            vec![text(Item::Union(item.clone()))]
        }
        Item::Enum(item) => {
            shown(&mut item.attrs);
            let variants = std::mem::take(&mut item.variants);
            let head = text(Item::Enum(item.clone()));
            let mut lines = vec![head.trim_end_matches("{}").trim_end().to_owned()];
            lines.extend(variants.into_iter().map(|mut variant| {
                shown(&mut variant.attrs);
                variant.fields.iter_mut().for_each(|field| shown(&mut field.attrs));
                // A variant alone cannot be formatted.
                let whole: Item = parse_quote!(enum E { #variant });
                let line = text(whole);
                let line = line.trim_start_matches("enum E {").trim_end_matches('}');
                format!("    {}", line.trim().trim_end_matches(','))
            }));
            lines
        }
        Item::Trait(item) => {
            shown(&mut item.attrs);
            let parts = std::mem::take(&mut item.items);
            let head = text(Item::Trait(item.clone()));
            let mut lines = vec![head.trim_end_matches("{}").trim_end().to_owned()];
            lines.extend(parts.into_iter().map(trait_part));
            lines
        }
        Item::Fn(item) => {
            shown(&mut item.attrs);
            vec![function(&item.attrs, &item.vis, &item.sig)]
        }
        Item::Const(item) => {
            shown(&mut item.attrs);
            *item.expr = parse_quote!(HIDDEN);
            let line = text(Item::Const(item.clone()));
            vec![line.replace(" = HIDDEN;", "")]
        }
        Item::Static(item) => {
            shown(&mut item.attrs);
            *item.expr = parse_quote!(HIDDEN);
            let line = text(Item::Static(item.clone()));
            vec![line.replace(" = HIDDEN;", "")]
        }
        Item::Type(item) => {
            shown(&mut item.attrs);
            vec![text(Item::Type(item.clone())).trim_end_matches(';').to_owned()]
        }
        _ => Vec::new(),
    }
}

/// The public parts of an inherent implementation, or the head of a trait's.
pub(crate) fn implementation(item: &ItemImpl) -> Vec<String> {
    let mut head = item.clone();
    shown(&mut head.attrs);
    head.items.clear();
    let head_line = text(Item::Impl(head.clone()));
    let head_line = head_line.trim_end_matches("{}").trim_end().to_owned();
    if item.trait_.is_some() {
        let types = item.items.iter().filter_map(|part| match part {
            ImplItem::Type(part) => Some(format!("{} = {}", part.ident, text_of_type(&part.ty))),
            _ => None,
        });
        let types: Vec<_> = types.collect();
        return match types.is_empty() {
            true => vec![format!("    {head_line}")],
            false => vec![format!("    {head_line} {{ {} }}", types.join(", "))],
        };
    }
    let conditions: String =
        head.attrs.iter().map(|condition| format!("{} ", tokens(condition))).collect();
    let generics = item.generics.params.is_empty();
    let parts = item.items.iter().filter_map(|part| match part {
        ImplItem::Fn(ImplItemFn { vis, sig, attrs, .. }) if is_public(vis) => {
            let mut attrs = attrs.clone();
            shown(&mut attrs);
            Some(function(&attrs, vis, sig))
        }
        ImplItem::Const(part) if is_public(&part.vis) => {
            Some(format!("pub const {}: {}", part.ident, text_of_type(&part.ty)))
        }
        _ => None,
    });
    let parts = parts.map(|part| match generics {
        true => format!("    {conditions}{part}"),
        false => format!("    {head_line} {{ {part} }}"),
    });
    parts.collect()
}

/// The conditions under which something is there.
pub(crate) fn conditions(attributes: &[Attribute]) -> String {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions.map(|condition| format!("{} ", tokens(condition))).collect()
}

fn trait_part(part: TraitItem) -> String {
    let line = match part {
        TraitItem::Fn(mut part) => {
            shown(&mut part.attrs);
            let line = function(&part.attrs, &Visibility::Inherited, &part.sig);
            match part.default {
                Some(_) => format!("{line} {{ .. }}"),
                None => line,
            }
        }
        TraitItem::Const(part) => {
            let default = if part.default.is_some() { " = .." } else { "" };
            format!("const {}: {}{default}", part.ident, text_of_type(&part.ty))
        }
        TraitItem::Type(part) => tokens(&part).trim_end_matches(';').to_owned(),
        _ => String::new(),
    };
    format!("    {line}")
}

fn function(attributes: &[Attribute], visibility: &Visibility, signature: &Signature) -> String {
    let mut sig = signature.clone();
    let empty: Block = parse_quote!({});
    let has_self = sig.inputs.iter().any(|input| matches!(input, FnArg::Receiver(_)));
    for input in &mut sig.inputs {
        if let FnArg::Typed(input) = input {
            input.attrs.clear();
        }
    }
    let (vis, attrs) = (visibility.clone(), attributes.to_vec());
    // What takes `self` is formatted within an implementation.
    let line = match has_self {
        false => text(Item::Fn(ItemFn { attrs, vis, sig, block: Box::new(empty) })),
        true => {
            let part = ImplItemFn { attrs, vis, defaultness: None, sig, block: empty };
            let line = text(parse_quote!(impl T { #part }));
            line.trim_start_matches("impl T {").trim_end_matches('}').trim().to_owned() + "}"
        }
    };
    let line = line.trim_end_matches('}').trim_end().trim_end_matches('{').trim_end();
    line.to_owned()
}

/// Leaves the attributes that matter to who uses an item.
fn shown(attributes: &mut Vec<Attribute>) {
    attributes.retain(|attribute| {
        let path = attribute.path();
        ["cfg", "non_exhaustive", "must_use", "deprecated", "derive", "async_trait"]
            .iter()
            .any(|name| path.is_ident(name))
    });
    // A reason is prose.
    for attribute in attributes {
        if attribute.path().is_ident("must_use") {
            attribute.meta = Meta::Path(parse_quote!(must_use));
        }
    }
}

/// The public fields of a struct, a line each, which are taken out of it; those of a
/// tuple stay, as the place of each counts.
fn fields(fields: &mut Fields) -> Vec<String> {
    match fields {
        Fields::Named(named) => {
            let mut hidden = false;
            let mut lines = Vec::new();
            for field in std::mem::take(&mut named.named) {
                match (&field.ident, is_public(&field.vis)) {
                    (Some(name), true) => {
                        let conditions = conditions(&field.attrs);
                        let ty = text_of_type(&field.ty);
                        lines.push(format!("    {conditions}pub {name}: {ty}"));
                    }
                    _ => hidden = true,
                }
            }
            lines.extend(hidden.then(|| "    ..".to_owned()));
            lines
        }
        Fields::Unnamed(unnamed) => {
            for field in &mut unnamed.unnamed {
                field.attrs.clear();
                if !is_public(&field.vis) {
                    field.ty = parse_quote!(_);
                }
            }
            Vec::new()
        }
        Fields::Unit => Vec::new(),
    }
}

fn text_of_type(ty: &Type) -> String {
    let line = text(parse_quote!(type T = #ty;));
    line.trim_start_matches("type T = ").trim_end_matches(';').to_owned()
}

/// A file of one item, on one line.
fn text(item: Item) -> String {
    let file = syn::File { shebang: None, attrs: Vec::new(), items: vec![item] };
    let line = prettyplease::unparse(&file).split_whitespace().collect::<Vec<_>>().join(" ");
    // Where a line was broken.
    let mut line = line.replace("( ", "(").replace(" )", ")").replace(",)", ")");
    for (broken, whole) in [("< ", "<"), (", >", ">"), (",>", ">"), (", }", " }")] {
        line = line.replace(broken, whole);
    }
    line
}

fn tokens(part: &impl ToTokens) -> String {
    let text = part.to_token_stream().to_string();
    let mut text = text.replace(" (", "(").replace("( ", "(").replace(" )", ")");
    for (spaced, whole) in [("# [", "#["), (" ]", "]"), (" : ", ": "), (" ;", ";"), (" ,", ",")] {
        text = text.replace(spaced, whole);
    }
    text.replace(" < ", "<").replace(" >", ">").replace(" :: ", "::").replace("& ", "&")
}
