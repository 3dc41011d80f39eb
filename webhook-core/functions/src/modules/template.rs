//! Templates in the manner of Mustache: texts with names of values in braces.

use std::borrow::Cow;

use super::{Bounds, ModuleError, Output, node::Node};

/// Sections inside one another at most.
const MAX_SECTIONS: usize = 32;

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    /// As they are.
    Not,
    /// For a place between the quotes of a text in JSON.
    Json,
    Html,
}

impl Escape {
    fn named(name: &str) -> Result<Self, ModuleError> {
        match name {
            "" => Ok(Self::Not),
            "json" => Ok(Self::Json),
            "html" => Ok(Self::Html),
            _ => Err(ModuleError::invalid(format!(
                "{name:?} is no way to write values: leave it out, or write \"json\" or \"html\""
            ))),
        }
    }

    fn write(self, text: &str, output: &mut Output) -> Result<(), ModuleError> {
        match self {
            Self::Not => output.push(text.as_bytes()),
            Self::Json => {
                let quoted = serde_json::Value::from(text).to_string();
                output.push(&quoted.as_bytes()[1..quoted.len() - 1])
            }
            Self::Html => {
                let mut rest = text;
                while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
                    let (plain, found) = rest.split_at(at);
                    output.push(plain.as_bytes())?;
                    output.push(match found.as_bytes()[0] {
                        b'&' => b"&amp;",
                        b'<' => b"&lt;",
                        b'>' => b"&gt;",
                        b'"' => b"&quot;",
                        _ => b"&#39;",
                    })?;
                    rest = &found[1..];
                }
                output.push(rest.as_bytes())
            }
        }
    }
}

/// Writes a template with values, which are JSON, in at most `longest` bytes. `escape` is empty,
/// `json` or `html`.
pub(crate) fn render(
    template: &str,
    json: &str,
    escape: &str,
    mut bounds: Bounds,
    longest: usize,
) -> Result<Vec<u8>, ModuleError> {
    let bounds = &mut bounds;
    let mut rendered = || {
        let escape = Escape::named(escape)?;
        let mut reader = Reader { template, at: 0, bounds: &mut *bounds };
        let parts = reader.parts(None, 0)?;
        let values = Node::from_json(json, reader.bounds)?;
        let output = Output::of_at_most(longest);
        let mut writer = Writer { output, escape, bounds: reader.bounds };
        writer.write(&parts, &mut vec![&values])?;
        writer.output.finish()
    };
    rendered().map_err(|error| error.of("template"))
}

#[derive(Debug)]
enum Part<'t> {
    Text(&'t str),
    Value {
        name: &'t str,
        escaped: bool,
    },
    /// The parts between `{{#name}}`, or `{{^name}}`, and `{{/name}}`.
    Section {
        name: &'t str,
        inverted: bool,
        parts: Vec<Part<'t>>,
    },
}

struct Reader<'t, 'b> {
    template: &'t str,
    at: usize,
    bounds: &'b mut Bounds,
}

