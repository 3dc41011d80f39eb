//! docs/rules.md: its examples do what it says, and it leaves nothing out.

use std::{collections::BTreeSet, fs, net::IpAddr};

use serde_json::Value;

use super::*;
use crate::rule::{
    MAX_DEPTH, MAX_PATH_SEGMENTS, MAX_REGEX_BYTES, MAX_REGEXES, MAX_RULES, MAX_SIGNATURES,
    MAX_SIGNATURES_TRIED, MAX_SIZE_BYTES, MAX_SLOW_REGEXES, MAX_VALUES, MAX_XML_DEPTH,
    REGEX_MEMORY_BYTES,
    vocabulary::{MATCH_TYPES, MatchType, OPERATORS, ParameterName, ParameterSource, SOURCES},
};

const ADDRESS: &str = "The sender's address is `";
const VERIFIED: &str = "The input has verified it: it is from GitHub, and its event is `";

/// Rules on the page, the webhook above them and the answer below them.
struct Example {
    line: usize,
    rules: String,
    webhook: Request,
    answer: String,
}

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/rules.md");
    fs::read_to_string(path).expect("docs/rules.md is there")
}

/// The fenced blocks in `language` and in `http`: line, language, content, and
/// the text after it.
fn blocks(page: &str) -> Vec<(usize, &str, &str, &str)> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, from)) = rest.split_once("\n```") {
        let line = page[..page.len() - from.len()].lines().count();
        let (language, from) = from.split_once('\n').expect("a block has lines");
        let (content, after) = from.split_once("\n```\n").expect("a block ends");
        found.push((line, language, content, after));
        // A block may follow at once.
        rest = &from[content.len() + "\n```".len()..];
    }
    found
}

/// The words, as the tables of documentation say them.
fn tables() -> [String; 2] {
    let code = |word: &str| format!("`{word}`");
    let names = |words: &mut dyn Iterator<Item = &'static str>| {
        words.map(code).collect::<Vec<_>>().join(", ")
    };
    let mut types = "| `type` | field | the parameter passes when it |\n|---|---|---|\n".to_owned();
    for it in MATCH_TYPES {
        let field = it.operand.field().map(code).unwrap_or_default();
        types += &format!("| {} | {field} | {} |\n", names(&mut it.words()), it.help);
    }
    let mut sources = "| `source` | `name` | the value |\n|---|---|---|\n".to_owned();
    for it in SOURCES {
        let source = names(&mut it.words());
        match it.name {
            ParameterName::None => sources += &format!("| {source} | | {} |\n", it.help),
            ParameterName::Text(name) => {
                sources += &format!("| {source} | {name} | {} |\n", it.help)
            }
            ParameterName::OneOf(parts) => {
                sources += &format!("| {source} | | {}: |\n", it.help);
                for part in parts {
                    sources += &format!("| | {} | {} |\n", code(part.word), part.help);
                }
            }
        }
    }
    [types, sources]
}

/// `UPDATE_DOCS=1` writes the tables.
#[test]
fn the_tables_are_those_of_the_vocabulary() {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/src/rule/vocabulary.md");
    let there = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/rules.md");
    let tables = tables();
    let mut page = fs::read_to_string(there).expect("docs/rules.md is there");
    for (name, table) in ["match types", "sources"].iter().zip(&tables) {
        let (start, end) = (format!("<!-- {name} -->\n\n"), format!("\n<!-- end of {name} -->"));
        let (before, from) = page.split_once(&start).expect("the page says where the table is");
        let (_, after) = from.split_once(&end).expect("the page says where the table ends");
        page = [before, &start, table, &end, after].concat();
    }
    let [types, sources] = tables;
    let module = format!("# Match types\n\n{types}\n# Sources\n\n{sources}");
    for (path, text) in [(here, module), (there, page)] {
        #[allow(clippy::disallowed_methods, reason = "the tests of the tables can write them")]
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(path, &text).expect("it can be written");
        }
        assert_eq!(fs::read_to_string(path).ok(), Some(text), "UPDATE_DOCS=1 writes {path}");
    }
}

fn examples(page: &str) -> Vec<Example> {
    let (mut found, mut webhook) = (Vec::new(), None);
    for (line, language, content, after) in blocks(page) {
        match language {
            "http" => webhook = Some(request(content)),
            "json" => found.push(Example {
                line,
                rules: content.to_owned(),
                webhook: webhook.clone().expect("a webhook above the example"),
                answer: after.trim_start().lines().next().unwrap_or_default().to_owned(),
            }),
            _ => {}
        }
    }
    found
}

fn request(text: &str) -> Request {
    let (head, body) = text.split_once("\n\n").expect("an empty line before the body");
    let mut lines = head.lines();
    let mut words = lines.next().expect("a request line").split(' ');
    let method = words.next().expect("a method").parse().expect("a method");
    let target = words.next().expect("a target");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let input = path.strip_prefix("/v1/webhooks/").expect("the address of an input");
    let mut request = with_body("", Bytes::copy_from_slice(body.as_bytes()));
    request.method = method;
    request.extra_path = input.find('/').map(|at| input[at..].to_owned()).unwrap_or_default();
    request.raw_query = query.to_owned();
    for line in lines {
        let (name, value) = line.split_once(": ").expect("a header");
        let name: HeaderName = name.parse().expect("a header name");
        request.headers.append(name, HeaderValue::from_str(value).expect("a header value"));
    }
    request
}

