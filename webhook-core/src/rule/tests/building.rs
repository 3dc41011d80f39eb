use std::net::IpAddr;

use ipnet::IpNet;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Rules, parse};
use crate::rule::{
    Parameter, Rule,
    vocabulary::{MATCH_TYPES, OPERATORS, ParameterName, SOURCES},
};

/// Each way to name a parameter, with its JSON.
fn parameters() -> Vec<(Parameter, Value)> {
    let request = |name| json!({"source": "request", "name": name});
    vec![
        (Rule::header("X-Key"), json!({"source": "header", "name": "X-Key"})),
        (Rule::query("id"), json!({"source": "query", "name": "id"})),
        (Rule::payload("a.0.b"), json!({"source": "payload", "name": "a.0.b"})),
        (Rule::body(), json!({"source": "body"})),
        (Rule::method(), request("method")),
        (Rule::path(), request("path")),
        (Rule::remote_addr(), request("remote-addr")),
        (Rule::event(), json!({"source": "webhook", "name": "event"})),
        (Rule::duplicate_of(), json!({"source": "webhook", "name": "duplicate_of"})),
        (Rule::text("plain"), json!({"source": "string", "name": "plain"})),
        (Rule::entire_payload(), json!({"source": "entire-payload"})),
        (Rule::entire_query(), json!({"source": "entire-query"})),
        (Rule::entire_headers(), json!({"source": "entire-headers"})),
        (Rule::body().base64_decoded(), json!({"source": "body", "base64decode": true})),
    ]
}

/// A test of a parameter, with its type in JSON and the field that holds the text.
type Built = (fn(Parameter, String) -> Rule, &'static str, &'static str);

const TESTS: [Built; 10] = [
    (Parameter::equals, "value", "value"),
    (Parameter::is_not, "is-not", "value"),
    (Parameter::starts_with, "starts-with", "value"),
    (Parameter::ends_with, "ends-with", "value"),
    (Parameter::contains, "contains", "substring"),
    (Parameter::does_not_contain, "does-not-contain", "substring"),
    (Parameter::matches, "regex", "regex"),
    (Parameter::is_hmac_sha1, "payload-hmac-sha1", "secret"),
    (Parameter::is_hmac_sha256, "payload-hmac-sha256", "secret"),
    (Parameter::is_hmac_sha512, "payload-hmac-sha512", "secret"),
];

/// Each match that can be built, with its JSON.
fn matches() -> Vec<(Rule, Value)> {
    let mut matches = Vec::new();
    for (parameter, parameter_json) in parameters() {
        for (test, kind, field) in TESTS {
            let rule = test(parameter.clone(), "text".to_owned());
            let json = json!({"type": kind, field: "text", "parameter": parameter_json});
            matches.push((rule, json!({"match": json})));
        }
    }
    for (parameter, json) in parameters() {
        let exists = json!({"type": "exists", "parameter": json});
        matches.push((parameter.exists(), json!({"match": exists})));
    }
    let total = || Rule::payload("total");
    for (rule, kind) in [
        (total().greater_than(12.5), "greater-than"),
        (total().at_least("12.5"), "at-least"),
        (total().less_than(12.5), "less-than"),
        (total().at_most("12.5"), "at-most"),
    ] {
        let parameter = json!({"source": "payload", "name": "total"});
        let json = json!({"type": kind, "value": "12.5", "parameter": parameter});
        matches.push((rule, json!({"match": json})));
    }
    let networks: [IpNet; 2] =
        ["192.0.2.0/24", "2001:db8::/32"].map(|text| text.parse().expect("a network"));
    matches.push((
        Rule::sent_from(networks),
        json!({"match": {"type": "ip-whitelist", "ip-range": "192.0.2.0/24 2001:db8::/32"}}),
    ));
    let verified = json!({"source": "webhook", "name": "verified"});
    matches.push((
        Rule::verified(),
        json!({"match": {"type": "value", "value": "true", "parameter": verified}}),
    ));
    matches
}

