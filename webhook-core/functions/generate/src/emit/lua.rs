//! Lua 5.1 with the integers of 5.3.

use std::collections::BTreeSet;

use super::super::program::{Program, Step};
use super::super::sample::Format;
use super::super::value::Value;
use super::helpers::{Helper, sources};
use super::lua_helpers::{LIST, VALUES, XML_LIST};
use super::lua_number_helpers::NUMBERS;
use super::lua_text_helpers::TEXTS;
use super::reserved::{LUA as RESERVED, LUA_KEYWORDS as KEYWORDS};
use super::{Dialect, TextPart, comments, indented};

/// Writes Lua.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lua;

pub(super) const HELPERS: &[&[Helper]] = &[VALUES, NUMBERS, TEXTS];

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !KEYWORDS.contains(&text)
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_ascii_control() => out.push_str(&format!("\\{:03}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl Dialect for Lua {
    fn comment(&self, text: &str) -> String {
        format!("-- {text}")
    }

    fn text(&self, text: &str) -> String {
        quoted(text)
    }

    fn constant(&self, value: &Value) -> String {
        match value {
            Value::Null => "json.null".to_owned(),
            Value::Bool(value) => value.to_string(),
            // The literal would be read as a float and a minus.
            Value::Int(i64::MIN) => "math.mininteger".to_owned(),
            Value::Int(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::Text(text) => quoted(text),
            Value::List(items) if items.iter().all(Value::is_scalar) => {
                let items: Vec<String> = items.iter().map(|item| self.constant(item)).collect();
                format!("{{ {} }}", items.join(", ")).replace("{  }", "{}")
            }
            Value::List(items) => {
                let lines: Vec<String> =
                    items.iter().map(|item| format!("{},", self.constant(item))).collect();
                format!("{{\n  {}\n}}", indented(&lines.join("\n")))
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
        let mut base = base.to_owned();
        let mut steps = steps;
        if input == Format::Form
            && base == comments::payload(input)
            && let Some((Step::Key(key), rest)) = steps.split_first()
        {
            // The form is not a table of the script's own: its fields are read one by one.
            base = if is_name(key) {
                format!("{base}.{key}")
            } else {
                format!("{base}[{}]", quoted(key))
            };
            steps = rest;
        }
        if steps.is_empty() {
            return base;
        }
        let keys: Vec<String> = steps
            .iter()
            .map(|step| match step {
                Step::Key(key) => quoted(key),
                Step::Index(index) => index.saturating_add(1).to_string(),
                _ => "nil".to_owned(),
            })
            .collect();
        let by_index = steps.iter().any(|step| matches!(step, Step::Index(_)));
        let helper = if input == Format::Xml && by_index { "get_xml" } else { "get" };
        helpers.insert(helper);
        format!("{helper}({base}, {})", keys.join(", "))
    }

    fn concatenate(&self, parts: &[TextPart]) -> String {
        // A long chain of `..` nests too deep for some compilers.
        const MAX_CHAIN: usize = 40;
        let parts: Vec<String> = parts
            .iter()
            .map(|part| match part {
                TextPart::Words(words) => quoted(words),
                TextPart::Value(value) => value.clone(),
            })
            .collect();
        if parts.is_empty() {
            return "\"\"".to_owned();
        }
        if parts.len() > MAX_CHAIN {
            return format!("table.concat({{\n  {},\n}})", indented(&parts.join(",\n")));
        }
        let line = parts.join(" .. ");
        if line.len() > 100 { indented(&parts.join("\n.. ")) } else { line }
    }

    fn field(&self, name: &str) -> String {
        if is_name(name) { format!("{name} = ") } else { format!("[{}] = ", quoted(name)) }
    }

    fn list_braces(&self) -> (&'static str, &'static str) {
        ("{", "}")
    }

    fn local(&self, name: &str, value: &str) -> String {
        format!("local {name} = {value}")
    }

    fn empty_list(&self) -> &'static str {
        "{}"
    }

    fn for_items(&self, item: &str, position: Option<&str>, list: &str) -> String {
        format!("for {}, {item} in ipairs({list}) do", position.unwrap_or("_"))
    }

    fn for_fields(&self, key: &str, value: &str, object: &str, _sorted: bool) -> Vec<String> {
        // Only the order of the names is known to a script.
        vec![
            format!("for _, {key} in ipairs(fields({object})) do"),
            format!("local {value} = {object}[{key}]"),
        ]
    }

    fn condition(&self, condition: &str) -> String {
        format!("if {condition} then")
    }

    fn close(&self) -> &'static str {
        "end"
    }

    fn run(&self, call: &str) -> String {
        call.to_owned()
    }

    fn push(&self, list: &str, value: &str) -> String {
        format!("{list}[#{list} + 1] = {value}")
    }

    fn set(&self, object: &str, key: &str, value: &str) -> String {
        format!("{object}[{key}] = {value}")
    }

    fn spread(&self, list: &str, from: &str) -> Vec<String> {
        vec![format!("for _, item in ipairs({from}) do {list}[#{list} + 1] = item end")]
    }

    fn equals(&self, left: &str, right: &str, negated: bool) -> String {
        format!("{left} {} {right}", if negated { "~=" } else { "==" })
    }

    fn present(&self, value: &str) -> String {
        format!("{value} ~= nil and {value} ~= json.null")
    }

    fn or_null(&self, value: &str, helpers: &mut BTreeSet<&'static str>) -> String {
        helpers.insert("or_null");
        format!("or_null({value})")
    }

    fn lookup(&self, table: &[(Value, Value)], value: &str) -> String {
        let pairs: Vec<String> = table
            .iter()
            .map(|(from, to)| format!("[{}] = {}", self.constant(from), self.constant(to)))
            .collect();
        format!("({{ {} }})[{value}]", pairs.join(", "))
    }

    fn position(&self, name: &str, base: i64) -> String {
        match base {
            1 => name.to_owned(),
            base => format!("{name} - {}", 1 - base),
        }
    }

    fn source(
        &self,
        program: &Program,
        helpers: &BTreeSet<&'static str>,
        statements: &[String],
        result: &str,
    ) -> String {
        let list = if program.input == Format::Xml { XML_LIST } else { LIST };
        let functions = sources(helpers, HELPERS, list);
        let read = match program.input {
            Format::Json => "local body = assert(json.decode(r.RequestBody))",
            Format::Xml => "local body = assert(xml.decode(r.RequestBody))",
            Format::Form => "local form = r.RequestFormData or {}",
            Format::Text => "local body = r.RequestBody",
        };
        let write = match program.output {
            Format::Json => "r:SetRequestBody(json.encode(out))",
            Format::Xml => "r:SetRequestBody(xml.encode(out))",
            Format::Form => "r:SetRequestBody(url.encode_query(out))",
            Format::Text => "r:SetRequestBody(out)",
        };
        let mut rest = vec![read.to_owned(), String::new()];
        if !statements.is_empty() {
            rest.extend(statements.iter().cloned());
            rest.push(String::new());
        }
        rest.push(format!("local out = {result}"));
        rest.push(String::new());
        if program.input != program.output {
            rest.push(format!(
                "r:SetRequestHeader(\"Content-Type\", {})",
                quoted(program.output.content_type())
            ));
        }
        rest.push(write.to_owned());
        let rest = rest.join("\n");
        let uses = |module: &str| {
            rest.contains(&format!("{module}.")) || functions.contains(&format!("{module}."))
        };
        let modules: Vec<String> = ["json", "xml", "url", "time"]
            .into_iter()
            .filter(|module| uses(module))
            .map(|module| format!("local {module} = require(\"{module}\")"))
            .collect();
        let intro = format!(
            "-- Makes {} out of {}. Written from one sample: see that it says what you mean.",
            program.output.name(),
            program.input.name()
        );
        let blocks = [intro, modules.join("\n"), functions, rest];
        let blocks: Vec<String> = blocks.into_iter().filter(|block| !block.is_empty()).collect();
        blocks.join("\n\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_names_are_quoted() {
        assert_eq!(quoted("a\"b\\c\nd\0e\u{7f}é"), "\"a\\\"b\\\\c\\nd\\000e\\127é\"");
        assert_eq!(Lua.field("name"), "name = ");
        assert_eq!(Lua.field("end"), "[\"end\"] = ");
        assert_eq!(Lua.field("a-b"), "[\"a-b\"] = ");
        assert_eq!(Lua.constant(&Value::Int(i64::MIN)), "math.mininteger");
    }
}