/// What the page says of rules like these.
fn verdict(rules: &str, subject: &Subject<'_>) -> (&'static str, String) {
    match serde_json::from_str::<Rules>(rules) {
        Err(error) => ("**Is refused**", error.to_string()),
        Ok(rules) => {
            let passes = rules.matches(subject);
            (if passes { "**Passes**" } else { "**Is stopped**" }, String::new())
        }
    }
}

#[test]
fn every_example_has_the_answer_below_it() {
    let page = page();
    let said = |before| {
        let said = page.split_once(before).and_then(|(_, after)| after.split_once('`'));
        said.expect("the page says who sends, and what").0
    };
    let address: IpAddr = said(ADDRESS).parse().expect("an address");
    let examples = examples(&page);
    assert!(examples.len() > 50, "only {} examples were found", examples.len());
    for Example { line, rules, webhook, answer } in examples {
        let subject = Subject {
            remote_addr: Some(address),
            verified: Some(true),
            event: Some(said(VERIFIED)),
            ..Subject::new(&webhook)
        };
        let (verdict, message) = verdict(&rules, &subject);
        assert!(answer.starts_with(verdict), "line {line}: {verdict} {message}\nnot {answer}");
        if !message.is_empty() {
            let said = answer.split('`').nth(1).expect("the text of the refusal");
            assert!(message.starts_with(said), "line {line}: {message}\nnot {said}");
        }
    }
}

/// Collects the words of `rules`: operators, types, sources, parts of the request.
fn words(rules: &Value, found: &mut [BTreeSet<String>; 5]) {
    let Value::Object(rule) = rules else { return };
    for (operator, value) in rule {
        found[0].insert(operator.clone());
        match value {
            Value::Array(list) => list.iter().for_each(|rule| words(rule, found)),
            Value::Object(matching) if operator == "match" => {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                found[1].insert(text(&matching["type"]));
                let Some(parameter) = matching.get("parameter") else { continue };
                found[2].insert(text(&parameter["source"]));
                match parameter["source"].as_str() {
                    Some("request") => _ = found[3].insert(text(&parameter["name"])),
                    Some("webhook") => _ = found[4].insert(text(&parameter["name"])),
                    _ => {}
                }
            }
            inner => words(inner, found),
        }
    }
}

#[test]
fn every_word_of_rules_has_an_example() {
    let mut shown = <[BTreeSet<String>; 5]>::default();
    for example in examples(&page()) {
        if serde_json::from_str::<Rules>(&example.rules).is_ok() {
            words(&serde_json::from_str(&example.rules).expect("JSON"), &mut shown);
        }
    }
    let of = |words: &mut dyn Iterator<Item = &'static str>| words.map(str::to_owned).collect();
    let parts = |source: &str| match ParameterSource::of(source).map(|it| &it.name) {
        Some(ParameterName::OneOf(parts)) => of(&mut parts.iter().map(|it| it.word)),
        _ => BTreeSet::new(),
    };
    let known = [
        of(&mut OPERATORS.iter().map(|(word, _)| *word)),
        of(&mut MATCH_TYPES.iter().flat_map(MatchType::words)),
        of(&mut SOURCES.iter().filter(|it| it.is_of_webhooks()).flat_map(ParameterSource::words)),
        parts("request"),
        parts("webhook"),
    ];
    assert_eq!(shown, known, "on the page, and in the parser");
}

#[test]
fn every_bound_is_on_the_page() {
    let page = page();
    let kib = |bytes: usize| format!("{} KiB", bytes / 1024);
    let thousands = |number: usize| match (number / 1_000, number % 1_000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands} {rest:03}"),
    };
    for (what, bound) in [
        ("rules inside each other", thousands(MAX_DEPTH)),
        ("rules in all", thousands(MAX_RULES)),
        ("keys and texts together, with 8 bytes for each value", kib(MAX_SIZE_BYTES)),
        ("matches of type `regex`", thousands(MAX_REGEXES)),
        ("the length of a regex", kib(MAX_REGEX_BYTES)),
        ("the memory of a compiled regex", kib(REGEX_MEMORY_BYTES)),
        ("regexes too complex for a table of that size", thousands(MAX_SLOW_REGEXES)),
        ("matches of the HMAC types", thousands(MAX_SIGNATURES)),
        ("steps in the path of a `payload`", thousands(MAX_PATH_SEGMENTS)),
        (
            "values of one query key, of one form field, or at one path with `*`",
            thousands(MAX_VALUES),
        ),
        ("signatures between commas", thousands(MAX_SIGNATURES_TRIED)),
        (
            "XML elements inside each other (deeper, the body does not parse)",
            thousands(MAX_XML_DEPTH),
        ),
    ] {
        let row = format!("| {what} | {bound} |\n");
        assert!(page.contains(&row), "not on the page: {row}");
    }
}
