//! What the comments of the written source say.

use super::super::convert::Convert;
use super::super::program::{Expr, Filter, Loop, Path, Step, Test};
use super::super::sample::Format;

/// What the variable that holds the payload is called.
pub(super) fn payload(input: Format) -> &'static str {
    match input {
        Format::Form => "form",
        Format::Json | Format::Xml | Format::Text => "body",
    }
}

/// The place as a reader would write it: `body.customer.address`.
pub(super) fn place(path: &Path, scopes: &[&str]) -> String {
    let mut out = scopes.get(path.scope).copied().unwrap_or("body").to_owned();
    for step in &path.steps {
        match step {
            Step::Key(key) => {
                out.push('.');
                out.push_str(&plain(key));
            }
            Step::Index(index) => out.push_str(&format!("[{index}]")),
            Step::Last => out.push_str("[last]"),
            Step::Find { field, value } => {
                out.push_str(&format!("[{} = {}]", plain(&field.join(".")), plain(value)))
            }
            Step::Decode => {}
        }
    }
    out
}

/// Names from a payload go into a comment without anything that could end it.
fn plain(name: &str) -> String {
    name.chars()
        .take(60)
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect()
}

/// What a run of fields has in common; empty where there is nothing to say.
pub(super) fn group(expr: &Expr, scopes: &[&str]) -> String {
    match expr {
        Expr::Const(_) => "the same for every payload".to_owned(),
        Expr::Text(_) => "composed texts".to_owned(),
        Expr::Path(path) => origin(path, scopes),
        Expr::Convert(_, Convert::Time { .. }) => "dates and times".to_owned(),
        Expr::Convert(
            _,
            Convert::Count
            | Convert::Sum
            | Convert::Min
            | Convert::Max
            | Convert::CountBy(_)
            | Convert::SumBy { .. },
        )
        | Expr::Arithmetic(..) => "calculated".to_owned(),
        Expr::Convert(inner, _) => group(inner, scopes),
        Expr::Map(_) | Expr::FromPairs(_) => "made above".to_owned(),
        Expr::Object { .. } | Expr::List(_) | Expr::Join { .. } => expr
            .first_path()
            .filter(|path| path.scope < scopes.len())
            .map(|path| origin(path, scopes))
            .unwrap_or_default(),
        Expr::Position { .. } => String::new(),
    }
}

/// The object that a field is taken from.
fn origin(path: &Path, scopes: &[&str]) -> String {
    let keys = path.steps.iter().take_while(|step| matches!(step, Step::Key(_))).count();
    let kept = if keys == path.steps.len() { keys.saturating_sub(1) } else { keys };
    let steps = path.steps.iter().take(kept).cloned().collect();
    format!("from {}", place(&Path { scope: path.scope, steps }, scopes))
}

/// What a loop over a list makes.
pub(super) fn of_loops(name: &str, loops: &[Loop], scopes: &[&str]) -> String {
    let Some((first, inner)) = loops.split_first() else { return String::new() };
    let mut out =
        format!("{}: one element for each of {}", plain(name), place(&first.source, scopes));
    for looped in inner {
        out.push_str(&format!(
            ", and in it each of {}",
            place(&Path { scope: 0, ..looped.source.clone() }, &["its"])
                .replacen("its.", "its ", 1)
        ));
    }
    if let Some(order) = &first.order {
        let from = if order.descending { ", the largest first" } else { "" };
        out.push_str(&format!(" by its {}{from}", plain(&order.field)));
    }
    if let Some(Filter { path, test }) = loops.iter().find_map(|looped| looped.filter.as_ref()) {
        let field = place(&Path { scope: 0, ..path.clone() }, &["its"]).replacen("its.", "", 1);
        out.push_str(&match test {
            Test::Equals(value) => format!(" where {field} is {}", shown(value)),
            Test::Differs(value) => format!(" where {field} is not {}", shown(value)),
            Test::Present => format!(" that has {field}"),
            Test::Positive => format!(" where {field} is above zero"),
        });
    }
    out
}

fn shown(value: &super::super::value::Value) -> String {
    plain(&value.to_text().unwrap_or_else(|| "null".to_owned()))
}

/// What a loop over pairs makes.
pub(super) fn of_pairs(name: &str, list: &Path, scopes: &[&str]) -> String {
    format!("{}: one field for each of {}", plain(name), place(list, scopes))
}
