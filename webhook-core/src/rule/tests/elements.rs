//! Paths with `*`, and the match types that compare numbers and ends of texts.

use serde_json::{Value, json};

use super::{Request, Subject, parse, passes, rule, with_body};
use crate::rule::MAX_VALUES;

fn push() -> Request {
    with_body(
        "application/json",
        r#"{"commits": [
            {"title": "Fix the gate", "files": ["a.rs", "b.md"], "lines": 12.50},
            {"title": "Café", "files": [], "lines": "9007199254740993"},
            {"files": ["c.rs"], "lines": null}
        ], "labels": ["bug", "urgent"], "x.*.y": "dots", "x": [{"y": "path"}], "*": "star"}"#,
    )
}

fn is(kind: &str, value: &str, name: &str) -> Value {
    rule(kind, "value", value, "payload", name)
}

#[test]
fn a_star_is_any_element_of_a_list() {
    let push = push();
    for (kind, value, name, expected) in [
        ("value", "bug", "labels.*", true),
        ("value", "urgent", "labels.*", true),
        ("value", "late", "labels.*", false),
        ("value", "Café", "commits.*.title", true),
        ("value", "c.rs", "commits.*.files.*", true),
        ("ends-with", ".md", "commits.*.files.*", true),
        ("starts-with", "Fix", "commits.*.title", true),
        ("value", "null", "commits.*.lines", true),
        ("value", "[\"c.rs\"]", "commits.*.files", true),
        ("value", "b.md", "commits.0.files.*", true),
        ("value", "b.md", "commits.1.files.*", false),
        ("exists", "", "commits.*.files.1", true),
        ("exists", "", "commits.*.author", false),
        ("exists", "", "labels.*.name", false),
        ("exists", "", "commits.title.*", false),
        // No value may equal it, and there must be one.
        ("is-not", "late", "labels.*", true),
        ("is-not", "bug", "labels.*", false),
        ("is-not", "bug", "commits.*.author", false),
        // A key that is written so wins.
        ("value", "dots", "x.*.y", true),
        ("value", "path", "x.*.y", false),
        ("value", "star", "*", true),
    ] {
        assert_eq!(passes(is(kind, value, name), &push), expected, "{kind} {value} {name}");
    }
    let lacks = |text| rule("does-not-contain", "substring", text, "payload", "labels.*");
    assert!(passes(lacks("zz"), &push));
    assert!(!passes(lacks("rgen"), &push));
}

#[test]
fn an_xml_element_that_is_alone_is_a_list_of_one() {
    let one = with_body("text/xml", "<o><item><sku>A</sku></item></o>");
    let two = with_body("text/xml", "<o><item><sku>A</sku></item><item><sku>B</sku></item></o>");
    assert!(passes(is("value", "A", "o.item.*.sku"), &one));
    assert!(passes(is("value", "B", "o.item.*.sku"), &two));
    assert!(passes(is("value", "A", "o.item.*.sku.#text"), &two));
    assert!(!passes(is("value", "B", "o.item.*.sku"), &one));
}

#[test]
fn in_a_form_a_star_is_a_part_of_the_name() {
    let form = with_body("application/x-www-form-urlencoded", "a.*=1&a.0=2&a.*=3");
    assert!(passes(is("value", "3", "a.*"), &form));
    assert!(!passes(is("value", "2", "a.*"), &form));
}

#[test]
fn so_many_elements_are_looked_at() {
    let with = |count: usize| {
        let mut list = vec![json!(0); count];
        list.push(json!(1));
        with_body("application/json", json!({"a": list}).to_string())
    };
    assert!(passes(is("value", "1", "a.*"), &with(MAX_VALUES - 1)));
    assert!(!passes(is("value", "1", "a.*"), &with(MAX_VALUES)));
}

#[test]
fn numbers_are_compared_as_numbers() {
    let push = push();
    for (kind, value, name, expected) in [
        ("greater-than", json!(12), "commits.0.lines", true),
        ("greater-than", json!("12.5"), "commits.0.lines", false),
        ("at-least", json!("12.5"), "commits.0.lines", true),
        ("at-most", json!(12.5), "commits.0.lines", true),
        ("less-than", json!(100), "commits.0.lines", true),
        // Longer than a float is exact.
        ("greater-than", json!("9007199254740992"), "commits.1.lines", true),
        ("less-than", json!("9007199254740994"), "commits.1.lines", true),
        // No number.
        ("less-than", json!(1), "commits.2.lines", false),
        ("at-least", json!(0), "commits.0.title", false),
        ("at-least", json!(0), "missing", false),
        ("at-least", json!(13), "commits.*.lines", true),
    ] {
        let json = json!({"match": {
            "type": kind, "value": value, "parameter": {"source": "payload", "name": name},
        }});
        assert_eq!(passes(json.clone(), &push), expected, "{json}");
    }
}

/// The explanation names the element, and its text has the value of that element alone.
#[test]
fn the_element_that_decided_is_named() {
    let push = push();
    for (rules, element, text) in [
        (
            is("value", "Café", "commits.*.title"),
            json!("commits.1.title"),
            "payload commits.1.title is \"Café\"",
        ),
        (
            is("is-not", "urgent", "labels.*"),
            json!("labels.1"),
            "payload labels.1 is \"urgent\", wanted anything but \"urgent\"",
        ),
        (
            is("value", "late", "labels.*"),
            Value::Null,
            "payload labels.* is \"bug\", \"urgent\", wanted \"late\"",
        ),
        (
            is("at-least", "13", "commits.*.lines"),
            json!("commits.1.lines"),
            "payload commits.1.lines is \"9007199254740993\", which is at least 13",
        ),
        (is("exists", "", "no.*"), Value::Null, "payload no.* is missing"),
    ] {
        let explanation = parse(rules.clone()).explain(&Subject::new(&push));
        assert_eq!(explanation.text(), text);
        let json = serde_json::to_value(&explanation).expect("JSON");
        assert_eq!(json["element"], element, "{rules}");
        let hidden = serde_json::to_value(explanation.without_values()).expect("JSON");
        assert_eq!(hidden["element"], Value::Null);
    }
}

/// A value that is no base64 is skipped, and an element whose value is not shown does not get the
/// value of another one.
#[test]
fn the_text_has_the_value_of_the_element_or_none() {
    let encoded = with_body("application/json", r#"{"a": ["*", "YmVl", "Y293"]}"#);
    let rules = json!({"match": {"type": "value", "value": "cow", "parameter": {
        "source": "payload", "name": "a.*", "base64decode": true,
    }}});
    let explanation = parse(rules).explain(&Subject::new(&encoded));
    assert_eq!(explanation.text(), "payload a.2 is \"cow\"");

    let list: Vec<_> = (0..20).collect();
    let long = with_body("application/json", json!({"a": list}).to_string());
    let explanation = parse(is("at-least", "19", "a.*")).explain(&Subject::new(&long));
    let text = explanation.text();
    assert!(text.starts_with("payload a.* is \"0\", \"1\", \"2\"…, which"), "{text}");
    let json = serde_json::to_value(&explanation).expect("JSON");
    assert_eq!(json["element"], "a.19");
}
