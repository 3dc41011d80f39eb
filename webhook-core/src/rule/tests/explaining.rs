//! Explanations: as the matcher, and worth reading.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    Request, Rules, Subject, add_header, parse, passes,
    properties::{any_request, any_rules},
    rule, with_body,
};
use crate::rule::{
    Explanation, MAX_EXPLAINED_BYTES, MAX_EXPLAINED_VALUE_BYTES, MAX_EXPLAINED_VALUES, MAX_RULES,
};

fn explain(rules: &Value, request: &Request) -> Explanation {
    parse(rules.clone()).explain(&Subject::new(request))
}

fn text(rules: Value, request: &Request) -> String {
    explain(&rules, request).text()
}

fn is(source: &str, name: &str, value: &str) -> Value {
    rule("value", "value", value, source, name)
}

/// `rules` with the match at `path` in place of one that always says the other.
fn flip(rules: &mut Value, path: &str, outcome: bool) {
    let mut place = rules;
    let path = path.strip_prefix("rules").expect("it begins with the rules");
    let path = path.strip_suffix(".match").expect("it names a match");
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let (key, index) = step.split_once('[').map_or((step, None), |(key, index)| {
            (key, index.strip_suffix(']').and_then(|index| index.parse::<usize>().ok()))
        });
        place = &mut place[key];
        if let Some(index) = index {
            place = &mut place[index];
        }
    }
    assert!(place["match"].is_object(), "{path}");
    *place = if outcome { json!({"or": []}) } else { json!({}) };
}

/// What the whole says when these matches come out the other way.
fn flipped(rules: &Value, leaves: &[(String, bool)], request: &Request) -> bool {
    let mut rules = rules.clone();
    for (path, outcome) in leaves {
        flip(&mut rules, path, *outcome);
    }
    passes(rules, request)
}

/// The matches that decided: where each is, and what it said.
fn deciding(explanation: &Explanation, rules: &Value, request: &Request) -> Vec<(String, bool)> {
    let leaves = explanation.deciding().into_iter();
    let said = leaves.map(|leaf| {
        let mut place = rules.clone();
        let path = leaf.path.strip_prefix("rules").expect("it begins with the rules");
        for step in path.split(['.', '[', ']']).filter(|step| !step.is_empty() && *step != "match")
        {
            place = match step.parse::<usize>() {
                Ok(index) => place[index].take(),
                Err(_) => place[step].take(),
            };
        }
        (leaf.path.clone(), passes(place, request))
    });
    said.collect()
}

/// Rules whose outcome is a constant, and others.
fn rules() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => any_rules(),
        1 => any_rules().prop_map(|rules| json!({"and": [rules, {"or": []}]})),
        1 => any_rules().prop_map(|rules| json!({"not": [{}, rules]})),
    ]
}

fn agrees(rules: &Value, request: &Request) -> Result<(), TestCaseError> {
    let explanation = explain(rules, request);
    let verdict = passes(rules.clone(), request);
    prop_assert_eq!(explanation.outcome, verdict);
    prop_assert!(explanation.decided);
    let deciding = deciding(&explanation, rules, request);
    if deciding.is_empty() {
        return Ok(());
    }
    prop_assert_eq!(flipped(rules, &deciding, request), !verdict, "{:?}", deciding);
    for left_out in 0..deciding.len() {
        let mut fewer = deciding.clone();
        fewer.remove(left_out);
        prop_assert_eq!(flipped(rules, &fewer, request), verdict, "without {}", left_out);
    }
    Ok(())
}