#[test]
fn what_is_built_is_what_somebody_would_write() {
    let mut cases = matches();
    let ((a, a_json), (b, b_json)) = (cases[0].clone(), cases[1].clone());
    let (c, c_json) = cases[2].clone();
    let lists = json!([a_json, b_json]);
    cases.extend([
        (Rule::always(), json!({})),
        (Rule::all([a.clone(), b.clone()]), json!({"and": lists})),
        (Rule::any([a.clone(), b.clone()]), json!({"or": lists})),
        (Rule::none([a.clone(), b.clone()]), json!({"not": lists})),
        (!a.clone(), json!({"not": a_json})),
        (a.clone().and(b.clone()).and(c.clone()), json!({"and": [a_json, b_json, c_json]})),
        (a.clone().or(b.clone()).or(c.clone()), json!({"or": [a_json, b_json, c_json]})),
        (a.and(b).or(!c), json!({"or": [{"and": lists}, {"not": c_json}]})),
    ]);
    for (rule, json) in cases {
        assert_eq!(serde_json::to_value(&rule).expect("JSON"), json);
        assert_eq!(Rules::try_from(rule).expect("valid"), parse(json));
    }
}

/// A word of the language that cannot be built fails this test; synonyms aside.
#[test]
fn everything_that_can_be_written_can_be_built() {
    let text = matches().iter().map(|(_, json)| json.to_string()).collect::<String>();
    let text = format!("{text}{}", json!([{"and": [], "or": [], "not": []}]));
    let parts = SOURCES.iter().flat_map(|it| match it.name {
        ParameterName::OneOf(parts) => parts,
        _ => &[],
    });
    let operators = OPERATORS.iter().map(|(word, _)| *word);
    let words = operators
        .chain(MATCH_TYPES.iter().map(|it| it.word))
        .chain(SOURCES.iter().filter(|it| it.is_of_webhooks()).map(|it| it.word))
        .chain(parts.map(|it| it.word));
    for word in words {
        assert!(text.contains(&format!("{word:?}")), "{word} cannot be built");
    }
}

#[test]
fn what_is_wrong_is_said_as_for_json() {
    let nowhere: [IpAddr; 0] = [];
    for (rule, message) in [
        (Rule::header("no header").equals(""), "rules.match.parameter.name: \"no header\" is not"),
        (Rule::sent_from(nowhere), "rules.match.ip-range: must not be empty"),
        (!Rule::any([Rule::payload("").equals("")]), "rules.not.or[0].match.parameter.name: must"),
    ] {
        let error = Rules::try_from(rule).expect_err(message);
        assert_eq!(error.kind(), crate::wire::ErrorKind::Invalid);
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

#[test]
fn secrets_are_not_shown() {
    let rule = Rule::header("x").is_hmac_sha256("hunter2");
    assert!(!format!("{rule:?}").contains("hunter2"));
}

fn any_match() -> impl Strategy<Value = Rule> {
    let name = "[a-z0-9.-]{1,12}";
    let parameter =
        (0..parameters().len(), name, any::<bool>()).prop_map(|(kind, name, base64)| {
            let parameter = match kind {
                0 => Rule::header(name),
                1 => Rule::query(name),
                2 => Rule::payload(name),
                7 => Rule::text(name),
                kind => parameters()[kind].0.clone(),
            };
            if base64 { parameter.base64_decoded() } else { parameter }
        });
    let tested = (parameter, prop::sample::select(&TESTS[..]), "[^\\\\\\[\\](){}*+?|]{1,12}")
        .prop_map(|(parameter, (test, ..), text)| test(parameter, text));
    let networks = prop::collection::vec((any::<IpAddr>(), 0_u8..=32), 1..4);
    let sent_from = networks.prop_map(|networks| {
        Rule::sent_from(networks.into_iter().map(|(address, length)| {
            IpNet::new(address, length).expect("32 bits are in each address")
        }))
    });
    prop_oneof![8 => tested, 1 => sent_from, 1 => Just(Rule::always())]
}

fn any_rule() -> impl Strategy<Value = Rule> {
    any_match().prop_recursive(4, 24, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            list.clone().prop_map(Rule::all),
            list.clone().prop_map(Rule::any),
            list.prop_map(Rule::none),
            inner.clone().prop_map(|rule| !rule),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| one.and(other)),
            (inner.clone(), inner).prop_map(|(one, other)| one.or(other)),
        ]
    })
}

proptest! {
    #[test]
    fn built_rules_survive_json(rule in any_rule()) {
        let text = serde_json::to_string(&rule).expect("JSON");
        let read: Result<Rules, _> = serde_json::from_str(&text);
        match Rules::try_from(rule) {
            Ok(rules) => {
                prop_assert_eq!(serde_json::to_string(&rules).expect("JSON"), text);
                prop_assert_eq!(rules, read.expect("what can be built can be read"));
            }
            // A secret must not be blank, which a generated one may be.
            Err(error) => {
                prop_assert!(text.contains("secret"), "{text} is refused: {error}");
                prop_assert!(read.is_err());
            }
        }
    }
}
