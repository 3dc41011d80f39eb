//! The programs that the search finds: what an evaluator runs and an emitter writes down.

use super::convert::Convert;
use super::json::{Json, is_scalar, to_text};
use super::sample::Format;

/// A whole function: read a payload, build a value, write it.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) input: Format,
    pub(crate) output: Format,
    pub(crate) body: Expr,
}

/// One step from a value into it. A step that does not fit the value leads nowhere.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    Key(String),
    /// Counted from 0.
    Index(usize),
}

/// A place in the payload, or in the element that a loop is at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path {
    /// 0 is the payload, `n` the element of the `n`-th enclosing loop, counted from the outside.
    pub(crate) scope: usize,
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug, Clone)]
pub(crate) enum Expr {
    Const(Json),
    Path(Path),
    Convert(Box<Expr>, Convert),
    /// Texts one after the other; an absent value is the empty text.
    Text(Vec<Piece>),
    Object(Vec<(String, Expr)>),
    /// A list with a fixed number of elements; an absent element is null.
    List(Vec<Expr>),
    /// One element per pass; a pass whose body is absent adds none.
    Map(Box<Map>),
}

#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Words(String),
    Value(Expr),
}

#[derive(Debug, Clone)]
pub(crate) struct Map {
    /// Nested, the first outermost. Each opens a scope for the ones after it and for the body.
    pub(crate) loops: Vec<Loop>,
    pub(crate) body: Expr,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Loop {
    pub(crate) source: Path,
    pub(crate) filter: Option<Filter>,
    pub(crate) order: Option<Order>,
}

/// The elements that a loop takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filter {
    pub(crate) field: Vec<String>,
    pub(crate) test: Test,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    Equals(Json),
    Differs(Json),
    /// A number, or a text that is one, of this size and more.
    AtLeast(f64),
    Below(f64),
}

/// The order of a loop's elements: numbers before texts, and both before the rest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Order {
    pub(crate) field: Vec<String>,
    pub(crate) descending: bool,
}

impl Path {
    /// One for the place, and two for each element that is chosen on the way.
    fn size(&self) -> usize {
        1 + 2 * self.steps.iter().filter(|step| !matches!(step, Step::Key(_))).count()
    }
}

impl Loop {
    pub(crate) fn plain(source: Path) -> Self {
        Self { source, filter: None, order: None }
    }

    fn size(&self) -> usize {
        let filter = if self.filter.is_some() { 2 } else { 0 };
        self.source.size() + 1 + filter + usize::from(self.order.is_some())
    }
}

impl Expr {
    pub(crate) fn convert_all(self, converts: &[Convert]) -> Self {
        converts.iter().fold(self, |expr, convert| Self::Convert(Box::new(expr), convert.clone()))
    }

    /// How large the function is: 1 for each place that it reads, each conversion, loop and order, 2 for each filter
    /// and for each element that it chooses, and 1 for each character that it spells out.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Const(value) => constant_size(value),
            Self::Path(path) => path.size(),
            Self::Convert(inner, _) => 1 + inner.size(),
            Self::Text(pieces) => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Words(words) => words.chars().count(),
                    Piece::Value(expr) => expr.size(),
                })
                .sum(),
            Self::Object(fields) => fields.iter().map(|(_, expr)| 1 + expr.size()).sum(),
            Self::List(items) => items.iter().map(Self::size).sum(),
            Self::Map(map) => map.loops.iter().map(Loop::size).sum::<usize>() + map.body.size(),
        }
    }

    /// The expressions directly inside, in reading order.
    pub(crate) fn children(&self) -> Vec<&Self> {
        match self {
            Self::Const(_) | Self::Path(_) => Vec::new(),
            Self::Convert(inner, _) => vec![inner],
            Self::Text(pieces) => pieces
                .iter()
                .filter_map(|piece| match piece {
                    Piece::Value(expr) => Some(expr),
                    Piece::Words(_) => None,
                })
                .collect(),
            Self::Object(fields) => fields.iter().map(|(_, expr)| expr).collect(),
            Self::List(items) => items.iter().collect(),
            Self::Map(map) => vec![&map.body],
        }
    }

    /// Whether the expression reads a scope from number `from` on.
    pub(crate) fn reads(&self, from: usize) -> bool {
        match self {
            Self::Path(path) => path.scope >= from,
            Self::Map(map) if map.loops.iter().any(|looped| looped.source.scope >= from) => true,
            _ => self.children().into_iter().any(|child| child.reads(from)),
        }
    }
}

fn constant_size(value: &Json) -> usize {
    match value {
        Json::Null | Json::Bool(_) => 1,
        Json::String(text) => 1 + text.chars().count(),
        Json::Array(items) => 1 + items.iter().map(constant_size).sum::<usize>(),
        Json::Object(object) => {
            1 + object.values().map(|item| 1 + constant_size(item)).sum::<usize>()
        }
        number => to_text(number).map_or(1, |text| text.len()),
    }
}

/// The part of a value that these names lead to.
pub(crate) fn field<'v>(value: &'v Json, names: &[String]) -> Option<&'v Json> {
    names.iter().try_fold(value, |value, name| value.as_object()?.get(name))
}

/// The places of the scalars in an element, two levels deep, `most` at most.
pub(crate) fn scalar_fields(element: &Json, most: usize) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let Some(object) = element.as_object() else { return found };
    for (name, value) in object {
        if is_scalar(value) {
            found.push(vec![name.clone()]);
        } else if let Some(inner) = value.as_object() {
            let inner = inner.iter().filter(|(_, value)| is_scalar(value));
            found.extend(inner.map(|(below, _)| vec![name.clone(), below.clone()]));
        }
    }
    found.truncate(most);
    found
}
