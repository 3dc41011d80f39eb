//! Writing expressions, with the statements that they need before them.

use std::collections::BTreeSet;

use super::super::convert::Convert;
use super::super::program::{Element, Expr, Operator, Path, Piece, Program, Step};
use super::super::sample::Format;
use super::super::value::Value;
use super::identifiers::Identifiers;
use super::{Dialect, EmitError, TextPart, calls, comments, indented, is_text, may_be_absent};

/// Lua has room for 200 local variables in a function, of which the helpers take some.
const MAX_LISTS: usize = 120;

/// What the variables of a scope are called.
pub(super) struct ScopeNames {
    pub(super) item: String,
    pub(super) position: Option<String>,
    /// A loop over fields has these in place of the item.
    pub(super) entry: Option<(String, String)>,
}

impl ScopeNames {
    pub(super) fn of(item: &str) -> Self {
        Self { item: item.to_owned(), position: None, entry: None }
    }
}

pub(super) struct Writer<'d, D: Dialect> {
    pub(super) dialect: &'d D,
    input: Format,
    pub(super) helpers: BTreeSet<&'static str>,
    pub(super) identifiers: Identifiers,
    pub(super) scopes: Vec<ScopeNames>,
    lists: usize,
    /// Statements, one block for each open loop; the last is written to.
    pub(super) blocks: Vec<Vec<String>>,
}

/// What has been written besides the result.
pub(super) struct Statements {
    pub(super) helpers: BTreeSet<&'static str>,
    pub(super) lines: Vec<String>,
}

impl<'d, D: Dialect> Writer<'d, D> {
    pub(super) fn new(dialect: &'d D, input: Format) -> Self {
        Self {
            dialect,
            input,
            helpers: BTreeSet::new(),
            identifiers: Identifiers::new(dialect.reserved()),
            scopes: vec![ScopeNames::of(comments::payload(input))],
            lists: 0,
            blocks: vec![Vec::new()],
        }
    }

    pub(super) fn finish(mut self) -> Result<Statements, EmitError> {
        if self.lists > MAX_LISTS {
            return Err(EmitError::TooManyLists);
        }
        Ok(Statements { helpers: self.helpers, lines: self.blocks.pop().unwrap_or_default() })
    }
}

