//! `docs/options.md`, made from the declarations of configured things.

use std::{fmt::Write, time::Duration};

use serde_json::{Value, json};
use webhook_core::model::{
    Described,
    described::{Field, Shape, duration_text},
};

use crate::openapi::bounds::{configured, keywords, state_described};

const INTRODUCTION: &str = "\
# Options of configured things

Each table has the fields that a caller may write of one kind of thing. The place of a field is
its path in the JSON of the [API](interface.md) and in a [manifest](manifest.md). A form of the
[dashboard](dashboard.md) has the same fields under the names of the second column; a field
without a name there is on a page of its own, or only in the API. Durations are nanoseconds in the
API and in a manifest, and texts such as `30s` in a form. The store encrypts fields with a lock
(🔒).

This page is made from the declarations of the fields in `webhook-core/src/model/config/`:
`UPDATE_DOCS=1 cargo test -p webhook-server options` writes it again.
";

/// The page for these kinds of things.
fn page(kinds: &[(&str, &dyn Described)]) -> String {
    let mut page = INTRODUCTION.to_owned();
    for (name, spec) in kinds {
        write!(page, "\n## {name}\n\n| place | in a form | value | |\n|---|---|---|---|\n")
            .expect("a string takes everything");
        rows(&mut page, *spec, "", false);
    }
    page
}

fn rows(page: &mut String, object: &dyn Described, place: &str, is_sealed: bool) {
    for (field, value) in object.fields() {
        let here = format!("{place}{}", field.name);
        let shape = value.shape();
        let is_sealed = is_sealed || field.sealed || shape == Shape::Secret;
        let lock = if is_sealed { " 🔒" } else { "" };
        let help = field.help.replace('|', "\\|");
        let value_text = said(field, shape).replace('|', "\\|");
        writeln!(page, "| `{here}`{lock} | {} | {value_text} | {help} |", field.label)
            .expect("a string takes everything");
        let Some(mut part) = value.blank() else { continue };
        let row = if shape == Shape::Rows { "[]." } else { "." };
        let kinds = part.kinds();
        if kinds.is_empty() {
            rows(page, &*part, &format!("{here}{row}"), is_sealed);
        }
        for (kind, label) in kinds {
            part.set_kind(kind);
            writeln!(page, "| `{here}.type` | By | `{kind}` | {label} |")
                .expect("a string takes everything");
            rows(page, &*part, &format!("{here}{row}"), is_sealed);
        }
    }
}

/// The bounds of a duration, as people type it.
fn durations(field: &Field) -> String {
    let text = |nanos: i64| duration_text(Duration::from_nanos(nanos.unsigned_abs()));
    let zero = if field.or_zero { " 0 or" } else { "" };
    match field.range {
        Some((least, i64::MAX)) => format!("{zero} from {}", text(least)),
        Some((0, most)) => format!(", at most {}", text(most)),
        Some((least, most)) => format!("{zero} from {} to {}", text(least), text(most)),
        None => String::new(),
    }
}

/// The values that a field can have.
fn said(field: &Field, shape: Shape) -> String {
    let keywords = keywords(field, shape);
    let number = |keywords: &Value, name: &str| keywords[name].as_i64();
    let range = |of: &Value| match (number(of, "minimum"), number(of, "maximum")) {
        (Some(least), Some(i64::MAX)) => format!(" from {least}"),
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        _ => String::new(),
    };
    let at_most = |what: &str| match field.max {
        0 => String::new(),
        max => format!(", at most {max} {what}"),
    };
    let zero = if field.or_zero && field.range.is_some_and(|(least, _)| least > 0) {
        let least = field.range.map_or(0, |(least, _)| least);
        format!(", 0 or at least {least}")
    } else {
        String::new()
    };
    match shape {
        Shape::Text | Shape::Secret => format!("text{}", at_most("bytes")),
        Shape::Flag => "`true` or `false`".to_owned(),
        Shape::Whole => format!("whole number{}{zero}", range(&keywords)),
        Shape::Decimal => "number".to_owned(),
        Shape::Duration => format!("duration{}", durations(field)),
        Shape::Durations => format!("durations{}{}", durations(field), at_most("of them")),
        Shape::Moment => "moment".to_owned(),
        Shape::Headers => format!("headers{}", at_most("values")),
        Shape::Choice(names) => {
            let names = names.iter().map(|(name, _)| format!("`{name}`"));
            names.collect::<Vec<_>>().join(", ")
        }
        Shape::Texts => format!("list{}", at_most("entries")),
        Shape::Pairs => format!("names and values{}", at_most("entries")),
        Shape::Reference => "identifier".to_owned(),
        Shape::Rows => format!("list of objects{}", at_most("of them")),
        Shape::Json | Shape::Object => "object".to_owned(),
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
fn options_are_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/options.md");
    let kinds = configured();
    let kinds: Vec<_> = kinds.iter().filter(|(name, _)| !name.ends_with("Request")).collect();
    let kinds: Vec<_> = kinds.iter().map(|(name, spec)| (*name, &**spec)).collect();
    let expected = page(&kinds);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &expected).expect("docs/options.md is writable");
    }
    let found = std::fs::read_to_string(path).expect("docs/options.md is there");
    assert_eq!(found, expected, "run the test again with UPDATE_DOCS=1");
}

#[test]
fn a_field_is_in_the_page_and_the_document_because_it_is_declared() {
    let output = webhook_conformance::ExtendedOutput::default();
    let page = page(&[("Output", &output)]);
    let row = "| `watchers` 🔒 | Watchers | whole number from 0 to 9, 0 or at least 1 | \
               The number of people who watch this output. |";
    assert!(page.lines().any(|line| line == row), "{page}");
    let mut schemas = json!({ "Output": { "properties": { "watchers": { "type": "integer" } } } });
    let schemas = schemas.as_object_mut().expect("an object");
    state_described(schemas, "Output", &output);
    let stated = json!({ "type": "integer", "minimum": 0, "maximum": 9 });
    assert_eq!(schemas["Output"]["properties"]["watchers"], stated);
}