proptest! {
    // 256 cases; PROPTEST_CASES=1000000 is the long form.
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn the_root_is_the_verdict_and_flips_with_what_decided(
        rules in rules(), request in any_request(),
    ) {
        agrees(&rules, &request)?;
    }

    #[test]
    fn what_is_undecidable_stays_whatever_the_matches_say(
        rules in rules(), request in any_request(), seed in any::<u64>(),
    ) {
        let explanation = explain(&rules, &request);
        if explanation.deciding().is_empty() {
            let mut all = Vec::new();
            let mut number = seed;
            explanation.visit_for_test(&mut |path, outcome| {
                number = number.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                if number & 1 == 1 {
                    all.push((path.to_owned(), outcome));
                }
            });
            prop_assert_eq!(flipped(&rules, &all, &request), explanation.outcome);
        }
    }

    #[test]
    fn any_explanation_is_written_within_its_bounds(
        rules in rules(), request in any_request(),
    ) {
        let explanation = explain(&rules, &request);
        let json = serde_json::to_value(&explanation).expect("it is JSON");
        prop_assert!(json["outcome"].is_boolean());
        prop_assert!(!explanation.text().is_empty());
        prop_assert!(explanation.text().len() < 4_096);
        let hidden = explanation.without_values();
        let json = serde_json::to_string(&hidden).expect("it is JSON");
        prop_assert_eq!(json.matches("\"actual\":[").count(), json.matches("\"actual\":[]").count());
    }
}

