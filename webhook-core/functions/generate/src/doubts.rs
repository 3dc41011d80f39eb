//! What a found program cannot know: values that are explained only as a constant, by a position, or by an order.

use super::program::{Element, Expr, Path, Piece, Program, Step};
use super::sample::Format;
use super::value::Value;

/// Doubts that are named; there may be as many as values.
const MAX_NAMED: usize = 20;
/// Characters of a place that are shown.
const MAX_PLACE_CHARS: usize = 80;

/// The doubts about a program that explains so many samples.
pub(crate) fn doubts(program: &Program, samples: usize) -> Vec<String> {
    let mut walk = Walk { input: program.input, samples, doubts: Vec::new() };
    walk.value(&program.body, "");
    let Walk { mut doubts, .. } = walk;
    let more = doubts.len().saturating_sub(MAX_NAMED);
    doubts.truncate(MAX_NAMED);
    if more > 0 {
        doubts.push(format!(
            "{more} more values that are the same, or at the same place, for every payload"
        ));
    }
    doubts
}

struct Walk {
    input: Format,
    samples: usize,
    doubts: Vec<String>,
}

impl Walk {
    fn value(&mut self, expr: &Expr, place: &str) {
        match expr {
            Expr::Const(value) => self.constant(value, place),
            Expr::Object { base, fields } => {
                if let Some(base) = base {
                    self.path(&base.path, place);
                }
                for (name, field) in fields {
                    let dot = if place.is_empty() { "" } else { "." };
                    self.value(field, &format!("{place}{dot}{name}"));
                }
            }
            Expr::List(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    let (Element::One(inner) | Element::Spread(inner)) = element;
                    self.value(inner, &format!("{place}[{index}]"));
                }
            }
            Expr::Map(map) => {
                for looped in &map.loops {
                    self.path(&looped.source, place);
                    if let Some(order) = looped.order.as_ref().filter(|_| self.samples < 2) {
                        self.doubt(place, &format!("always in the order of {}", order.field));
                    }
                }
                self.value(&map.body, &format!("{place}[]"));
            }
            Expr::FromPairs(pairs) => {
                self.path(&pairs.list, place);
                self.value(&pairs.value, &format!("{place}[]"));
            }
            Expr::Path(path) => self.path(path, place),
            Expr::Text(pieces) => {
                for piece in pieces {
                    if let Piece::Value(expr) = piece {
                        self.value(expr, place);
                    }
                }
            }
            Expr::Convert(..) | Expr::Arithmetic(..) | Expr::Join { .. } => {
                for child in expr.children() {
                    self.value(child, place);
                }
            }
            Expr::Position { .. } => {}
        }
    }

    fn constant(&mut self, value: &Value, place: &str) {
        match value {
            Value::Object(object) => {
                for (name, value) in object.iter() {
                    let dot = if place.is_empty() { "" } else { "." };
                    self.constant(value, &format!("{place}{dot}{name}"));
                }
            }
            Value::List(items) if !items.is_empty() => {
                for (index, value) in items.iter().enumerate() {
                    self.constant(value, &format!("{place}[{index}]"));
                }
            }
            scalar => {
                // That several samples agree on a text is no chance; on a number or a flag it may be.
                let telling = scalar.as_text().is_some_and(|text| text.len() > 2);
                if self.samples < if telling { 2 } else { 3 } {
                    self.doubt(place, "the same for every payload");
                }
            }
        }
    }

    fn path(&mut self, path: &Path, place: &str) {
        // In a form every value is a list, and in XML every element may be one.
        let fixed = |step: &Step| matches!(step, Step::Index(_) | Step::Last);
        let by_position = self.input == Format::Json && path.steps.iter().any(fixed);
        if by_position && self.samples < 2 {
            self.doubt(place, "always at the same position of a list");
        }
    }

    fn doubt(&mut self, place: &str, why: &str) {
        let place = if place.is_empty() { "the output" } else { place };
        let shown = place.chars().take(MAX_PLACE_CHARS);
        let shown: String = shown
            .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
            .collect();
        let doubt = format!("{shown}: {why}");
        if self.doubts.last() != Some(&doubt) {
            self.doubts.push(doubt);
        }
    }
}
