use serde_json::{Value, json};

use super::*;

fn spec(json: Value) -> SignatureSpec {
    serde_json::from_value(json).expect("a spec")
}

fn secrets(secrets: &[&str]) -> Value {
    secrets.iter().map(|secret| json!({"secret": secret})).collect()
}

#[track_caller]
fn assert_refused(field: &str, json: Value) {
    let invalid = spec(json).verifier().expect_err("it is refused");
    assert_eq!(invalid.field, format!("signature.{field}"), "{}", invalid.reason);
    assert!(!invalid.reason.is_empty());
}

#[test]
fn the_declared_bounds_hold() {
    let of = |secrets: Value| json!({"provider": "github", "secrets": secrets});
    assert_refused("secrets", of(secrets(&["a"; 6])));
    assert_refused("secrets[0].secret", of(secrets(&[&"a".repeat(16 * 1024 + 1)])));
    assert_refused("secrets[0].expires_at", of(json!([{"secret": "a", "expires_at": -1}])));
    for tolerance in [1, 999_999_999, 86_400_000_000_001, i64::MAX] {
        let secrets = secrets(&["a"]);
        assert_refused(
            "tolerance",
            json!({"provider": "stripe", "secrets": secrets, "tolerance": tolerance}),
        );
    }
    let url = format!("https://a.example/{}", "a".repeat(2048));
    assert_refused("url", json!({"provider": "square", "secrets": secrets(&["a"]), "url": url}));
}

#[test]
fn refusals_of_the_crate_of_signatures_name_the_field_of_the_input() {
    assert_refused("provider", json!({"secrets": secrets(&["a"])}));
    assert_refused("provider", json!({"provider": "nobody", "secrets": secrets(&["a"])}));
    assert_refused("secrets[0].secret", json!({"provider": "github", "secrets": secrets(&[""])}));
    assert_refused("parameters.webhook_id", json!({"provider": "paypal"}));
}

#[test]
fn fields_of_another_provider() {
    let with = |field: &str, value: Value| {
        let mut spec = json!({"provider": "github", "secrets": secrets(&["a"])});
        spec[field] = value;
        spec
    };
    assert_refused("header", with("header", json!("X-A")));
    assert_refused("prefix", with("prefix", json!("a=")));
    assert_refused("algorithm", with("algorithm", json!("hmac-sha1")));
    assert_refused("encoding", with("encoding", json!("hex")));
    let scheme = json!({"signature": {"source": "header", "name": "X"}, "algorithm": "token"});
    assert_refused("scheme", with("scheme", scheme));
    assert_refused("scheme", json!({"provider": "custom", "secrets": secrets(&["a"])}));
    let hmac = |header: &str, algorithm: &str| json!({"provider": "hmac", "secrets": secrets(&["a"]), "header": header, "algorithm": algorithm});
    assert_refused("header", hmac("", "hmac-sha256"));
    assert_refused("header", hmac("not one", "hmac-sha256"));
    assert_refused("algorithm", hmac("X-A", "token"));
}

#[test]
fn an_hmac_of_the_body_needs_no_scheme() {
    let read = spec(json!({
        "provider": "hmac", "secrets": [{"secret": "s1"}], "header": "X-Acme", "prefix": "sha256=",
    }));
    let secret = SecretSpec { secret: Secret::new("s1"), expires_at: Timestamp::default() };
    let written = SignatureSpec {
        provider: "hmac".to_owned(),
        secrets: vec![secret],
        header: "X-Acme".to_owned(),
        prefix: "sha256=".to_owned(),
        ..SignatureSpec::default()
    };
    assert_eq!(read, written);
    read.verifier().expect("an HMAC");
}

#[test]
fn secrets_of_which_none_is_valid_are_refused() {
    let end = Timestamp::from_secs(1_767_225_700);
    let ends = |ends: &[i64]| {
        let secret = |end: &i64| json!({"secret": "a", "expires_at": end});
        spec(json!({"provider": "github", "secrets": ends.iter().map(secret).collect::<Value>()}))
    };
    assert_eq!(ends(&[0, end.as_secs()]).check(end), Ok(()));
    assert_eq!(ends(&[end.as_secs() + 1]).check(end), Ok(()));
    let invalid = ends(&[1, end.as_secs()]).check(end).expect_err("they have ended");
    assert_eq!(invalid.field, "signature.secrets[1].expires_at");
    let keyless = json!({"provider": "aws_sns", "parameters": {"topic_arn": "arn"}});
    assert_eq!(spec(keyless).check(end), Ok(()));
}

#[test]
fn names_in_a_form_are_the_names_on_the_wire() {
    fn wire<T: Choice + Serialize>() {
        for (value, (name, _)) in T::VALUES.iter().zip(T::NAMES) {
            assert_eq!(serde_json::to_value(value).expect("JSON"), json!(name));
        }
        assert_eq!(T::VALUES.len(), T::NAMES.len());
    }
    wire::<Algorithm>();
    wire::<Encoding>();
}
