//! JavaScript as `function transform(r)`.

use std::collections::BTreeSet;

use super::super::program::{Program, Step};
use super::super::sample::Format;
use super::super::value::Value;
use super::helpers::{Helper, sources};
use super::js_helpers::{LIST, VALUES, XML_LIST};
use super::js_text_helpers::TEXTS;
use super::reserved::JAVASCRIPT as RESERVED;
use super::{Dialect, TextPart, comments, indented};

/// Writes JavaScript.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JavaScript;

pub(super) const HELPERS: &[&[Helper]] = &[VALUES, TEXTS];

fn is_name(text: &str) -> bool {
    // Setting `__proto__` in a literal does not make a field.
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
        && text != "__proto__"
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Dialect for JavaScript {
    fn comment(&self, text: &str) -> String {
        format!("// {text}")
    }

    fn text(&self, text: &str) -> String {
        quoted(text)
    }

    fn constant(&self, value: &Value) -> String {
        match value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::Text(text) => quoted(text),
            Value::List(items) if items.iter().all(Value::is_scalar) => {
                let items: Vec<String> = items.iter().map(|item| self.constant(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::List(items) => {
                let lines: Vec<String> =
                    items.iter().map(|item| format!("{},", self.constant(item))).collect();
                format!("[\n  {}\n]", indented(&lines.join("\n")))
            }
            Value::Object(object) if object.len() == 0 => "{}".to_owned(),
            Value::Object(object) => {
                let lines: Vec<String> = object
                    .iter()
                    .map(|(name, value)| format!("{}{},", self.field(name), self.constant(value)))
                    .collect();
                format!("{{\n  {}\n}}", indented(&lines.join("\n")))
            }
        }
    }

    fn reserved(&self) -> &'static [&'static str] {
        RESERVED
    }

    fn member(
        &self,
        base: &str,
        steps: &[Step],
        input: Format,
        helpers: &mut BTreeSet<&'static str>,
    ) -> String {
        let mut out = base.to_owned();
        let is_form = input == Format::Form && base == comments::payload(input);
        for (number, step) in steps.iter().enumerate() {
            let sure = is_form && number == 0;
            match step {
                Step::Key(key) if is_name(key) => {
                    out.push_str(&format!("{}{key}", if sure { "." } else { "?." }))
                }
                Step::Key(key) => {
                    out.push_str(&format!("{}[{}]", if sure { "" } else { "?." }, quoted(key)))
                }
                Step::Index(index) if input == Format::Xml => {
                    helpers.insert("list");
                    out = format!("list({out})[{index}]");
                }
                Step::Index(index) => out.push_str(&format!("?.[{index}]")),
                _ => {}
            }
        }
        out
    }

    fn concatenate(&self, parts: &[TextPart]) -> String {
        let mut out = String::from("`");
        for part in parts {
            match part {
                TextPart::Words(words) => {
                    // As in a quoted text, and what means something in a template besides.
                    let quoted = quoted(words);
                    let inner = quoted
                        .get(1..quoted.len().saturating_sub(1))
                        .unwrap_or_default()
                        .replace("\\\"", "\"");
                    out.push_str(&inner.replace('`', "\\`").replace("${", "\\${"));
                    // A dollar before a field must not join its brace.
                    if out.ends_with('$') && !out.ends_with("\\$") {
                        out.pop();
                        out.push_str("\\$");
                    }
                }
                TextPart::Value(value) => out.push_str(&format!("${{{value}}}")),
            }
        }
        out.push('`');
        out
    }

    fn field(&self, name: &str) -> String {
        match name {
            "__proto__" => "[\"__proto__\"]: ".to_owned(),
            name if is_name(name) => format!("{name}: "),
            name => format!("{}: ", quoted(name)),
        }
    }

    fn list_braces(&self) -> (&'static str, &'static str) {
        ("[", "]")
    }

    fn local(&self, name: &str, value: &str) -> String {
        format!("const {name} = {value};")
    }

    fn empty_list(&self) -> &'static str {
        "[]"
    }

    fn for_items(&self, item: &str, position: Option<&str>, list: &str) -> String {
        match position {
            Some(position) => format!("for (const [{position}, {item}] of {list}.entries()) {{"),
            None => format!("for (const {item} of {list}) {{"),
        }
    }

    fn for_fields(&self, key: &str, value: &str, object: &str, sorted: bool) -> Vec<String> {
        vec![format!("for (const [{key}, {value}] of fields({object}, {sorted})) {{")]
    }

    fn condition(&self, condition: &str) -> String {
        format!("if ({condition}) {{")
    }

    fn close(&self) -> &'static str {
        "}"
    }

    fn run(&self, call: &str) -> String {
        format!("{call};")
    }

    fn push(&self, list: &str, value: &str) -> String {
        format!("{list}.push({value});")
    }

    fn set(&self, object: &str, key: &str, value: &str) -> String {
        format!("{object}[{key}] = {value};")
    }

    fn spread(&self, list: &str, from: &str) -> Vec<String> {
        vec![format!("{list}.push(...{from});")]
    }

    fn equals(&self, left: &str, right: &str, negated: bool) -> String {
        format!("{left} {} {right}", if negated { "!==" } else { "===" })
    }

    fn present(&self, value: &str) -> String {
        format!("{value} != null")
    }

    fn or_null(&self, value: &str, _helpers: &mut BTreeSet<&'static str>) -> String {
        format!("{value} ?? null")
    }

    fn lookup(&self, table: &[(Value, Value)], value: &str) -> String {
        let pairs: Vec<String> = table
            .iter()
            .map(|(from, to)| format!("[{}, {}]", self.constant(from), self.constant(to)))
            .collect();
        format!("new Map([{}]).get({value})", pairs.join(", "))
    }

    fn position(&self, name: &str, base: i64) -> String {
        match base {
            0 => name.to_owned(),
            base => format!("{name} + {base}"),
        }
    }

    fn source(
        &self,
        program: &Program,
        helpers: &BTreeSet<&'static str>,
        statements: &[String],
        result: &str,
    ) -> String {
        let mut needed = helpers.clone();
        if program.output == Format::Form {
            needed.insert("encode_form");
        }
        let list = if program.input == Format::Xml { XML_LIST } else { LIST };
        let functions = sources(&needed, HELPERS, list);
        let read = match program.input {
            Format::Json => "const body = JSON.parse(r.body);",
            Format::Xml => "const body = xml.decode(r.body);",
            Format::Form => "const form = r.formData ?? {};",
            Format::Text => "const body = r.body;",
        };
        let write = match program.output {
            Format::Json => "r.setBody(JSON.stringify(out));",
            Format::Xml => "r.setBody(xml.encode(out));",
            Format::Form => "r.setBody(encode_form(out));",
            Format::Text => "r.setBody(out);",
        };
        let mut lines = vec![read.to_owned(), String::new()];
        if !statements.is_empty() {
            lines.extend(statements.iter().cloned());
            lines.push(String::new());
        }
        lines.push(format!("const out = {result};"));
        lines.push(String::new());
        if program.input != program.output {
            lines.push(format!(
                "r.setHeader(\"Content-Type\", {});",
                quoted(program.output.content_type())
            ));
        }
        lines.push(write.to_owned());
        lines.push("return r;".to_owned());
        let intro = format!(
            "// Makes {} out of {}. Written from one sample: see that it says what you mean.",
            program.output.name(),
            program.input.name()
        );
        let main = format!("function transform(r) {{\n  {}\n}}", indented(&lines.join("\n")))
            .replace("\n  \n", "\n\n");
        let blocks = [intro, main, functions];
        let blocks: Vec<String> = blocks.into_iter().filter(|block| !block.is_empty()).collect();
        blocks.join("\n\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_hold_any_words() {
        let parts = [TextPart::Words("`\"\\ ${x} $".to_owned()), TextPart::Value("v".to_owned())];
        assert_eq!(JavaScript.concatenate(&parts), "`\\`\"\\\\ \\${x} \\$${v}`");
    }
}