impl<D: Dialect> Writer<'_, D> {
    pub(super) fn scope_names(&self) -> Vec<&str> {
        self.scopes.iter().map(|scope| scope.item.as_str()).collect()
    }

    pub(super) fn statement(&mut self, statement: String) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(statement);
        }
    }

    pub(super) fn call(&mut self, helper: &'static str, arguments: &[&str]) -> String {
        self.helpers.insert(helper);
        format!("{helper}({})", arguments.join(", "))
    }

    pub(super) fn result(&mut self, program: &Program) -> String {
        let body = self.expr(&program.body, "out", 0);
        match program.output {
            Format::Text if !is_text(&program.body) => self.call("text", &[&body]),
            Format::Json if may_be_absent(&program.body) => {
                self.dialect.or_null(&body, &mut self.helpers)
            }
            _ => body,
        }
    }

    /// The expression; lists and the like become statements before it. `name` is what it is called, `level` how many
    /// objects are around it.
    pub(super) fn expr(&mut self, expr: &Expr, name: &str, level: usize) -> String {
        match expr {
            Expr::Const(value) => self.dialect.constant(value),
            Expr::Path(path) => self.path(path),
            Expr::Convert(inner, convert) => {
                let inner = self.expr(inner, name, level);
                self.convert(inner, convert)
            }
            Expr::Text(pieces) => self.composed(pieces, name, level),
            Expr::Arithmetic(operator, left, right) => {
                let (left, right) = (self.expr(left, name, level), self.expr(right, name, level));
                let helper = match operator {
                    Operator::Add => "add",
                    Operator::Subtract => "subtract",
                    Operator::Multiply => "multiply",
                };
                self.call(helper, &[&left, &right])
            }
            Expr::Position { scope, base } => {
                let position = self.scopes.get(*scope).and_then(|scope| scope.position.clone());
                self.dialect.position(&position.unwrap_or_default(), *base)
            }
            Expr::Object { base: None, fields } if fields.is_empty() => "{}".to_owned(),
            Expr::Object { base: None, fields } => {
                let fields = self.fields(fields, level);
                format!("{{\n  {}\n}}", indented(&fields.join("\n")))
            }
            Expr::Object { base: Some(base), fields } => {
                let source = self.path(&base.path);
                let removed: Vec<String> =
                    base.removed.iter().map(|name| self.dialect.text(name)).collect();
                let arguments: Vec<&str> = [source.as_str()]
                    .into_iter()
                    .chain(removed.iter().map(String::as_str))
                    .collect();
                let copy = self.call("copy", &arguments);
                let object = self.hoist(name, &copy, None);
                for (field, expr) in fields {
                    let value = self.expr(expr, field, level + 1);
                    let key = self.dialect.text(field);
                    let set = self.dialect.set(&object, &key, &value);
                    self.statement(set);
                }
                object
            }
            Expr::List(elements) => self.list(elements, name, level),
            Expr::Map(map) => self.map(map, name, level),
            Expr::Join { list, separator } => {
                let list = self.expr(list, name, level);
                let separator = self.dialect.text(separator);
                self.call("join", &[&list, &separator])
            }
            Expr::FromPairs(pairs) => self.keyed(pairs, name, level),
        }
    }

    fn fields(&mut self, fields: &[(std::sync::Arc<str>, Expr)], level: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let mut group = String::new();
        for (field, expr) in fields {
            if level < 2 && fields.len() > 1 {
                let next = comments::group(expr, &self.scope_names());
                if next != group && !next.is_empty() {
                    lines.push(self.dialect.comment(&next));
                }
                group = next;
            }
            let value = self.expr(expr, field, level + 1);
            lines.push(format!("{}{},", self.dialect.field(field), value));
        }
        lines
    }

    fn composed(&mut self, pieces: &[Piece], name: &str, level: usize) -> String {
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            parts.push(match piece {
                Piece::Words(words) => TextPart::Words(words.clone()),
                Piece::Value(expr) => {
                    let value = self.expr(expr, name, level);
                    let value = if is_text(expr) { value } else { self.call("text", &[&value]) };
                    TextPart::Value(value)
                }
            });
        }
        self.dialect.concatenate(&parts)
    }

    fn list(&mut self, elements: &[Element], name: &str, level: usize) -> String {
        if elements.iter().any(|element| matches!(element, Element::Spread(_))) {
            let list = self.hoist(name, self.dialect.empty_list(), None);
            for element in elements {
                match element {
                    Element::One(expr) => {
                        let value = self.expr(expr, name, level + 1);
                        let value = self.or_null(expr, value);
                        let push = self.dialect.push(&list, &value);
                        self.statement(push);
                    }
                    Element::Spread(expr) => {
                        let value = self.expr(expr, &format!("{name}_items"), level + 1);
                        for line in self.dialect.spread(&list, &value) {
                            self.statement(line);
                        }
                    }
                }
            }
            return list;
        }
        let mut lines = Vec::new();
        for element in elements {
            if let Element::One(expr) = element {
                let value = self.expr(expr, name, level + 1);
                lines.push(format!("{},", self.or_null(expr, value)));
            }
        }
        let (open, close) = self.dialect.list_braces();
        format!("{open}\n  {}\n{close}", indented(&lines.join("\n")))
    }

    fn or_null(&mut self, expr: &Expr, value: String) -> String {
        if may_be_absent(expr) { self.dialect.or_null(&value, &mut self.helpers) } else { value }
    }

    /// Declares a variable before the expression that is being written, and gives its name.
    pub(super) fn hoist(&mut self, name: &str, value: &str, comment: Option<String>) -> String {
        self.lists += 1;
        let variable = self.identifiers.fresh(name, "items");
        if let Some(comment) = comment {
            if self.blocks.len() == 1 && self.blocks.last().is_some_and(|block| !block.is_empty()) {
                self.statement(String::new());
            }
            let comment = self.dialect.comment(&comment);
            self.statement(comment);
        }
        let local = self.dialect.local(&variable, value);
        self.statement(local);
        variable
    }

    fn convert(&mut self, value: String, convert: &Convert) -> String {
        calls::of(convert, self.dialect, value, &mut self.helpers)
    }

    pub(super) fn path(&mut self, path: &Path) -> String {
        let Some(scope) = self.scopes.get(path.scope) else {
            return self.dialect.constant(&Value::Null);
        };
        let mut steps = path.steps.as_slice();
        let mut at = scope.item.clone();
        if let (Some((key, value)), Some((first, rest))) = (&scope.entry, steps.split_first()) {
            at = if matches!(first, Step::Key(name) if name.as_ref() == "key") {
                key.clone()
            } else {
                value.clone()
            };
            steps = rest;
        }
        while let Some(step) = steps.first() {
            let plain = steps
                .iter()
                .take_while(|step| matches!(step, Step::Key(_) | Step::Index(_)))
                .count();
            if plain > 0 {
                let (run, rest) = steps.split_at(plain);
                at = self.dialect.member(&at, run, self.input, &mut self.helpers);
                steps = rest;
                continue;
            }
            at = match step {
                Step::Last => self.call("last", &[&at]),
                Step::Find { field, value } => {
                    let names = field.iter().chain([value]).map(|name| self.dialect.text(name));
                    let arguments: Vec<String> = [at].into_iter().chain(names).collect();
                    self.call("find", &arguments.iter().map(String::as_str).collect::<Vec<_>>())
                }
                _ => self.call("parse_json", &[&at]),
            };
            steps = steps.get(1..).unwrap_or_default();
        }
        at
    }
}
