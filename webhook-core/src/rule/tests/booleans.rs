use serde_json::{Value, json};

use super::{Rules, Subject, parse, passes, rule, with_body};

fn yes() -> Value {
    rule("value", "value", "x", "string", "x")
}

fn no() -> Value {
    rule("value", "value", "y", "string", "x")
}

fn missing() -> Value {
    rule("value", "value", "x", "header", "x-absent")
}

#[test]
fn rules_combine() {
    let table = [
        (json!({}), true),
        (yes(), true),
        (no(), false),
        (missing(), false),
        (json!({"and": []}), true),
        (json!({"and": [yes(), yes()]}), true),
        (json!({"and": [yes(), no()]}), false),
        (json!({"and": [yes(), missing()]}), false),
        (json!({"and": [yes(), {}]}), true),
        (json!({"or": []}), false),
        (json!({"or": [no(), yes()]}), true),
        (json!({"or": [missing(), yes()]}), true),
        (json!({"or": [no(), missing()]}), false),
        (json!({"not": no()}), true),
        (json!({"not": yes()}), false),
        (json!({"not": missing()}), true),
        (json!({"not": {"not": missing()}}), false),
        (json!({"not": []}), true),
        (json!({"not": [no(), missing()]}), true),
        (json!({"not": [no(), yes()]}), false),
        (json!({"not": {"and": [yes(), {"or": [no(), yes()]}]}}), false),
        // Clients write the operators that they do not use as null.
        (json!({"and": null, "or": null, "not": null, "match": no()["match"]}), false),
        (json!({"and": null, "or": null, "not": null, "match": null}), true),
        (json!({"and": [no()], "comment": "unknown fields are ignored"}), false),
    ];
    let request = with_body("", "");
    for (rules, expected) in table {
        assert_eq!(passes(rules.clone(), &request), expected, "{rules}");
    }
}

#[test]
fn nothing_and_null_let_all_pass() -> Result<(), serde_json::Error> {
    let request = with_body("", "");
    for text in ["{}", "null"] {
        let rules: Rules = serde_json::from_str(text)?;
        assert!(rules.is_empty());
        assert_eq!(rules, Rules::default());
        assert!(rules.matches(&Subject::new(&request)));
        assert_eq!(serde_json::to_string(&rules)?, "{}");
    }
    Ok(())
}

#[test]
fn the_json_comes_back_as_it_was_written() -> Result<(), serde_json::Error> {
    let text = r#"{"zeta":1.50,"or":[{"match":{"type":"value","value":"a","parameter":{"source":"query","name":"q","envname":"Q"},"regex":""}}],"alpha":null}"#;
    let rules: Rules = serde_json::from_str(text)?;
    // A number's value is kept, not its spelling.
    assert_eq!(serde_json::to_string(&rules)?, text.replace("1.50", "1.5"));
    let copy = rules.clone();
    assert_eq!(rules, copy);
    assert_eq!(rules, serde_json::from_str::<Rules>(text)?);
    assert_ne!(rules, parse(json!({"or": []})));
    assert_ne!(rules, Rules::default());
    Ok(())
}

#[test]
fn clones_share_the_compiled_form() {
    let rules = parse(yes());
    let copy = rules.clone();
    let address = |rules: &Rules| rules.compiled.as_ref().map(std::sync::Arc::as_ptr);
    assert_eq!(address(&rules), address(&copy));
}

#[test]
fn debug_output_keeps_secrets() {
    let rules = parse(json!({"and": [
        rule("payload-hmac-sha256", "secret", "hunter2", "header", "x-signature"),
        rule("value", "value", "hunter2", "header", "x-token"),
    ]}));
    assert_eq!(format!("{rules:?}"), "Rules { rules: 3, .. }");
}