impl<'t> Reader<'t, '_> {
    fn wrong(&self, at: usize, reason: impl std::fmt::Display) -> ModuleError {
        let line = self.template[..at].matches('\n').count() + 1;
        ModuleError::invalid(format!("line {line}: {reason}"))
    }

    /// The parts up to the end of the section that is open, or of the template.
    fn parts(&mut self, open: Option<&'t str>, depth: usize) -> Result<Vec<Part<'t>>, ModuleError> {
        let mut parts = Vec::new();
        loop {
            // A list keeps as much room again.
            self.bounds.take(4 * size_of::<Part<'_>>())?;
            let rest = &self.template[self.at..];
            let Some(found) = rest.find("{{") else {
                if let Some(open) = open {
                    let reason = format!("{{{{#{open}}}}} has no {{{{/{open}}}}}");
                    return Err(self.wrong(self.template.len(), reason));
                }
                parts.push(Part::Text(rest));
                return Ok(parts);
            };
            let begin = self.at + found;
            let is_triple = self.template[begin..].starts_with("{{{");
            let (inner, close) = if is_triple { (begin + 3, "}}}") } else { (begin + 2, "}}") };
            let length = self.template[inner..].find(close).ok_or_else(|| {
                self.wrong(begin, format!("what begins with {{{{ does not end with {close}"))
            })?;
            let tag = self.template[inner..inner + length].trim();
            let mut text = self.at..begin;
            self.at = inner + length + close.len();
            let (kind, name) = match tag.chars().next() {
                Some(kind @ ('#' | '^' | '/' | '!' | '&' | '>' | '=')) if !is_triple => {
                    (kind, tag[1..].trim())
                }
                _ => (if is_triple { '&' } else { ' ' }, tag),
            };
            if matches!(kind, '#' | '^' | '/' | '!') {
                self.take_line(&mut text);
            }
            parts.push(Part::Text(&self.template[text]));
            if kind == '!' {
                continue;
            }
            if matches!(kind, '>' | '=') {
                let reason =
                    "there are no other templates ({{>name}}) and no other signs ({{=…=}})";
                return Err(self.wrong(begin, reason));
            }
            if name.is_empty() || name.contains(char::is_whitespace) {
                let reason = format!(
                    "{{{{{tag}}}}} is no name: a value is {{{{name}}}}, a list is walked with \
                    {{{{#name}}}}…{{{{/name}}}}, and {{{{^name}}}}…{{{{/name}}}} is for what is empty"
                );
                return Err(self.wrong(begin, reason));
            }
            match kind {
                '#' | '^' => {
                    if depth == MAX_SECTIONS {
                        let reason =
                            format!("more than {MAX_SECTIONS} sections inside one another");
                        return Err(self.wrong(begin, reason));
                    }
                    let inner = self.parts(Some(name), depth + 1)?;
                    parts.push(Part::Section { name, inverted: kind == '^', parts: inner });
                }
                '/' if open == Some(name) => return Ok(parts),
                '/' => {
                    let reason = format!("{{{{/{name}}}}} ends no section that is open");
                    return Err(self.wrong(begin, reason));
                }
                kind => parts.push(Part::Value { name, escaped: kind != '&' }),
            }
        }
    }

    /// Leaves out the rest of a line that has nothing but the tag before `self.at`.
    fn take_line(&mut self, before: &mut std::ops::Range<usize>) {
        let text = &self.template[before.clone()];
        let line = text.rfind('\n').map(|end| end + 1);
        let begins = before.start == 0 || self.template[..before.start].ends_with('\n');
        let Some(line) = line.or(begins.then_some(0)) else { return };
        let rest = &self.template[self.at..];
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        if text[line..].trim().is_empty() && rest[..end].trim().is_empty() {
            before.end = before.start + line;
            self.at += end;
        }
    }
}

struct Writer<'b> {
    output: Output,
    escape: Escape,
    bounds: &'b mut Bounds,
}

