//! The programs that the search finds: what an evaluator runs and an emitter writes down.

use std::sync::Arc;

use super::convert::Convert;
use super::sample::Format;
use super::value::Value;

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
    Key(Arc<str>),
    /// Counted from 0.
    Index(usize),
    /// The last element.
    Last,
    /// The first element whose field, or field of a field, is the text `value`.
    Find {
        field: Arc<[Arc<str>]>,
        value: Arc<str>,
    },
    /// The document that a JSON text holds.
    Decode,
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
    Const(Value),
    Path(Path),
    Convert(Box<Expr>, Convert),
    /// Texts one after the other; an absent value is the empty text.
    Text(Vec<Piece>),
    Arithmetic(Operator, Box<Expr>, Box<Expr>),
    /// Which pass of its loop the scope is in, counted from `base`.
    Position {
        scope: usize,
        base: i64,
    },
    Object {
        base: Option<Base>,
        fields: Vec<(Arc<str>, Expr)>,
    },
    /// A list with a fixed number of parts; an absent element is null.
    List(Vec<Element>),
    /// One element per pass; a pass whose body is absent adds none.
    Map(Box<Map>),
    /// The elements as texts with `separator` between; absent when the list is.
    Join {
        list: Box<Expr>,
        separator: Arc<str>,
    },
    /// An object with one field per element. An absent or empty key adds none, an absent value takes the field away.
    FromPairs(Box<FromPairs>),
}

#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Words(String),
    Value(Expr),
}

#[derive(Debug, Clone)]
pub(crate) enum Element {
    One(Expr),
    /// The elements of a list, in its place.
    Spread(Expr),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
}

/// The fields that an object takes over from another, except the removed ones.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub(crate) path: Path,
    pub(crate) removed: Vec<Arc<str>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Map {
    /// Nested, the first outermost. Each opens a scope for the ones after it and for the body.
    pub(crate) loops: Vec<Loop>,
    pub(crate) body: Expr,
}

#[derive(Debug, Clone)]
pub(crate) struct Loop {
    pub(crate) source: Path,
    pub(crate) over: Over,
    pub(crate) filter: Option<Filter>,
    pub(crate) order: Option<Order>,
}

/// In which order a loop over a list takes the elements: by a field, numbers before texts.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) field: Arc<str>,
    pub(crate) descending: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// The elements of a list. In XML a value that is no list is a list of one.
    Items,
    /// The fields of an object as `{key, value}`, ordered by key.
    SortedFields,
    /// The same in the payload's order, which only JavaScript knows.
    Fields,
}

/// Which elements a loop takes; the path starts at the loop's own element.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    pub(crate) path: Path,
    pub(crate) test: Test,
}

#[derive(Debug, Clone)]
pub(crate) enum Test {
    Equals(Value),
    Differs(Value),
    /// There and not null.
    Present,
    /// A number above zero.
    Positive,
}

#[derive(Debug, Clone)]
pub(crate) struct FromPairs {
    pub(crate) list: Path,
    pub(crate) key: Expr,
    pub(crate) value: Expr,
}

impl Expr {
    pub(crate) fn convert(self, convert: Convert) -> Self {
        Self::Convert(Box::new(self), convert)
    }

    pub(crate) fn convert_all(self, converts: &[Convert]) -> Self {
        converts.iter().fold(self, |expr, convert| expr.convert(convert.clone()))
    }

    /// The same expression for a place where its outermost loop opens scope `to` in place of `from`.
    pub(crate) fn rescoped(self, from: usize, to: usize) -> Self {
        let path =
            |path: Path| Path { scope: if path.scope == from { to } else { path.scope }, ..path };
        match self {
            Self::Path(place) => Self::Path(path(place)),
            Self::Convert(inner, convert) => inner.rescoped(from, to).convert(convert),
            Self::Arithmetic(operator, left, right) => Self::Arithmetic(
                operator,
                Box::new(left.rescoped(from, to)),
                Box::new(right.rescoped(from, to)),
            ),
            Self::Map(map) => {
                Self::Map(Box::new(Map { body: map.body.rescoped(from, to), ..*map }))
            }
            Self::Join { list, separator } => {
                Self::Join { list: Box::new(list.rescoped(from, to)), separator }
            }
            other => other,
        }
    }

    /// The expressions directly inside, in reading order.
    pub(crate) fn children(&self) -> Vec<&Expr> {
        match self {
            Self::Const(_) | Self::Path(_) | Self::Position { .. } => Vec::new(),
            Self::Convert(inner, _) => vec![inner],
            Self::Text(pieces) => pieces
                .iter()
                .filter_map(|piece| match piece {
                    Piece::Value(expr) => Some(expr),
                    Piece::Words(_) => None,
                })
                .collect(),
            Self::Arithmetic(_, left, right) => vec![left, right],
            Self::Object { fields, .. } => fields.iter().map(|(_, expr)| expr).collect(),
            Self::List(elements) => elements
                .iter()
                .map(|element| match element {
                    Element::One(expr) | Element::Spread(expr) => expr,
                })
                .collect(),
            Self::Map(map) => vec![&map.body],
            Self::Join { list, .. } => vec![list],
            Self::FromPairs(pairs) => vec![&pairs.key, &pairs.value],
        }
    }

    /// The places that the expression itself reads, not those of its children.
    pub(crate) fn own_paths(&self) -> Vec<&Path> {
        match self {
            Self::Path(path) => vec![path],
            Self::Object { base: Some(base), .. } => vec![&base.path],
            Self::Map(map) => map.loops.iter().map(|looped| &looped.source).collect(),
            Self::FromPairs(pairs) => vec![&pairs.list],
            _ => Vec::new(),
        }
    }

    /// The first place in the payload that the expression reads.
    pub(crate) fn first_path(&self) -> Option<&Path> {
        self.own_paths()
            .into_iter()
            .next()
            .or_else(|| self.children().into_iter().find_map(Expr::first_path))
    }
}
