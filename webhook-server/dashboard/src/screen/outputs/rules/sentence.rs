//! Rules in words.

use webhook_core::rule::{MatchType, Operand, ParameterSource};

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
    let (name, operand) = (shown(name), shown(operand));
    let operand = match leaf.operand_kind() {
        Operand::Number | Operand::Networks => operand,
        _ => format!("“{operand}”"),
    };
    let says =
        MatchType::of(kind).map_or_else(|| format!("passes {kind}"), |it| it.says.to_owned());
    let says = says.replacen("{}", &operand, 1);
    if leaf.operand_kind() == Operand::Networks {
        return format!("the sender's address {says}");
    }
    let parameter = match ParameterSource::of(source) {
        Some(found) => found.says.replacen("{}", &name, 1),
        None => format!("{source} {name}"),
    };
    let decoded = if *base64 { ", decoded from base64," } else { "" };
    format!("{parameter}{decoded} {says}")
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
            (verified, "A webhook passes when webhook verified is “true”."),
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
