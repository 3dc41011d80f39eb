//! Writing a program down as source that a person would read: once for both languages, which differ in their
//! [`Dialect`].

mod calls;
mod comments;
mod helpers;
mod identifiers;
mod js;
mod js_helpers;
mod js_text_helpers;
mod loops;
mod lua;
mod lua_helpers;
mod lua_number_helpers;
mod lua_text_helpers;
mod reserved;
mod writer;

use std::collections::BTreeSet;

use super::convert::Convert;
use super::program::{Expr, Program, Step};
use super::sample::Format;
use super::value::Value;
use writer::Writer;

pub(crate) use js::JavaScript;
pub(crate) use lua::Lua;

/// Why a program cannot be written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmitError {
    /// More lists than the language has room for variables.
    TooManyLists,
}

/// A part of a composed text.
pub(super) enum TextPart {
    Words(String),
    /// An expression that is a text.
    Value(String),
}

/// How a language writes things. Expressions may span lines; the first is not indented.
pub(super) trait Dialect {
    fn comment(&self, text: &str) -> String;
    fn text(&self, text: &str) -> String;
    fn constant(&self, value: &Value) -> String;
    /// The names that must not be used for variables.
    fn reserved(&self) -> &'static [&'static str];
    /// Steps by key and index only.
    fn member(
        &self,
        base: &str,
        steps: &[Step],
        input: Format,
        helpers: &mut BTreeSet<&'static str>,
    ) -> String;
    fn concatenate(&self, parts: &[TextPart]) -> String;
    fn field(&self, name: &str) -> String;
    fn list_braces(&self) -> (&'static str, &'static str);
    fn local(&self, name: &str, value: &str) -> String;
    fn empty_list(&self) -> &'static str;
    fn for_items(&self, item: &str, position: Option<&str>, list: &str) -> String;
    /// Opens a loop over an object's fields.
    fn for_fields(&self, key: &str, value: &str, object: &str, sorted: bool) -> Vec<String>;
    fn condition(&self, condition: &str) -> String;
    fn close(&self) -> &'static str;
    /// A call as a statement.
    fn run(&self, call: &str) -> String;
    fn push(&self, list: &str, value: &str) -> String;
    fn set(&self, object: &str, key: &str, value: &str) -> String;
    fn spread(&self, list: &str, from: &str) -> Vec<String>;
    fn equals(&self, left: &str, right: &str, negated: bool) -> String;
    fn present(&self, value: &str) -> String;
    fn or_null(&self, value: &str, helpers: &mut BTreeSet<&'static str>) -> String;
    fn lookup(&self, table: &[(Value, Value)], value: &str) -> String;
    fn position(&self, name: &str, base: i64) -> String;
    /// The finished source around the statements.
    fn source(
        &self,
        program: &Program,
        helpers: &BTreeSet<&'static str>,
        statements: &[String],
        result: &str,
    ) -> String;
}

/// Writes the program in the dialect's language.
pub(crate) fn emit(program: &Program, dialect: &impl DialectOf) -> Result<String, EmitError> {
    dialect.emit(program)
}

/// The languages that [`emit`] knows.
pub(crate) trait DialectOf {
    /// Writes the program down.
    fn emit(&self, program: &Program) -> Result<String, EmitError>;
}

impl<D: Dialect> DialectOf for D {
    fn emit(&self, program: &Program) -> Result<String, EmitError> {
        let mut writer = Writer::new(self, program.input);
        let result = writer.result(program);
        let statements = writer.finish()?;
        Ok(self.source(program, &statements.helpers, &statements.lines, &result))
    }
}

/// Puts the lines after the first one step further in.
fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}

/// Whether the expression is a text for every payload.
fn is_text(expr: &Expr) -> bool {
    match expr {
        Expr::Text(_) | Expr::Const(Value::Text(_)) => true,
        Expr::Join { list, .. } => matches!(list.as_ref(), Expr::Map(_)),
        _ => false,
    }
}

/// Whether the expression has no value for some payloads.
fn may_be_absent(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_)
        | Expr::Text(_)
        | Expr::Object { .. }
        | Expr::List(_)
        | Expr::Map(_)
        | Expr::FromPairs(_) => false,
        Expr::Position { .. } => false,
        Expr::Convert(_, convert) => !matches!(
            convert,
            Convert::Count
                | Convert::Sum
                | Convert::CountBy(_)
                | Convert::SumBy { .. }
                | Convert::Equals(_)
                | Convert::Default(_)
        ),
        Expr::Path(_) | Expr::Arithmetic(..) | Expr::Join { .. } => true,
    }
}
