//! How the two languages write things. Expressions may span lines; the first is not indented.

use super::super::json::Json;
use super::super::program::Step;
use super::super::sample::Format;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// Lua 5.1 with the integers of 5.3.
    Lua,
    JavaScript,
}

/// The words that name a field in Lua only between quotes.
const LUA_KEYWORDS: &str = " and break do else elseif end false for function goto if in local nil not or repeat return \
                            then true until while ";

/// Puts the lines after the first one step further in.
fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}

/// The lines between braces, each on its own.
pub(super) fn block(open: &str, lines: &[String], close: &str) -> String {
    if lines.is_empty() {
        return format!("{open}{close}");
    }
    format!("{open}\n  {}\n{close}", indented(&lines.join("\n")))
}

impl Syntax {
    fn is_name(self, text: &str) -> bool {
        let word = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        match self {
            Self::Lua => word && !LUA_KEYWORDS.contains(&format!(" {text} ")),
            // Setting `__proto__` in a literal does not make a field.
            Self::JavaScript => word && text != "__proto__",
        }
    }

    pub(super) fn comment(self, text: &str) -> String {
        let mark = if self == Self::Lua { "--" } else { "//" };
        // Names from a payload must not end the comment.
        let line_end = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        format!("{mark} {}", text.replace(line_end, " "))
    }