impl Writer<'_> {
    fn write<'n>(
        &mut self,
        parts: &[Part<'_>],
        around: &mut Vec<&'n Node<'n>>,
    ) -> Result<(), ModuleError> {
        for part in parts {
            self.bounds.take(0)?;
            match part {
                Part::Text(text) => self.output.push(text.as_bytes())?,
                Part::Value { name, escaped } => {
                    let Some(value) = self.find(name, around)? else { continue };
                    let text: Cow<'_, str> = match value {
                        Node::Null => continue,
                        Node::Text(text) => Cow::Borrowed(text),
                        other => {
                            let json = other.to_json(self.bounds.bytes(), self.bounds)?;
                            Cow::Owned(String::from_utf8_lossy(&json).into_owned())
                        }
                    };
                    let escape = if *escaped { self.escape } else { Escape::Not };
                    escape.write(&text, &mut self.output)?;
                }
                Part::Section { name, inverted, parts } => {
                    let value = self.find(name, around)?;
                    let value = value.filter(|value| value.holds());
                    match value {
                        None if *inverted => self.write(parts, around)?,
                        Some(Node::List(items)) if !inverted => {
                            for item in items.iter() {
                                around.push(item);
                                self.write(parts, around)?;
                                around.pop();
                            }
                        }
                        Some(value) if !inverted => {
                            around.push(value);
                            self.write(parts, around)?;
                            around.pop();
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// The value of a name: its first part is looked for from the innermost section outwards.
    fn find<'n>(
        &mut self,
        name: &str,
        around: &[&'n Node<'n>],
    ) -> Result<Option<&'n Node<'n>>, ModuleError> {
        // Templates of Go write {{.name}}.
        let name = name.strip_prefix('.').unwrap_or(name);
        if name.is_empty() {
            return Ok(around.last().copied());
        }
        let mut names = name.split('.');
        let first = names.next().unwrap_or_default();
        let mut found = None;
        for value in around.iter().rev() {
            found = value.field(first, self.bounds)?;
            if found.is_some() {
                break;
            }
        }
        for name in names {
            found = match found {
                Some(value) => value.field(name, self.bounds)?,
                None => None,
            };
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;

    fn rendered(template: &str, json: &str, escape: &str) -> Result<String, ModuleError> {
        let text = render(template, json, escape, Bounds::of_memory(1 << 20), 1 << 16)?;
        Ok(String::from_utf8(text).expect("UTF-8"))
    }

    #[test]
    fn templates_are_written_with_their_values() {
        let json = r#"{"name":"Ada","order":{"id":820982911946154508,"total":19.90},"empty":[],
            "no":false,"items":[{"sku":"a","n":2},{"sku":"b"}],"tags":["x","y"],"nothing":null}"#;
        for (template, wanted) in [
            (
                "Hello {{name}}, {{ order.id }} is {{order.total}}",
                "Hello Ada, 820982911946154508 is 19.90",
            ),
            ("{{.name}} {{.order.id}}", "Ada 820982911946154508"),
            ("{{missing}}{{order.missing.more}}{{nothing}}{{name.x}}|", "|"),
            ("{{#items}}{{sku}}:{{n}} {{/items}}", "a:2 b: "),
            ("{{#items}}{{name}} {{/items}}", "Ada Ada "),
            ("{{#tags}}<{{.}}>{{/tags}}", "<x><y>"),
            ("{{#order}}{{id}}{{/order}}", "820982911946154508"),
            ("{{^empty}}none{{/empty}}{{#empty}}some{{/empty}}", "none"),
            ("{{^no}}a{{/no}}{{#no}}b{{/no}}{{^name}}c{{/name}}{{#name}}d{{/name}}", "ad"),
            ("{{#items}}{{#n}}{{.}}{{/n}}{{^n}}0{{/n}}{{/items}}", "20"),
            ("{{! what it is }}a", "a"),
            ("{{tags}} {{no}}", r#"["x","y"] false"#),
            ("a\n{{#tags}}\n- {{.}}\n{{/tags}}\nb", "a\n- x\n- y\nb"),
            ("  {{! alone }}  \nb", "b"),
            ("a {{#tags}}\nx{{/tags}}", "a \nx\nx"),
            ("{ {} } }}", "{ {} } }}"),
            ("", ""),
        ] {
            assert_eq!(rendered(template, json, "").as_deref(), Ok(wanted), "{template}");
        }
    }

    #[test]
    fn values_are_written_for_where_they_stand() {
        let json = r#"{"a":"<b> \"q\" & 'r'\n"}"#;
        assert_eq!(
            rendered("{{a}}{{{a}}}", json, "html").as_deref(),
            Ok("&lt;b&gt; &quot;q&quot; &amp; &#39;r&#39;\n<b> \"q\" & 'r'\n")
        );
        assert_eq!(
            rendered(r#"{"x":"{{a}}"}"#, json, "json").as_deref(),
            Ok(r#"{"x":"<b> \"q\" & 'r'\n"}"#)
        );
        assert_eq!(rendered("{{&a}}", json, "json").as_deref(), Ok("<b> \"q\" & 'r'\n"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (template, wanted) in [
            ("a\n{{name", "template: line 2: what begins with {{ does not end with }}"),
            ("{{#a}}\n", "template: line 2: {{#a}} has no {{/a}}"),
            ("{{#a}}{{/b}}", "template: line 1: {{/b}} ends no section that is open"),
            ("{{/b}}", "template: line 1: {{/b}} ends no section that is open"),
            ("{{#if a}}x{{/if}}", "template: line 1: {{#if a}} is no name"),
            ("{{}}", "template: line 1: {{}} is no name"),
            ("{{> other}}", "template: line 1: there are no other templates"),
        ] {
            let error = rendered(template, "{}", "").expect_err(template).to_string();
            assert!(error.starts_with(wanted), "{template}: {error}");
        }
        let error = rendered("", "{}", "xml").expect_err("no such way").to_string();
        assert!(error.contains("leave it out, or write \"json\" or \"html\""), "{error}");
    }

    #[test]
    fn templates_are_bounded() {
        let deep = "{{#a}}".repeat(MAX_SECTIONS + 1);
        let error = rendered(&deep, "{}", "").expect_err("too deep").to_string();
        assert!(error.contains("more than 32 sections"), "{error}");
        let list = format!("{{\"a\":[{}1]}}", "1,".repeat(999));
        let nested = "{{#a}}{{#a}}{{#a}}xxxxxxxxxx{{/a}}{{/a}}{{/a}}";
        assert_eq!(rendered(nested, &list, "").err(), Some(ModuleError::TooLong));
        let empty = nested.replace("xxxxxxxxxx", "{{b}}");
        let late = Bounds::of_memory(1 << 20).until(Instant::now());
        assert_eq!(render(&empty, &list, "", late, 1 << 16).err(), Some(ModuleError::TooSlow));
        let many = "{{a}}".repeat(20_000);
        assert_eq!(rendered(&many, "{}", "").err(), Some(ModuleError::TooLarge));
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(parts in r"(\{\{|\}\}|[#^/!&>{}ab. \n]|é){0,40}") {
            let _ = rendered(&parts, r#"{"a":[{"b":1}],"b":"é"}"#, "html");
        }
    }
}
