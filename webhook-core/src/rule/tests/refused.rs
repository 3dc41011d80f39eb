use serde_json::{Value, json};

use super::rule;
use crate::rule::{
    AnswerRules, MAX_DEPTH, MAX_PATH_SEGMENTS, MAX_REGEX_BYTES, MAX_REGEXES, MAX_RULES,
    MAX_SIGNATURES, MAX_SIZE_BYTES, MAX_SLOW_REGEXES, Rules,
};

fn refusal(json: &Value) -> String {
    // Errors of rules that are read from text end with the line and column.
    let from_value = serde_json::from_value::<Rules>(json.clone()).expect_err("refused");
    let from_text = serde_json::from_str::<Rules>(&json.to_string()).expect_err("refused");
    assert!(from_text.to_string().starts_with(&from_value.to_string()), "{from_text}");
    from_value.to_string()
}

fn accepted(json: Value) {
    serde_json::from_value::<Rules>(json).expect("accepted");
}

/// `inner` inside `depth` of `not`.
fn nested(depth: usize, inner: Value) -> Value {
    (0..depth).fold(inner, |inner, _| json!({"not": inner}))
}

#[test]
fn errors_say_where_and_why() {
    let header = json!({"source": "header", "name": "x"});
    let table = [
        (json!([]), "rules: must be an object"),
        (json!("all"), "rules: must be an object"),
        (
            json!({"adn": []}),
            "rules.adn: is no rule; expected \"and\", \"or\", \"not\" or \"match\"",
        ),
        (json!({"and": {}}), "rules.and: must be a list of rules"),
        (json!({"or": "x"}), "rules.or: must be a list of rules"),
        (json!({"not": 1}), "rules.not: must be a rule or a list of rules"),
        (json!({"match": []}), "rules.match: must be an object"),
        (json!({"and": [{}, null]}), "rules.and[1]: must be an object"),
        (
            json!({"and": [], "match": {}}),
            "rules: has both \"and\" and \"match\"; it must have one",
        ),
        (json!({"match": {}}), "rules.match.type: is missing"),
        (json!({"match": {"type": 1}}), "rules.match.type: must be text"),
        (json!({"match": {"type": "Value"}}), "rules.match.type: unknown type \"Value\"; expected"),
        (
            json!({"match": {"type": "payload-hmac-md5"}}),
            "rules.match.type: unknown type \"payload-hmac-md5\"",
        ),
        (json!({"match": {"type": "value"}}), "rules.match.value: is missing"),
        (
            json!({"match": {"type": "value", "value": 5, "parameter": header}}),
            "rules.match.value: must be text",
        ),
        (json!({"match": {"type": "contains"}}), "rules.match.substring: is missing"),
        (json!({"match": {"type": "does-not-contain"}}), "rules.match.substring: is missing"),
        (json!({"match": {"type": "regex"}}), "rules.match.regex: is missing"),
        (json!({"match": {"type": "payload-hmac-sha1"}}), "rules.match.secret: is missing"),
        (
            json!({"match": {"type": "payload-hash-sha512", "secret": ""}}),
            "rules.match.secret: must not be empty",
        ),
        (json!({"match": {"type": "ip-whitelist"}}), "rules.match.ip-range: is missing"),
        (json!({"match": {"type": "value", "value": ""}}), "rules.match.parameter: is missing"),
        (
            json!({"match": {"type": "value", "value": "", "parameter": "x"}}),
            "rules.match.parameter: must be an object",
        ),
        (
            json!({"match": {"type": "value", "value": "", "parameter": {}}}),
            "rules.match.parameter.source: is missing",
        ),
        (
            rule("value", "value", "", "cookie", "x"),
            "rules.match.parameter.source: unknown source \"cookie\"; expected one of payload, header",
        ),
        (
            rule("value", "value", "", "webhook", "reason"),
            "rules.match.parameter.name: unknown part \"reason\" of the webhook; expected one of \
             verified, event, duplicate_of",
        ),
        (
            json!({"match": {"type": "value", "value": "", "parameter": {"source": "header"}}}),
            "rules.match.parameter.name: is missing",
        ),
        (
            rule("value", "value", "", "header", "two words"),
            "rules.match.parameter.name: \"two words\" is not a header name",
        ),
        (rule("value", "value", "", "query", ""), "rules.match.parameter.name: must not be empty"),
        (
            rule("value", "value", "", "payload", ""),
            "rules.match.parameter.name: must not be empty",
        ),
        (
            rule("value", "value", "", "request", "host"),
            "rules.match.parameter.name: unknown part \"host\" of the request",
        ),
        (
            json!({"match": {"type": "value", "value": "", "parameter":
                {"source": "body", "base64decode": "yes"}}}),
            "rules.match.parameter.base64decode: must be a boolean",
        ),
        (
            json!({"match": {"type": "value", "value": "", "parameter":
                {"source": "body", "envname": 1}}}),
            "rules.match.parameter.envname: must be text",
        ),
        (
            json!({"and": [{}, {"or": [{"not": rule("regex", "regex", "a(b", "header", "x")}]}]}),
            "rules.and[1].or[0].not.match.regex: unclosed group",
        ),
        (
            rule("regex", "regex", r"(a)\1", "header", "x"),
            "rules.match.regex: backreferences are not supported",
        ),
        (
            rule("regex", "regex", "(a{1000}){1000}", "header", "x"),
            "rules.match.regex: takes more than 524288 bytes when compiled",
        ),
    ];
    for (json, expected) in table {
        let refusal = refusal(&json);
        assert!(refusal.starts_with(expected), "{json}\n is {refusal}\nnot {expected}");
    }
}

