//! Writing a program down as source that a person would read, in Lua or JavaScript.

mod helpers;
mod syntax;

use super::convert::{Convert, TimeForm};
use super::program::{Expr, Filter, Loop, Map, Path, Piece, Program, Step, Test};
use super::sample::Format;
use syntax::Syntax;

/// The program in Lua.
pub(crate) fn lua(program: &Program, remarks: &[String]) -> String {
    source(program, remarks, Syntax::Lua)
}

/// The program in JavaScript.
pub(crate) fn javascript(program: &Program, remarks: &[String]) -> String {
    source(program, remarks, Syntax::JavaScript)
}

fn source(program: &Program, remarks: &[String], syntax: Syntax) -> String {
    let body = Writer { syntax, scopes: vec!["body".to_owned()] }.expr(&program.body);
    let body = match program.output {
        Format::Text if !matches!(program.body, Expr::Text(_)) => format!("text({body})"),
        _ if may_be_absent(&program.body) => syntax.or_null(&body),
        _ => body,
    };
    let main = syntax.main(program.input, program.output, &body);
    let of = match syntax {
        Syntax::Lua => helpers::LUA,
        Syntax::JavaScript => helpers::JAVASCRIPT,
    };
    let helpers = helpers::sources(&main, of);
    let mut intro = vec![format!("Makes {} of {}.", program.output.name(), program.input.name())];
    intro.extend(remarks.iter().cloned());
    let intro: Vec<String> = intro.iter().map(|line| syntax.comment(line)).collect();
    let modules = syntax.modules(&format!("{helpers}\n{main}"));
    let blocks = match syntax {
        Syntax::Lua => [intro.join("\n"), modules, helpers, main],
        Syntax::JavaScript => [intro.join("\n"), modules, main, helpers],
    };
    let blocks: Vec<String> = blocks.into_iter().filter(|block| !block.is_empty()).collect();
    blocks.join("\n\n") + "\n"
}

/// Whether the expression has no value for some payloads.
fn may_be_absent(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) => true,
        Expr::Convert(_, convert) => !matches!(
            convert,
            Convert::Count | Convert::Sum(_) | Convert::CountBy(_) | Convert::SumBy { .. }
        ),
        _ => false,
    }
}

struct Writer {
    syntax: Syntax,
    /// What the payload and the elements of the open loops are called.
    scopes: Vec<String>,
}

impl Writer {
    fn expr(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Const(value) => self.syntax.constant(value),
            Expr::Path(path) => self.path(path),
            Expr::Convert(inner, convert) => {
                let inner = self.expr(inner);
                self.convert(&inner, convert)
            }
            Expr::Text(pieces) => {
                let parts = pieces.iter().map(|piece| match piece {
                    Piece::Words(words) => (true, words.clone()),
                    Piece::Value(expr) => (false, format!("text({})", self.expr(expr))),
                });
                let parts: Vec<(bool, String)> = parts.collect();
                self.syntax.concatenate(&parts)
            }
            Expr::Object(fields) => {
                let lines = fields.iter().map(|(name, expr)| {
                    let value = self.expr(expr);
                    format!("{}{value},", self.syntax.field(name))
                });
                let lines: Vec<String> = lines.collect();
                syntax::block("{", &lines, "}")
            }
            Expr::List(items) => {
                let lines = items.iter().map(|item| {
                    let value = self.expr(item);
                    let value =
                        if may_be_absent(item) { self.syntax.or_null(&value) } else { value };
                    format!("{value},")
                });
                let lines: Vec<String> = lines.collect();
                let (open, close) = self.syntax.list_braces();
                syntax::block(open, &lines, close)
            }
            Expr::Map(map) => self.map(map),
        }
    }

    fn map(&mut self, map: &Map) -> String {
        self.pass(&map.loops, &map.body)
    }

    fn pass(&mut self, loops: &[Loop], body: &Expr) -> String {
        let Some((looped, inner)) = loops.split_first() else { return self.expr(body) };
        let list = self.items(looped);
        let item = match self.scopes.len() {
            1 => "item".to_owned(),
            depth => format!("item{depth}"),
        };
        self.scopes.push(item.clone());
        let made = self.pass(inner, body);
        self.scopes.pop();
        let made = format!("each({list}, {})", self.syntax.function(&item, &made));
        if inner.is_empty() { made } else { format!("flat({made})") }
    }

    /// The elements that a loop takes.
    fn items(&self, looped: &Loop) -> String {
        let mut list = self.path(&looped.source);
        let names = |names: &[String]| -> String {
            names.iter().map(|name| format!(", {}", self.syntax.text(name))).collect()
        };
        if let Some(Filter { field, test }) = &looped.filter {
            let steps: Vec<Step> = field.iter().cloned().map(Step::Key).collect();
            let value = self.syntax.member("item", &steps);
            let constant = |value| self.syntax.constant(value);
            let condition = match test {
                Test::Equals(wanted) => self.syntax.equals(&value, &constant(wanted), false),
                Test::Differs(unwanted) => self.syntax.equals(&value, &constant(unwanted), true),
                Test::AtLeast(least) => format!("at_least({value}, {least})"),
                Test::Below(limit) => format!("below({value}, {limit})"),
            };
            list = format!("filter({list}, {})", self.syntax.predicate("item", &condition));
        }
        if let Some(order) = &looped.order {
            list = format!("sorted({list}, {}{})", order.descending, names(&order.field));
        }
        list
    }

    fn path(&self, path: &Path) -> String {
        let at = self.scopes.get(path.scope).map_or("", String::as_str);
        self.syntax.member(at, &path.steps)
    }

    fn convert(&self, value: &str, convert: &Convert) -> String {
        let text = |text: &String| self.syntax.text(text);
        let names = |names: &[String]| names.iter().map(text).collect::<Vec<_>>();
        let (helper, arguments): (&str, Vec<String>) = match convert {
            Convert::Text => ("to_text", vec![]),
            Convert::Number => ("to_number", vec![]),
            Convert::Times(factor) => ("times", vec![factor.to_string()]),
            Convert::Divide(divisor) => ("divide", vec![divisor.to_string()]),
            Convert::Fixed(decimals) => ("fixed", vec![decimals.to_string()]),
            Convert::Grouped(decimals) => ("grouped", vec![decimals.to_string()]),
            Convert::Upper => ("upper", vec![]),
            Convert::Count => ("count", vec![]),
            Convert::Sum(field) => ("sum", names(field)),
            Convert::Join { field, separator } => {
                ("join", [vec![text(separator)], names(field)].concat())
            }
            Convert::CountBy(key) => ("sum_by", vec![text(key)]),
            Convert::SumBy { key, value } => ("sum_by", vec![text(key), text(value)]),
            Convert::Time { from, to } => {
                let read = format!("read_time({value}, {})", self.time_form(*from));
                return format!("write_time({read}, {})", self.time_form(*to));
            }
        };
        let arguments: String = arguments.iter().map(|argument| format!(", {argument}")).collect();
        format!("{helper}({value}{arguments})")
    }

    fn time_form(&self, form: TimeForm) -> String {
        match form {
            TimeForm::UnixSeconds => "1".to_owned(),
            TimeForm::UnixMilliseconds => "1000".to_owned(),
            TimeForm::Layout(layout) => self.syntax.text(layout),
        }
    }
}
