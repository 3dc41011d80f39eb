//! What attributes of other crates say: the text of a doc comment, and names on the wire.

use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Result, Variant};

/// The doc comment as one paragraph.
pub(crate) fn help(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ").trim().to_owned()
}

/// The value of `#[serde(key = "value")]`.
pub(crate) fn serde(attributes: &[Attribute], key: &str) -> Option<String> {
    let mut found = None;
    for attribute in attributes.iter().filter(|it| it.path().is_ident("serde")) {
        // What serde itself refuses is none of our errors.
        let _ = attribute.parse_nested_meta(|meta| {
            let value = match meta.value() {
                Ok(value) => value.parse::<LitStr>()?.value(),
                Err(_) => return Ok(()),
            };
            if meta.path.is_ident(key) {
                found = Some(value);
            }
            Ok(())
        });
    }
    found
}

/// The name of a variant on the wire, and its name in a form: the text of the attribute
/// `label`, or else the same.
pub(crate) fn variant(
    variant: &Variant,
    rule: Option<&str>,
    label: &str,
) -> Result<(String, String)> {
    let wire = serde(&variant.attrs, "rename").unwrap_or_else(|| renamed(&variant.ident, rule));
    let attribute = variant.attrs.iter().find(|it| it.path().is_ident(label));
    let label = attribute.map(|it| it.parse_args::<LitStr>()).transpose()?;
    Ok((wire.clone(), label.map_or(wire, |label| label.value())))
}

/// The name of a variant as `rename_all` has it.
fn renamed(variant: &Ident, rule: Option<&str>) -> String {
    let name = variant.to_string();
    match rule {
        Some("lowercase") => name.to_lowercase(),
        Some(rule @ ("snake_case" | "kebab-case")) => {
            let mut words = String::new();
            for (at, letter) in name.char_indices() {
                if letter.is_uppercase() && at > 0 {
                    words.push(if rule == "snake_case" { '_' } else { '-' });
                }
                words.extend(letter.to_lowercase());
            }
            words
        }
        _ => name,
    }
}