#[test]
fn networks_are_checked() {
    for range in ["", " ", "192.0.2.0/33", "192.0.2.0/24,10.0.0.0/8", "192.0.2", "x", "::1/129"] {
        let refusal = refusal(&json!({"match": {"type": "ip-whitelist", "ip-range": range}}));
        assert!(refusal.starts_with("rules.match.ip-range: "), "{refusal}");
    }
}

#[test]
fn depth_is_bounded() {
    let leaf = || rule("value", "value", "", "payload", "x");
    accepted(nested(MAX_DEPTH - 1, leaf()));
    accepted((1..MAX_DEPTH).fold(leaf(), |inner, _| json!({"and": [inner]})));
    let not = ".not".repeat(MAX_DEPTH);
    assert_eq!(
        refusal(&nested(MAX_DEPTH, leaf())),
        format!("rules{not}: rules are more than 32 deep")
    );
    let and = (0..MAX_DEPTH).fold(leaf(), |inner, _| json!({"and": [inner]}));
    let path = ".and[0]".repeat(MAX_DEPTH);
    assert_eq!(refusal(&and), format!("rules{path}: rules are more than 32 deep"));
}

#[test]
fn text_that_is_thousands_deep_is_refused_before_it_is_kept() {
    for depth in [100, 1_000, 1_000_000] {
        for (open, close, step) in [
            (r#"{"not":"#, "}", ".not"),
            (r#"{"and":["#, "]}", ".and[0]"),
            // Unknown fields are ignored, but not stored at any depth.
            (r#"{"and":[],"x":["#, "]}", ".x[0]"),
        ] {
            let text = format!("{}{{}}{}", open.repeat(depth), close.repeat(depth));
            let error = serde_json::from_str::<Rules>(&text).expect_err("refused").to_string();
            let path = format!("rules{}", step.repeat(34));
            assert!(error.starts_with(&path), "{error}");
            assert!(error.contains(": rules are more than 32 deep"), "{error}");
        }
    }
}

#[test]
fn the_number_of_rules_is_bounded() {
    // The list itself is one.
    accepted(json!({"or": vec![json!({}); MAX_RULES - 1]}));
    let refusal = refusal(&json!({"or": vec![json!({}); MAX_RULES]}));
    assert_eq!(refusal, "rules.or[999]: there are more than 1000 rules");
}

#[test]
fn the_size_is_bounded() {
    let with_value = |bytes| rule("value", "value", &"x".repeat(bytes), "body", "");
    accepted(with_value(MAX_SIZE_BYTES - 500));
    assert_eq!(
        refusal(&with_value(MAX_SIZE_BYTES)),
        "rules.match.value: rules are over 262144 bytes",
    );
    let many = json!({"and": [], "ignored": vec![0; MAX_SIZE_BYTES / 8]});
    assert!(refusal(&many).ends_with(": rules are over 262144 bytes"));
}

#[test]
fn regexes_are_bounded() {
    let regex = |pattern: &str| rule("regex", "regex", pattern, "body", "");
    let times = |pattern, count| json!({"or": vec![regex(pattern); count]});
    accepted(times(r"^[\w.+-]+@[\w-]+\.\w{2,}$", MAX_REGEXES));
    assert_eq!(
        refusal(&times("a", MAX_REGEXES + 1)),
        "rules.or[100].match.regex: there are more than 100 regexes",
    );
    accepted(regex(&"a".repeat(MAX_REGEX_BYTES)));
    assert_eq!(
        refusal(&regex(&"a".repeat(MAX_REGEX_BYTES + 1))),
        "rules.match.regex: is longer than 8192 bytes",
    );
    let slow = "foo.{0,100}bar";
    accepted(times(slow, MAX_SLOW_REGEXES));
    assert_eq!(
        refusal(&times(slow, MAX_SLOW_REGEXES + 1)),
        "rules.or[8].match.regex: there are more than 8 regexes this complex",
    );
    let deep = format!("{}a{}", "(".repeat(4_000), ")".repeat(4_000));
    assert!(refusal(&regex(&deep)).starts_with("rules.match.regex: "));
}

#[test]
fn signatures_are_bounded() {
    let signature = rule("payload-hmac-sha256", "secret", "s", "header", "x");
    accepted(json!({"or": vec![signature.clone(); MAX_SIGNATURES]}));
    assert_eq!(
        refusal(&json!({"or": vec![signature; MAX_SIGNATURES + 1]})),
        "rules.or[100].match.type: there are more than 100 matches of the HMAC types",
    );
}

#[test]
fn paths_into_the_body_are_bounded() {
    let path = |segments| rule("value", "value", "", "payload", &vec!["a"; segments].join("."));
    accepted(path(MAX_PATH_SEGMENTS));
    assert_eq!(
        refusal(&path(MAX_PATH_SEGMENTS + 1)),
        "rules.match.parameter.name: has more than 64 segments",
    );
}

#[test]
fn a_key_given_twice_is_refused() {
    let text = r#"{"or": [{"match": {"type": "value", "type": "regex"}}]}"#;
    let error = serde_json::from_str::<Rules>(text).expect_err("refused").to_string();
    assert!(error.starts_with("rules.or[0].match.type: is given twice"), "{error}");
}

#[test]
fn errors_repeat_little_of_what_was_sent() {
    let long = "é".repeat(10_000);
    for json in [
        json!({ long.as_str(): 1 }),
        rule(&long, "value", "", "body", ""),
        rule("value", "value", "", &long, ""),
        rule("value", "value", "", "header", &long),
        rule("value", "value", "", "request", &long),
        rule("ip-whitelist", "ip-range", &long, "", ""),
        rule("regex", "regex", &format!("({}", "a".repeat(5_000)), "body", ""),
    ] {
        let refusal = refusal(&json);
        assert!(refusal.len() < 512, "{} bytes: {refusal}", refusal.len());
    }
}

#[test]
fn an_answer_has_a_status_and_a_webhook_has_a_sender_and_a_query() {
    let about = |source: &str, name: &str| rule("value", "value", "200", source, name);
    let status = about("status", "");
    let error = refusal(&json!({"and": [status]}));
    let said = "rules.and[0].match.parameter.source: unknown source \"status\"; expected one of";
    assert!(error.starts_with(said) && !error.ends_with("status"), "{error}");
    for (json, said) in [
        (json!([]), "success_when: must be an object"),
        (json!({"or": [{"and": {}}]}), "success_when.or[0].and: must be a list of rules"),
        (about("query", "a"), "success_when.match.parameter.source: unknown source \"query\""),
        (about("request", "path"), "success_when.match.parameter.source: unknown source"),
        (about("webhook", "event"), "success_when.match.parameter.source: unknown source"),
        (about("entire-query", ""), "success_when.match.parameter.source: unknown source"),
        (
            json!({"match": {"type": "ip-whitelist", "ip-range": "192.0.2.1"}}),
            "success_when.match.type: \"ip-whitelist\" is about the sender of a webhook",
        ),
    ] {
        let error = serde_json::from_value::<AnswerRules>(json).expect_err(said).to_string();
        assert!(error.starts_with(said), "{error}");
    }
    for source in ["status", "header", "payload", "body", "string", "entire-payload"] {
        let rules = serde_json::from_value::<AnswerRules>(about(source, "a"));
        assert!(rules.is_ok(), "{source}");
    }
}
