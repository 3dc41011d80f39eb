//! Rules in words.

use super::draft::{Draft, Leaf};

/// How much of a typed text a sentence has.
const SHOWN: usize = 60;

/// Which webhooks pass, as one would say it.
pub(super) fn sentence(rules: &Draft) -> String {
    match rules {
        Draft::Group(word, rules) if rules.is_empty() => match &**word {
            "or" => "No webhook passes: there is nothing of which one could be so.".to_owned(),
            _ => "Every webhook passes.".to_owned(),
        },
        rules => format!("A webhook passes when {}.", rule(rules, true)),
    }
}

fn rule(rule_: &Draft, outermost: bool) -> String {
    let (word, rules) = match rule_ {
        Draft::Match(leaf) => return words(leaf),
        Draft::Group(word, rules) => (&**word, rules),
    };
    let each: Vec<_> = rules.iter().map(|it| rule(it, word == "not" && rules.len() == 1)).collect();
    let said = match (word, &each[..]) {
        ("or", []) => return "never".to_owned(),
        (_, []) => return "always".to_owned(),
        ("not", [one]) => return format!("not ({one})"),
        ("not", each) => return format!("none of these is so: {}", each.join("; ")),
        (_, [one]) => return one.clone(),
        ("or", each) => each.join(" or "),
        (_, each) => each.join(" and "),
    };
    if outermost { said } else { format!("({said})") }
}

fn words(leaf: &Leaf) -> String {
    let Leaf { kind, source, name, operand, base64 } = leaf;
    let name = shown(name);
    let operand = shown(operand);
    let mut parameter = match &**source {
        "header" => format!("header {name}"),
        "query" => format!("query {name}"),
        "payload" => format!("payload {name}"),
        "body" => "the body".to_owned(),
        "request" => format!("the request's {name}"),
        "webhook" => format!("the webhook's {name}"),
        "string" => format!("the text “{name}”"),
        "entire-payload" => "the entire payload".to_owned(),
        "entire-query" => "the entire query".to_owned(),
        "entire-headers" => "all headers".to_owned(),
        source => format!("{source} {name}"),
    };
    if *base64 {
        parameter.push_str(", decoded from base64,");
    }
    match &**kind {
        "value" => format!("{parameter} is “{operand}”"),
        "contains" => format!("{parameter} contains “{operand}”"),
        "does-not-contain" => format!("{parameter} is there without “{operand}”"),
        "regex" => format!("{parameter} matches “{operand}”"),
        "ip-whitelist" => format!("the sender's address is in {operand}"),
        kind => match kind.strip_prefix("payload-hmac-") {
            Some(digest) => {
                format!("{parameter} is the HMAC-{} of the body", digest.to_uppercase())
            }
            None => format!("{parameter} passes {kind}"),
        },
    }
}

fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_are_said_in_words() {
        let header = json!({"match": {"type": "value", "value": "push",
            "parameter": {"source": "header", "name": "X-Event"}}});
        let payload = json!({"match": {"type": "regex", "regex": "^a",
            "parameter": {"source": "payload", "name": "ref"}}});
        let network = json!({"match": {"type": "ip-whitelist", "ip-range": "10.0.0.0/8"}});
        let verified = json!({"match": {"type": "value", "value": "true",
            "parameter": {"source": "webhook", "name": "verified"}}});
        for (rules, said) in [
            (verified, "A webhook passes when the webhook's verified is “true”."),
            (json!({}), "Every webhook passes."),
            (json!({"or": []}), "No webhook passes: there is nothing of which one could be so."),
            (header.clone(), "A webhook passes when header X-Event is “push”."),
            (
                json!({"and": [header, {"or": [payload, network]}]}),
                "A webhook passes when header X-Event is “push” and (payload ref matches “^a” or \
                 the sender's address is in 10.0.0.0/8).",
            ),
            (json!({"not": [header]}), "A webhook passes when not (header X-Event is “push”)."),
            (
                json!({"not": [header, payload]}),
                "A webhook passes when none of these is so: header X-Event is “push”; payload ref \
                 matches “^a”.",
            ),
        ] {
            assert_eq!(sentence(&Draft::of(&rules)), said);
        }
    }
}