    pub(super) fn text(self, text: &str) -> String {
        if self == Self::JavaScript {
            return Json::from(text).to_string();
        }
        let mut out = String::from("\"");
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                c if c.is_ascii_control() => out.push_str(&format!("\\{:03}", u32::from(c))),
                c => out.push(c),
            }
        }
        out.push('"');
        out
    }

    pub(super) fn constant(self, value: &Json) -> String {
        match value {
            Json::Null if self == Self::Lua => "json.null".to_owned(),
            // The literal would be read as a float and a minus.
            Json::Number(number) if self == Self::Lua && number.as_i64() == Some(i64::MIN) => {
                "math.mininteger".to_owned()
            }
            Json::String(text) => self.text(text),
            Json::Array(items) => {
                let lines: Vec<String> =
                    items.iter().map(|item| format!("{},", self.constant(item))).collect();
                let (open, close) = self.list_braces();
                block(open, &lines, close)
            }
            Json::Object(object) => {
                let fields = object.iter();
                let lines: Vec<String> = fields
                    .map(|(name, value)| format!("{}{},", self.field(name), self.constant(value)))
                    .collect();
                block("{", &lines, "}")
            }
            plain => plain.to_string(),
        }
    }

    /// Steps by key and index only.
    pub(super) fn member(self, base: &str, steps: &[Step]) -> String {
        if steps.is_empty() {
            return base.to_owned();
        }
        if self == Self::Lua {
            let keys = steps.iter().map(|step| match step {
                Step::Key(key) => self.text(key),
                Step::Index(index) => (index + 1).to_string(),
            });
            return format!("get({base}, {})", keys.collect::<Vec<_>>().join(", "));
        }
        let names = steps.iter().map(|step| match step {
            Step::Key(key) if self.is_name(key) => format!("?.{key}"),
            Step::Key(key) => format!("?.[{}]", self.text(key)),
            Step::Index(index) => format!("?.[{index}]"),
        });
        format!("{base}{}", names.collect::<String>())
    }

    /// One text of parts, each either words or an expression that is a text.
    pub(super) fn concatenate(self, parts: &[(bool, String)]) -> String {
        // A long chain of `..` nests too deep for some compilers.
        const MAX_CHAIN: usize = 40;
        if self == Self::JavaScript {
            return template(parts);
        }
        let parts = parts.iter().map(|(words, part)| match words {
            true => self.text(part),
            false => part.clone(),
        });
        let parts: Vec<String> = parts.collect();
        if parts.len() > MAX_CHAIN {
            return format!("table.concat({{\n  {},\n}})", indented(&parts.join(",\n")));
        }
        let line = parts.join(" .. ");
        if line.len() > 100 { indented(&parts.join("\n.. ")) } else { line }
    }

    pub(super) fn field(self, name: &str) -> String {
        match (self, self.is_name(name)) {
            (Self::Lua, true) => format!("{name} = "),
            (Self::Lua, false) => format!("[{}] = ", self.text(name)),
            (Self::JavaScript, true) => format!("{name}: "),
            (Self::JavaScript, false) => format!("[{}]: ", self.text(name)),
        }
    }

    pub(super) fn list_braces(self) -> (&'static str, &'static str) {
        if self == Self::Lua { ("{", "}") } else { ("[", "]") }
    }

    pub(super) fn or_null(self, value: &str) -> String {
        if self == Self::Lua { format!("or_null({value})") } else { format!("{value} ?? null") }
    }

    pub(super) fn equals(self, left: &str, right: &str, negated: bool) -> String {
        let sign = match (self, negated) {
            (Self::Lua, false) => "==",
            (Self::Lua, true) => "~=",
            (Self::JavaScript, false) => "===",
            (Self::JavaScript, true) => "!==",
        };
        format!("{left} {sign} {right}")
    }

    /// A function that makes a value of one element.
    pub(super) fn function(self, item: &str, value: &str) -> String {
        match self {
            Self::Lua => format!("function({item})\n  return {}\nend", indented(value)),
            Self::JavaScript if value.starts_with('{') => format!("({item}) => ({value})"),
            Self::JavaScript => format!("({item}) => {value}"),
        }
    }

    /// A function that tests one element, on one line.
    pub(super) fn predicate(self, item: &str, condition: &str) -> String {
        match self {
            Self::Lua => format!("function({item}) return {condition} end"),
            Self::JavaScript => format!("({item}) => {condition}"),
        }
    }

    /// The lines that load the modules that the source uses. In JavaScript they are global.
    pub(super) fn modules(self, source: &str) -> String {
        if self == Self::JavaScript {
            return String::new();
        }
        let used = ["json", "time"].into_iter().filter(|name| source.contains(&format!("{name}.")));
        let lines: Vec<String> =
            used.map(|name| format!("local {name} = require(\"{name}\")")).collect();
        lines.join("\n")
    }

    /// The statements that read the payload, build the value and write it.
    pub(super) fn main(self, input: Format, output: Format, value: &str) -> String {
        let lua = self == Self::Lua;
        let read = match (input, lua) {
            (Format::Json, true) => "local body = assert(json.decode(r.RequestBody))",
            (Format::Form, true) => "local body = r.RequestFormData or {}",
            (Format::Text, true) => "local body = r.RequestBody",
            (Format::Json, false) => "const body = JSON.parse(r.body);",
            (Format::Form, false) => "const body = r.formData ?? {};",
            (Format::Text, false) => "const body = r.body;",
        };
        let kind = (input != output).then(|| self.text(output.content_type()));
        let json = output == Format::Json;
        if lua {
            let kind = kind
                .map(|kind| format!("r:SetRequestHeader(\"Content-Type\", {kind})\n"))
                .unwrap_or_default();
            let out = if json { "json.encode(out)" } else { "out" };
            return format!("{read}\n\nlocal out = {value}\n\n{kind}r:SetRequestBody({out})");
        }
        let kind = kind
            .map(|kind| format!("  r.setHeader(\"Content-Type\", {kind});\n"))
            .unwrap_or_default();
        let out = if json { "JSON.stringify(out)" } else { "out" };
        format!(
            "function transform(r) {{\n  {read}\n\n  const out = {};\n\n{kind}  r.setBody({out});\n  return r;\n}}",
            indented(value)
        )
    }
}

/// A template of JavaScript.
fn template(parts: &[(bool, String)]) -> String {
    let mut out = String::from("`");
    for (words, part) in parts {
        if !words {
            out.push_str(&format!("${{{part}}}"));
            continue;
        }
        let quoted = Json::from(part.as_str()).to_string();
        let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        let inner = inner.replace("\\\"", "\"").replace('`', "\\`").replace('$', "\\$");
        out.push_str(&inner);
    }
    out.push('`');
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_and_names_are_quoted() {
        let lua = Syntax::Lua;
        assert_eq!(lua.text("a\"b\\c\nd\0e\u{7f}é"), "\"a\\\"b\\\\c\\nd\\000e\\127é\"");
        assert_eq!(lua.field("name"), "name = ");
        assert_eq!(lua.field("end"), "[\"end\"] = ");
        assert_eq!(lua.field("a-b"), "[\"a-b\"] = ");
        assert_eq!(lua.constant(&json!(i64::MIN)), "math.mininteger");
        let parts = [(true, "`\"\\ ${x} $".to_owned()), (false, "v".to_owned())];
        let written = Syntax::JavaScript.concatenate(&parts);
        assert_eq!(written, "`\\`\"\\\\ \\${x} \\$${v}`");
    }
}