fn closed() -> Request {
    let mut request = with_body("application/json", r#"{"action": "closed", "n": [1, 2]}"#);
    add_header(&mut request, "x-kind", b"a");
    add_header(&mut request, "x-kind", b"b");
    request
}

#[test]
fn people_are_told_what_it_was_and_what_was_wanted() {
    let request = closed();
    let opened = is("payload", "action", "opened");
    let closed = is("payload", "action", "closed");
    let told = [
        (opened.clone(), r#"payload action is "closed", wanted "opened""#),
        (closed.clone(), r#"payload action is "closed""#),
        (json!({"not": closed}), r#"payload action is "closed", wanted anything but "closed""#),
        (json!({"not": opened}), r#"payload action is "closed", which is not "opened""#),
        (is("header", "X-Kind", "c"), r#"header X-Kind is "a", "b", wanted "c""#),
        (is("query", "debug", "1"), "query debug is missing"),
        (
            rule("regex", "regex", "^op", "payload", "action"),
            r#"payload action is "closed", wanted one that matches "^op""#,
        ),
        (
            rule("contains", "substring", "los", "payload", "action"),
            r#"payload action is "closed", which contains "los""#,
        ),
        (
            rule("does-not-contain", "substring", "los", "payload", "action"),
            r#"payload action is "closed", wanted one without "los""#,
        ),
        (
            rule("payload-hmac-sha256", "secret", "hidden", "header", "X-Kind"),
            "header X-Kind is \"a\", \"b\", wanted the signature of the body under the rule's secret",
        ),
        (
            json!({"match": {"type": "ip-whitelist", "ip-range": "192.0.2.0/24"}}),
            "the sender's address is missing",
        ),
        (json!({}), "the rules ask for nothing"),
        (json!({"or": []}), "the rules let nothing pass, whatever it is"),
    ];
    for (rules, expected) in told {
        assert_eq!(text(rules.clone(), &request), expected, "{rules}");
    }
}

#[test]
fn what_decided_is_told_first_and_the_rest_is_counted() {
    let request = closed();
    let wrong = |value: &str| is("payload", "action", value);
    let both = json!({"and": [wrong("a"), wrong("b")]});
    let rules = json!({"or": [both, wrong("c"), wrong("d")]});
    assert_eq!(
        text(rules, &request),
        "payload action is \"closed\", wanted \"c\"; payload action is \"closed\", wanted \"a\"; \
         payload action is \"closed\", wanted \"b\"; and 1 more"
    );
}

#[test]
fn every_rule_says_where_it_stands_what_it_said_and_whether_it_decided() {
    let rules = json!({"and": [
        is("payload", "action", "closed"),
        {"or": [is("payload", "action", "opened"), {"not": is("query", "a", "1")}]},
        {"not": [is("payload", "missing", "x"), is("payload", "action", "closed")]},
    ]});
    let json = serde_json::to_value(explain(&rules, &closed())).expect("it is JSON");
    assert_eq!((&json["outcome"], &json["decided"]), (&json!(false), &json!(true)));
    let marked = |pointer: &str| {
        let rule = json.pointer(pointer).expect("it is there");
        (rule["outcome"] == true, rule["decided"] == true)
    };
    assert_eq!(marked("/and/0"), (true, false));
    assert_eq!(marked("/and/1"), (true, false));
    assert_eq!(marked("/and/1/or/1/not/0"), (false, false));
    assert_eq!(marked("/and/2"), (false, true));
    assert_eq!(marked("/and/2/not/0"), (false, false));
    assert_eq!(marked("/and/2/not/1"), (true, true));
    assert_eq!(json["and"][2]["not"][1]["path"], "rules.and[2].not[1].match");
    assert_eq!(json["and"][1]["or"][1]["not"][0]["path"], "rules.and[1].or[1].not.match");
    assert_eq!(json["and"][1]["or"][1]["not"][0]["missing"], true);
    assert_eq!(json["and"][0]["actual"], json!(["closed"]));
    assert_eq!(json["and"][0]["match"], rules["and"][0]["match"]);
}

#[test]
fn secrets_are_never_shown() {
    let body = r#"{"user": "ann", "auth": {"api_key": "hush", "Password": ["hush", {"a": "hush"}]},
        "session_id": 4711, "note": "kept", "token": "hush \" hush"#;
    let mut request = with_body("application/json", body);
    add_header(&mut request, "authorization", b"Bearer hush");
    add_header(&mut request, "x-gitlab-token", b"hush");
    request.raw_query = "access_token=hush&page=2".into();
    let rules = json!({"or": [
        rule("payload-hmac-sha256", "secret", "hush", "header", "X-Signature"),
        is("header", "Authorization", "Bearer hush?"),
        is("header", "X-Gitlab-Token", "hush?"),
        is("query", "access_token", "hush?"),
        is("body", "", "x"),
        is("entire-payload", "", "x"),
        is("entire-query", "", "x"),
        is("entire-headers", "", "x"),
        is("payload", "auth", "x"),
    ]});
    let explanation = explain(&rules, &request);
    let all = format!("{} {explanation:?}", serde_json::to_string(&explanation).expect("JSON"));
    assert!(!all.contains("hush"), "{all}");
    assert!(!all.contains("4711"), "{all}");
    assert!(all.contains("kept") && all.contains("ann"), "{all}");
    assert!(all.contains("page"), "{all}");
    assert_eq!(
        text(is("header", "Authorization", "no"), &request),
        "header Authorization is not what the rule names"
    );

    let form = with_body("application/x-www-form-urlencoded", "user=ann&password=hush");
    let json = serde_json::to_string(&explain(&is("body", "", "x"), &form)).expect("JSON");
    assert!(json.contains("user=ann&password=…"), "{json}");
}

#[test]
fn values_are_cut() {
    let value = "é".repeat(2_000);
    let mut request = with_body("text/plain", value);
    for number in 0..20 {
        add_header(&mut request, "x-many", number.to_string().as_bytes());
    }
    let json = |rules: Value| serde_json::to_value(explain(&rules, &request)).expect("JSON");
    let long = json(is("body", "", "x"));
    assert_eq!(long["actual"][0].as_str().map(str::len), Some(MAX_EXPLAINED_VALUE_BYTES));
    assert_eq!(long["cut"], true);
    let many = json(is("header", "X-Many", "x"));
    assert_eq!(many["actual"].as_array().map(Vec::len), Some(MAX_EXPLAINED_VALUES));
    assert_eq!((&many["actual"][9], &many["cut"]), (&json!("9"), &json!(true)));

    let rules = vec![is("body", "", "x"); MAX_RULES - 1];
    let all = json(json!({"or": rules}));
    let shown = all["or"].as_array().expect("a list").iter();
    let shown: usize = shown.filter_map(|leaf| leaf["actual"][0].as_str()).map(str::len).sum();
    assert_eq!(shown, MAX_EXPLAINED_BYTES);
}

#[test]
fn without_values_the_way_and_the_words_remain() {
    let explanation = explain(&is("payload", "action", "opened"), &closed()).without_values();
    assert_eq!(explanation.text(), "payload action is not what the rule names");
    let json = serde_json::to_value(&explanation).expect("JSON");
    assert_eq!((&json["actual"], &json["decided"]), (&json!([]), &json!(true)));
}

#[test]
fn no_rules_are_explained_too() {
    let explanation = Rules::default().explain(&Subject::new(&closed()));
    assert!(explanation.outcome);
    assert_eq!(
        serde_json::to_value(&explanation).expect("JSON"),
        json!({"and": [], "outcome": true, "decided": true})
    );
}
