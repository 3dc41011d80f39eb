//! What becomes of fields that clients do not know.

use serde_json::json;

use super::InputSpec;
use crate::error::ErrorKind;

const OLD: &str = "whsec_0123456789abcdefOLD1";
const OTHER: &str = "whsec_0123456789abcdefOTHR";

fn spec(json: serde_json::Value) -> InputSpec {
    serde_json::from_value(json).expect("a spec")
}

fn with_secrets(secrets: &[&str]) -> InputSpec {
    let secrets: Vec<_> = secrets.iter().map(|secret| json!({"secret": secret})).collect();
    spec(json!({"signature": {
        "provider": "stripe", "secrets": secrets, "parameters": {"webhook_id": "WH-1"},
    }}))
}

fn secrets(spec: &InputSpec) -> Vec<&str> {
    let signature = spec.signature.set().expect("a signature");
    signature.secrets.iter().map(|secret| secret.secret.expose()).collect()
}

#[test]
fn absent_keeps_null_resets_and_an_object_replaces() {
    let stored = with_secrets(&[OLD]);
    let kept = |update: serde_json::Value| {
        let mut update = spec(update);
        update.keep(&stored).expect("an update");
        update
    };
    assert_eq!(kept(json!({})), stored);
    assert_eq!(kept(json!({"signature": null})), InputSpec::default());
    let replaced = kept(json!({"signature": {"provider": "github"}}));
    assert!(secrets(&replaced).is_empty(), "it is replaced whole");
    assert_eq!(kept(json!({"deduplication": {}})).signature, stored.signature);
}

#[test]
fn answers_show_masks_and_take_them_back() {
    let stored = with_secrets(&[OLD, OTHER]);
    let answer = serde_json::to_value(&stored).expect("JSON");
    assert!(!answer.to_string().contains("0123456789"), "{answer}");
    assert_eq!(answer["signature"]["secrets"][0]["secret"], "********OLD1");
    assert_eq!(answer["signature"]["parameters"]["webhook_id"], "********");
    assert!(answer.get("deduplication").is_none());
    let mut again = spec(answer);
    again.keep(&stored).expect("masks that are known");
    assert_eq!(again, stored);

    // A rotation puts the new one first.
    let mut rotated = with_secrets(&["whsec_new", "********OTHR"]);
    rotated.keep(&stored).expect("masks that are known");
    assert_eq!(secrets(&rotated), ["whsec_new", OTHER]);
    let mut moved = with_secrets(&["whsec_new", "********OLD1"]);
    moved.keep(&stored).expect("masks that are known");
    assert_eq!(secrets(&moved), ["whsec_new", OLD]);
}

#[test]
fn a_mask_of_nothing_names_its_place() {
    let stored = with_secrets(&[OLD]);
    for (update, stored, place) in [
        (with_secrets(&["********OTHR"]), &stored, "signature.secrets[0].secret"),
        (with_secrets(&[OLD, "********"]), &stored, "signature.secrets[1].secret"),
        (with_secrets(&["********OLD1"]), &InputSpec::default(), "signature.secrets[0].secret"),
    ] {
        let mut update = update;
        let error = update.keep(stored).expect_err(place);
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.to_string(), format!("{place}: no stored secret has this mask"));
    }
    // Two that look the same do not say which was meant.
    let alike = with_secrets(&["short-one", "short-two"]);
    let mut update = with_secrets(&["whsec_new", "whsec_newer", "********"]);
    assert!(update.keep(&alike).is_err());
}

#[test]
fn a_list_is_no_object() {
    let error = serde_json::from_value::<InputSpec>(json!({"signature": []}));
    assert!(error.expect_err("a list").to_string().contains("expected an object"));
}
