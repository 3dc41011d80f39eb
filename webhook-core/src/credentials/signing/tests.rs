use http::HeaderMap;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::wire::described::check;

use super::*;

const MOMENT: i64 = 1_614_265_330;

fn spec(json: Value) -> SigningSpec {
    serde_json::from_value(json).expect("a spec")
}

fn signed(spec: &SigningSpec, id: &str, timestamp: i64, body: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    spec.sign(&Message { id, timestamp, body }, &mut headers).expect("it signs");
    headers
}

/// Signatures by the libraries that receivers verify with (`make_vectors.py`).
#[test]
fn others_sign_alike() {
    let vectors: Vec<Value> =
        serde_json::from_str(include_str!("vectors.json")).expect("the vectors");
    assert!(vectors.len() > 50);
    for vector in &vectors {
        let secrets = vector["secrets"].as_array().expect("secrets");
        let secrets: Vec<_> = secrets.iter().map(|secret| json!({"secret": secret})).collect();
        let spec = spec(json!({"format": vector["format"], "secrets": secrets}));
        spec.check(MOMENT).expect("a right spec");
        let text = |name: &str| vector[name].as_str().expect("text");
        let headers = signed(&spec, text("id"), MOMENT, text("body").as_bytes());
        assert_eq!(headers["webhook-signature"], text("signature"), "{vector}");
        let named = matches!(spec.format, SigningFormat::StandardWebhooks | SigningFormat::Ed25519);
        assert_eq!(headers.len(), if named { 3 } else { 1 });
        if named {
            assert_eq!(headers["webhook-id"], text("id"));
            assert_eq!(headers["webhook-timestamp"], MOMENT.to_string());
        }
    }
}

#[test]
fn both_sign_until_the_old_one_expires_and_not_a_second_longer() {
    let old = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let new = "whsec_bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3";
    let spec = spec(json!({"secrets": [{"secret": new}, {"secret": old, "expires_at": 100}]}));
    spec.check(0).expect("a right spec");
    let count = |now| {
        let headers = signed(&spec, "a", now, b"");
        headers["webhook-signature"].to_str().expect("text").split(' ').count()
    };
    assert_eq!((count(99), count(100), count(101)), (2, 1, 1));
}

#[test]
fn the_senders_own_headers_are_replaced() {
    let spec = spec(json!({
        "prefix": "svix-",
        "secrets": [{"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}],
    }));
    let mut headers = HeaderMap::new();
    for value in ["msg_forged", "msg_again"] {
        headers.append("svix-id", HeaderValue::from_static(value));
    }
    let message = Message { id: "msg_1", timestamp: MOMENT, body: b"" };
    spec.sign(&message, &mut headers).expect("it signs");
    assert!(headers.get_all("svix-id").iter().eq(["msg_1"]));
    assert!(headers.contains_key("svix-signature") && headers.contains_key("svix-timestamp"));
}

#[test]
fn what_is_off_signs_nothing() {
    let spec = spec(json!({"enabled": false}));
    spec.check(0).expect("a right spec");
    assert!(signed(&spec, "a", 0, b"").is_empty());
}

#[test]
fn every_refusal_names_the_field() {
    let right = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let one = |secret: &str| json!({"secrets": [{"secret": secret}]});
    let format =
        |format: &str, secret: &str| json!({"format": format, "secrets": [{"secret": secret}]});
    let first = "signing.secrets[0].secret: ";
    for (json, said) in [
        (json!({}), "signing.secrets: must be one or two, not 0"),
        (
            json!({"secrets": [{"secret": right}, {"secret": right}, {"secret": right}]}),
            "signing.secrets: at most 2 are possible, not 3",
        ),
        (one(""), &format!("{first}must not be empty")),
        (one("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), &format!("{first}must be whsec_ followed")),
        (one("whsec_%%%"), &format!("{first}must be whsec_ followed by base64")),
        (one("whsec_c2hvcnQ="), &format!("{first}must be 24 to 64 bytes in base64, not 5")),
        (format("ed25519", right), &format!("{first}must be whsk_ followed by base64")),
        (format("ed25519", "whsk_c2hvcnQ="), &format!("{first}must be a seed of 32 bytes")),
        (format("hmac_body", &"x".repeat(1_025)), &format!("{first}must be at most 1024 bytes")),
        (
            json!({"secrets": [{"secret": right}, {"secret": "whsec_"}]}),
            "signing.secrets[1].secret: must be 24 to 64 bytes",
        ),
        (
            json!({"secrets": [{"secret": right, "expires_at": -1}]}),
            "signing.secrets[0].expires_at: must not be negative",
        ),
        (
            json!({"secrets": [{"secret": right, "expires_at": MOMENT}]}),
            "signing.secrets[0].expires_at: has passed",
        ),
        (
            json!({"secrets": [{"secret": right, "expires_at": 1}, {"secret": right, "expires_at": MOMENT + 1}]}),
            "signing.secrets[1].expires_at: must be 0 for one secret",
        ),
        (json!({"prefix": "a b", "secrets": [{"secret": right}]}), "signing.prefix: must be what"),
        (json!({"prefix": "é-", "secrets": [{"secret": right}]}), "signing.prefix: must be what"),
        (
            json!({"prefix": "X-Webhook-Relay-", "secrets": [{"secret": right}]}),
            "signing.prefix: is the relay's own",
        ),
        (
            json!({"prefix": "x".repeat(65), "secrets": [{"secret": right}]}),
            "signing.prefix: must be at most 64",
        ),
    ] {
        let spec = spec(json);
        let checked = check(&spec, "").and_then(|()| spec.check(MOMENT));
        let error = checked.expect_err(said).below("signing.").to_string();
        assert!(error.starts_with(said), "{error}, not {said}");
    }
    let wrong = serde_json::from_value::<SigningSpec>(json!({"secret": right}));
    assert!(wrong.expect_err("no such field").to_string().contains("`secret`"));
}

#[test]
fn secrets_are_not_shown() {
    let spec = spec(json!({"secrets": [{"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}]}));
    assert!(!format!("{spec:?}").contains("MfKQ"), "{spec:?}");
}

proptest! {
    #[test]
    fn any_secret_is_refused_or_signs(secret in "(whsec_|whsk_)?[A-Za-z0-9+/=]{0,90}", prefix in "[ -~]{0,8}") {
        for format in ["standard_webhooks", "hmac_body", "hmac_timestamp_body", "ed25519"] {
            let spec = spec(json!({"format": format, "prefix": prefix, "secrets": [{"secret": secret}]}));
            if spec.check(0).is_ok() {
                prop_assert!(signed(&spec, "a", 0, b"").len() % 2 == 1);
            }
        }
    }
}
