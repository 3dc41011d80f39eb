use serde_json::json;

use super::{is_missing, is_text, rule, with_body};
use crate::rule::{
    MAX_VALUES, MAX_XML_DEPTH, Request, Subject, payload::is_readable, tests::parse,
};

const JSON: &str = "application/json";

/// Checks what is found under each path; none stands for missing.
fn check(request: &Request, table: &[(&str, Option<&str>)]) {
    for (path, expected) in table {
        match expected {
            Some(text) => {
                assert!(is_text(request, "payload", path, text), "{path:?} is {text:?}");
            }
            None => assert!(is_missing(request, "payload", path), "{path:?} is missing"),
        }
    }
}

#[test]
fn json_is_found_by_path() {
    let body = r#" {
        "ref": "refs/heads/main",
        "commits": [{"author": {"name": "Zoë"}}, {"author": {"name": "B"}}, 7],
        "text": "a\"b\\ \u00e9 \/",
        "big": 12345678901234567890123, "price": 1.50, "yes": true, "nil": null,
        "object": {"b" : [ 1 , "two words" , {"c": "\u00e9\/\" "} ] , "a" : { } },
        "": {"": "empty keys"}, "x": {"": "deep"}
    } "#;
    check(
        &with_body(JSON, body),
        &[
            ("ref", Some("refs/heads/main")),
            ("commits.0.author.name", Some("Zoë")),
            ("commits.1.author.name", Some("B")),
            ("commits.2", Some("7")),
            ("commits.3", None),
            ("commits.00", None),
            ("commits.-1", None),
            ("commits.author", None),
            ("ref.0", None),
            ("ref.length", None),
            ("text", Some("a\"b\\ é /")),
            ("big", Some("12345678901234567890123")),
            ("price", Some("1.50")),
            ("yes", Some("true")),
            ("nil", Some("null")),
            ("nil.x", None),
            ("object", Some(r#"{"b":[1,"two words",{"c":"é/\" "}],"a":{}}"#)),
            ("object.b", Some(r#"[1,"two words",{"c":"é/\" "}]"#)),
            ("object.a", Some("{}")),
            (".", Some("empty keys")),
            ("x.", Some("deep")),
            ("Ref", None),
        ],
    );
    check(&with_body(JSON, r#"[{"id": 5}, [6]]"#), &[("0.id", Some("5")), ("1.0", Some("6"))]);
}

#[test]
fn longer_keys_win_and_shorter_ones_are_tried() {
    let body = r#"{
        "a": {"b": "nested", "c": "c", "d.e": "1", "d": {"e": "2"}},
        "a.b": "literal",
        "a.b.x": {"y": "half"},
        "p.q": {"r": 1}, "p": {"q": {"s": 2}}
    }"#;
    check(
        &with_body(JSON, body),
        &[
            ("a.b", Some("literal")),
            ("a.c", Some("c")),
            ("a.d.e", Some("1")),
            ("a.b.x.y", Some("half")),
            ("p.q.r", Some("1")),
            ("p.q.s", Some("2")),
        ],
    );
}

#[test]
fn of_a_repeated_key_the_last_counts() {
    let body = r#"{"a": {"b": 1}, "a": {"c": 2}, "d": 1, "d": 2}"#;
    check(&with_body(JSON, body), &[("a.b", None), ("a.c", Some("2")), ("d", Some("2"))]);
}

#[test]
fn all_paths_are_found_together() {
    let body = r#"{"a": {"b": {"c": 1}, "bc": 2}, "a-b": 3, "ab": 4, "a/": 5}"#;
    let expected = [("a.b.c", "1"), ("a.bc", "2"), ("a-b", "3"), ("ab", "4"), ("a/", "5")];
    let all: Vec<_> = expected
        .iter()
        .chain(&[("a.b", r#"{"c":1}"#), ("a", r#"{"b":{"c":1},"bc":2}"#)])
        .map(|(path, text)| rule("value", "value", text, "payload", path))
        .collect();
    let request = with_body(JSON, body);
    let rules = parse(serde_json::json!({"and": all}));
    assert!(rules.matches(&Subject::new(&request)));
}

#[test]
fn unpaired_surrogates_spoil_only_what_holds_them() {
    let request = with_body(JSON, r#"{"bad": "\ud800", "list": ["\ud800", "\u0041"], "good": 1}"#);
    check(&request, &[("bad", None), ("good", Some("1")), ("list", Some(r#"["\ud800","A"]"#))]);
    let request = with_body(JSON, r#"{"\ud800": 1, "good": 1, "x": {"y": 2}}"#);
    check(&request, &[("good", None), ("x.y", None)]);
}

#[test]
fn what_does_not_parse_is_missing() {
    for (content_type, body) in [
        (JSON, ""),
        (JSON, "{"),
        (JSON, r#"{"a": 1"#),
        (JSON, r#"{"a": 1} x"#),
        (JSON, r#"{"a": 1,}"#),
        (JSON, "<a>1</a>"),
        (JSON, "a=1"),
        ("application/xml", r#"{"a": 1}"#),
        ("application/xml", "<a>1"),
        ("application/xml", "<a>1</b>"),
        ("application/xml", "<a>1</a><a>2</a>"),
        ("application/xml", "<a>1</a>text"),
        ("application/xml", "<a>&undefined;</a>"),
        ("application/xml", "<!DOCTYPE a [<!ENTITY e \"1\">]><a>&e;</a>"),
        ("application/xml", "<a b='&undefined;'>1</a>"),
        ("application/xml", "<a b=>1</a>"),
        ("application/xml", "</a>"),
        ("application/xml", "<!-- nothing -->"),
        ("multipart/form-data; boundary=x", r#"{"a": 1}"#),
        ("text/plain", "a=1"),
        ("", ""),
        ("", " "),
    ] {
        let request = with_body(content_type, body);
        check(&request, &[("a", None)]);
        assert!(is_missing(&request, "entire-payload", ""), "{content_type}: {body}");
    }
}

#[test]
fn bytes_that_are_no_text_hide_no_other_field() {
    let request = with_body(JSON, &b"{\"ref\":\"x\",\"m\":\"caf\xe9\"}"[..]);
    check(&request, &[("ref", Some("x")), ("m", Some("caf\u{fffd}"))]);
    let request = with_body("text/xml", &b"<a><b>\xff</b><c>1</c></a>"[..]);
    check(&request, &[("a.b", Some("\u{fffd}")), ("a.c", Some("1"))]);
}

#[test]
fn a_path_leads_on_into_a_text_that_is_json() {
    let message = json!({"id": 7, "list": [{"n": "a"}, {"n": "b"}], "text": "plain"}).to_string();
    let inner = json!({"Message": message, "n": 1}).to_string();
    let body = json!({
        "Message": message, "Records": [{"body": message}, {"body": inner}], "a.b": message,
        "broken": "{\"id\":", "text": "[]",
    });
    let json = with_body(JSON, body.to_string());
    check(
        &json,
        &[
            ("Message", Some(&message)),
            ("Message.id", Some("7")),
            ("Message.list", Some(r#"[{"n":"a"},{"n":"b"}]"#)),
            ("Message.list.1.n", Some("b")),
            ("Message.list.*.n", Some("b")),
            ("Message.text.x", None),
            ("Message.absent", None),
            ("Records.1.body.Message.id", Some("7")),
            ("Records.*.body.Message.list.*.n", Some("a")),
            ("Records.*.body.id", Some("7")),
            ("a.b.id", Some("7")),
            ("broken.id", None),
            ("text.0", None),
        ],
    );
    let form = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("token", "t")
        .append_pair("event", &message)
        .append_pair("event.id", "a field of its own")
        .finish();
    let form = with_body("application/x-www-form-urlencoded", form);
    check(
        &form,
        &[
            ("event.id", Some("a field of its own")),
            ("event.list.0.n", Some("a")),
            ("event.list.*.n", Some("b")),
            ("token.id", None),
        ],
    );
    let xml = with_body("text/xml", "<a><m>{\"id\":5}</m></a>");
    check(&xml, &[("a.m.id", Some("5")), ("a.m.0.id", Some("5"))]);
}

#[test]
fn a_form_with_json_in_payload_is_that_json() {
    let payload = json!({"action": "opened", "issue": {"n": 1}, "list": [1]}).to_string();
    let encode = |fields: &[(&str, &str)]| {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields);
        with_body("application/x-www-form-urlencoded; charset=utf-8", form.finish())
    };
    let request = encode(&[("payload", &payload)]);
    check(
        &request,
        &[
            ("action", Some("opened")),
            ("issue.n", Some("1")),
            ("list.*", Some("1")),
            ("payload", Some(&payload)),
            ("payload.issue.n", Some("1")),
            ("absent", None),
        ],
    );
    assert!(is_text(&request, "entire-payload", "", &payload));
    let two = encode(&[("payload", &payload), ("token", "t")]);
    check(&two, &[("action", None), ("payload.action", Some("opened")), ("token", Some("t"))]);
    let text = encode(&[("payload", "plain")]);
    check(&text, &[("payload", Some("plain")), ("action", None)]);
    let broken = encode(&[("payload", "{\"action\":")]);
    check(&broken, &[("payload", Some("{\"action\":")), ("action", None)]);
}

#[test]
fn a_form_that_starts_as_something_else_is_that() {
    let form = "application/x-www-form-urlencoded";
    check(&with_body(form, r#"[{"event":"d"}]"#), &[("0.event", Some("d"))]);
    check(&with_body(form, "<a>1</a>"), &[("a", Some("1"))]);
}

#[test]
fn the_format_is_what_the_content_type_or_the_first_byte_says() {
    for (content_type, body) in [
        (JSON, r#"{"a": 1}"#),
        ("Application/JSON ; charset=utf-8", r#"{"a": 1}"#),
        ("application/cloudevents+json", r#"{"a": 1}"#),
        ("text/json", r#"{"a": 1}"#),
        ("", " \n{\"a\": 1}"),
        ("text/plain", r#"{"a": 1}"#),
        ("application/octet-stream", "\u{feff}{\"a\": 1}"),
        ("application/x-www-form-urlencoded", r#"{"a": 1}"#),
        ("application/xml", "<a>1</a>"),
        ("text/xml; charset=utf-8", "<a>1</a>"),
        ("application/soap+xml", "<a>1</a>"),
        ("", "<?xml version=\"1.0\"?><a>1</a>"),
        ("application/x-www-form-urlencoded", "a=1&b=2"),
        ("", "a=1&b=2"),
    ] {
        check(&with_body(content_type, body), &[("a", Some("1"))]);
    }
}

#[test]
fn form_fields_go_by_their_whole_name() {
    let body = "a.b=dotted&user%5Bname%5D=x+y&tag=one&tag=tw%C3%B6&flag&%ff=bad";
    let request = with_body("application/x-www-form-urlencoded", body);
    check(
        &request,
        &[
            ("a.b", Some("dotted")),
            ("a", None),
            ("user[name]", Some("x y")),
            ("tag", Some("one")),
            ("tag", Some("twö")),
            ("flag", Some("")),
        ],
    );
    let (others, count) = ("a=0&".repeat(MAX_VALUES - 1), "b=1&".repeat(MAX_VALUES));
    let request_with_many = with_body("", format!("{others}{count}a=last&a=beyond"));
    check(&request_with_many, &[("a", Some("last"))]);
    assert!(!is_text(&request_with_many, "payload", "a", "beyond"));
    let json = "{\"a.b\":\"dotted\",\"flag\":\"\",\"tag\":[\"one\",\"twö\"],\
                \"user[name]\":\"x y\",\"\u{fffd}\":\"bad\"}";
    assert!(is_text(&request, "entire-payload", "", json));
}

#[test]
fn xml_is_found_by_path() {
    let body = r#"<?xml version="1.0" encoding="utf-8"?><!DOCTYPE order>
        <s:order xmlns:s="urn:x" id="7" s:kind='a &amp; b'>
            <!-- comment --><item sku="1"> one </item><item>two &lt;&#65;&#x42;&gt;</item>
            <only><![CDATA[<raw> & text]]></only><empty/><gone></gone>
            <mixed>a<b>c</b>d</mixed>
        </s:order>"#;
    let request = with_body("application/xml", body);
    check(
        &request,
        &[
            ("order.-id", Some("7")),
            ("order.-kind", Some("a & b")),
            ("order.item.0.-sku", Some("1")),
            ("order.item.0.#text", Some("one")),
            ("order.item.0", Some(r##"{"#text":"one","-sku":"1"}"##)),
            ("order.item.1", Some("two <AB>")),
            ("order.item.1.#text", Some("two <AB>")),
            ("order.item.2", None),
            ("order.only", Some("<raw> & text")),
            ("order.only.#text", Some("<raw> & text")),
            ("order.only.0", Some("<raw> & text")),
            ("order.only.0.#text", Some("<raw> & text")),
            ("order.only.1", None),
            ("order.empty", Some("")),
            ("order.gone", Some("")),
            ("order.mixed", Some(r##"{"#text":"ad","b":"c"}"##)),
            ("order.mixed.0.b", Some("c")),
            ("order.0.only", Some("<raw> & text")),
            ("order.absent", None),
            ("item", None),
            ("order.#text", None),
        ],
    );
    let request = with_body("", "<a><b>1</b><b c=\"2\"/></a>");
    assert!(is_text(&request, "entire-payload", "", r#"{"a":{"b":["1",{"-c":"2"}]}}"#));
}

#[test]
fn depth_costs_nothing_in_json_and_is_bounded_in_xml() {
    let nested = |open: &str, inner: &str, close: &str, depth| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    let lists = nested("[", "", "]", 500_000);
    let request = with_body(JSON, format!(r#"{{"deep": {lists}, "a": 1}}"#));
    check(&request, &[("a", Some("1")), ("deep.0.0.0.1", None)]);
    assert!(!is_missing(&request, "payload", "deep.0.0.0"));
    let path = vec!["a"; 60].join(".");
    let request = with_body(JSON, nested(r#"{"a":"#, "1", "}", 60));
    check(&request, &[(&path, Some("1"))]);
    check(&with_body(JSON, "[".repeat(500_000)), &[("0", None)]);

    let path = vec!["a"; 60].join(".");
    let within = with_body("text/xml", nested("<a>", "", "</a>", MAX_XML_DEPTH));
    assert!(!is_missing(&within, "payload", &path));
    for depth in [MAX_XML_DEPTH + 1, 200_000] {
        let beyond = with_body("text/xml", nested("<a>", "", "</a>", depth));
        assert!(is_missing(&beyond, "payload", "a"), "{depth}");
    }
}

#[test]
fn many_entries_are_read_in_linear_time() {
    // Each of these takes minutes where each entry is compared with all before it.
    let attributes: String = (0..100_000).map(|n| format!(" a{n}='1'")).collect();
    let request = with_body("text/xml", format!("<a{attributes}/>"));
    check(&request, &[("a.-a99999", Some("1"))]);
    let elements = with_body("text/xml", format!("<a>{}</a>", "<b/>".repeat(100_000)));
    check(&elements, &[("a.b.99999", Some("")), ("a.b.100000", None)]);
    let keys: String = (0..100_000).map(|n| format!(r#""a{n}":1,"#)).collect();
    check(&with_body(JSON, format!(r#"{{{keys}"b":2}}"#)), &[("b", Some("2"))]);
    let repeated = with_body(JSON, format!(r#"{{{}"a":2}}"#, r#""a":1,"#.repeat(100_000)));
    check(&repeated, &[("a", Some("2"))]);
    check(&with_body("", "a&".repeat(100_000) + "b=2"), &[("a", Some("")), ("b", Some("2"))]);
}

#[test]
fn a_body_that_this_build_does_not_read_is_known() {
    let of = |content_type, body: &'static str| with_body(content_type, body);
    for request in [of("text/xml", "<a/>"), of("", "\u{feff}<a/>"), of("application/soap+xml", "x")]
    {
        assert!(!is_readable(&request, false) && is_readable(&request, true), "{request:?}");
    }
    for request in [of("application/json", "<a/>"), of("", "{}"), of("", "a=b"), of("", "")] {
        assert!(is_readable(&request, false), "{request:?}");
    }
    let reads = parse(json!({"not": {"match": {
        "type": "value", "value": "", "parameter": {"source": "entire-payload"},
    }}}));
    let xml = of("text/xml", "<a/>");
    let answer = reads.can_evaluate(&Subject::new(&xml));
    assert_eq!(answer.is_ok(), cfg!(feature = "xml"), "{answer:?}");
}
