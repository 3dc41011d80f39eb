//! Bad input: what is wrong is said of the field that is wrong.

use serde_json::{Value, json};

use crate::common::SignatureSpec;

/// The field and what is said of it.
fn refused(spec: &Value) -> (String, String) {
    let spec: SignatureSpec = serde_json::from_value(spec.clone()).expect("a spec");
    let invalid = spec.verifier().expect_err("it is refused");
    assert!(!invalid.reason.is_empty());
    (invalid.field, invalid.reason)
}

fn assert_refused(field: &str, spec: &Value) {
    let (found, reason) = refused(spec);
    assert_eq!(found, field, "{reason}: {spec}");
}

fn secrets(secrets: &[&str]) -> Value {
    secrets.iter().map(|secret| json!({"secret": secret})).collect()
}

#[test]
fn a_provider_that_nobody_knows() {
    assert_refused("provider", &json!({"provider": "nobody", "secrets": secrets(&["a"])}));
    assert_refused("provider", &json!({"provider": "Stripe", "secrets": secrets(&["a"])}));
    assert_refused("provider", &json!({"secrets": secrets(&["a"])}));
}

#[test]
fn secrets_that_cannot_be_right() {
    let of =
        |provider: &str, list: &[&str]| json!({"provider": provider, "secrets": secrets(list)});
    assert_refused("secrets", &of("github", &[]));
    assert_refused("secrets[1].secret", &of("github", &["a", ""]));
    assert_refused("secrets[0].secret", &of("standard_webhooks", &["whsec_not base64"]));
    assert_refused("secrets[0].secret", &of("standard_webhooks", &["whsec_"]));
    assert_refused(
        "secrets[0].secret",
        &of("standard_webhooks_ed25519", &["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]),
    );
    assert_refused("secrets[0].secret", &of("adyen", &["not hex"]));
    assert_refused("secrets[0].secret", &of("discord", &["abcd"]));
    assert_refused("secrets[0].secret", &of("sendgrid", &["AAAA"]));
    assert_refused("secrets[0].secret", &of("postmark", &["no colon"]));
    assert_refused(
        "secrets[0].secret",
        &of("fusionauth", &["-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"]),
    );
    assert_refused("secrets[0].secret", &of("fusionauth", &["{\"keys\":[]}"]));
    assert_refused("secrets", &of("aws_sns", &["a"]));
    // None of it is said.
    let (_, reason) = refused(&of("standard_webhooks", &["whsec_s3cr3t!"]));
    assert!(!reason.contains("s3cr3t"), "{reason}");
}

#[test]
fn parameters_that_the_provider_does_not_have() {
    let of = |parameters: Value| json!({"provider": "meta", "secrets": secrets(&["a"]), "parameters": parameters});
    assert_refused("parameters.webhook_id", &of(json!({"webhook_id": "1"})));
    assert_refused("parameters.verify_token", &of(json!({"verify_token": ""})));
    assert_refused("parameters.verify_token", &of(json!({"verify_token": "a".repeat(1025)})));
    assert_refused("parameters.webhook_id", &json!({"provider": "paypal"}));
}

#[test]
fn a_tolerance_that_is_none() {
    let of = |provider: &str, tolerance: i64| json!({"provider": provider, "secrets": secrets(&["a"]), "tolerance": tolerance});
    assert_refused("tolerance", &of("github", 60_000_000_000));
}

#[test]
fn a_url_that_is_none() {
    for url in ["example.com", "ftp://example.com", "https://", "/in"] {
        assert_refused(
            "url",
            &json!({"provider": "square", "secrets": secrets(&["a"]), "url": url}),
        );
    }
}

/// A scheme that is right, with one part changed, is refused for that part.
#[test]
fn a_scheme_that_proves_nothing() {
    let handshake = json!({"when": [{"source": "query", "name": "c"}], "token": {"source": "query", "name": "c"}, "answer": {"text": "{token}"}});
    let with = |changes: &[(&str, Value)]| {
        let mut scheme = json!({
            "signature": {"source": "header", "name": "X-Sig"},
            "algorithm": "hmac-sha256",
            "signed": "{timestamp}.{body}",
            "timestamp": {"source": "header", "name": "X-At"},
            "challenges": [handshake],
        });
        for (pointer, value) in changes {
            match scheme.pointer_mut(pointer) {
                Some(place) => *place = value.clone(),
                None => {
                    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
                    scheme.pointer_mut(parent).expect("a parent")[name] = value.clone();
                }
            }
        }
        json!({"provider": "custom", "secrets": secrets(&["a"]), "scheme": scheme})
    };
    let right: SignatureSpec = serde_json::from_value(with(&[])).expect("a spec");
    right.verifier().expect("is right");

    let cases: &[(&str, &[(&str, Value)])] = &[
        // Signs nothing, or nothing that is secret.
        ("scheme.signed", &[("/signed", json!(""))]),
        ("scheme.signed", &[("/signed", json!("{timestamp}"))]),
        ("scheme.signed", &[("/signed", json!("{timestamp}.{method}.{url}"))]),
        ("scheme.signed", &[("/signed", json!("{timestamp}{sha256(url)}"))]),
        ("scheme.signed", &[("/algorithm", json!("sha256"))]),
        ("scheme.signed", &[("/signed", json!("{timestamp}{secret}{body}"))]),
        ("scheme.signed", &[("/signed", json!("{timestamp}{hmac(body)}"))]),
        ("scheme.signed", &[("/signed", json!("{timestamp}{body}{token}"))]),
        ("scheme.signed", &[("/algorithm", json!("token"))]),
        // Cannot be read.
        ("scheme.signed", &[("/signed", json!("{timestamp.{body}"))]),
        ("scheme.signed", &[("/signed", json!("{timestamp}.{boody}"))]),
        (
            "scheme.signed",
            &[("/signed", json!(format!("{{timestamp}}{{body}}{}", "x".repeat(4096))))],
        ),
        // A time that anybody can change, or that is not there.
        ("scheme.timestamp", &[("/signed", json!("{body}"))]),
        ("scheme.timestamp", &[("/timestamp", Value::Null)]),
        ("scheme.timestamp.tolerance", &[("/timestamp/tolerance", json!(1))]),
        ("scheme.timestamp.name", &[("/timestamp/name", json!("X At"))]),
        ("scheme.id", &[("/signed", json!("{id}{timestamp}{body}"))]),
        ("scheme.id.name", &[("/id", json!({"source": "query"}))]),
        ("scheme.event.name", &[("/event", json!({"source": "method", "name": "x"}))]),
        ("scheme.signature.name", &[("/signature/name", json!(""))]),
        ("scheme.signature.source", &[("/signature", json!({"source": "method"}))]),
        ("scheme.signature.name", &[("/signature/name", json!("é"))]),
        ("scheme.digest.name", &[("/digest", json!({"source": "query", "name": ""}))]),
        ("scheme.digest.source", &[("/digest", json!({"source": "claim", "name": "x"}))]),
        // What can be left out binds nothing.
        ("scheme.signed", &[("/signed", json!("{timestamp}[{header.X}{body}]"))]),
        (
            "scheme.digest.unless_form",
            &[
                ("/signed", json!("{timestamp}{url}")),
                ("/digest", json!({"source": "query", "name": "d", "unless_form": true})),
            ],
        ),
        // A digest that is not signed binds nothing.
        (
            "scheme.signed",
            &[
                ("/signed", json!("{timestamp}")),
                ("/digest", json!({"source": "header", "name": "X-Digest"})),
            ],
        ),
        // Keys.
        ("scheme.key.encoding", &[("/key", json!({"encoding": "pem"}))]),
        ("scheme.key.encoding", &[("/algorithm", json!("ed25519"))]),
        (
            "scheme.key.encoding",
            &[("/key", json!({"encoding": "jwks", "url": "https://a.example/"}))],
        ),
        ("scheme.key.url", &[("/key", json!({"url": "https://a.example/"}))]),
        (
            "scheme.key.hosts",
            &[
                ("/algorithm", json!("rsa-sha256")),
                ("/key", json!({"encoding": "certificate", "url": "{header.X-Url}"})),
            ],
        ),
        (
            "scheme.key.hosts",
            &[
                ("/algorithm", json!("rsa-sha256")),
                ("/key", json!({"encoding": "certificate", "url": "https://{header.X-Host}/"})),
            ],
        ),
        (
            "scheme.key.hosts",
            &[
                ("/algorithm", json!("rsa-sha256")),
                (
                    "/key",
                    json!({"encoding": "certificate", "url": "{header.X-Url}", "hosts": ["*.com"]}),
                ),
            ],
        ),
        (
            "scheme.key.hosts",
            &[
                ("/algorithm", json!("rsa-sha256")),
                (
                    "/key",
                    json!({"encoding": "certificate", "url": "{header.X-Url}", "hosts": ["a.*.com.*"]}),
                ),
            ],
        ),
        (
            "scheme.key.url",
            &[
                ("/algorithm", json!("rsa-sha256")),
                ("/key", json!({"encoding": "certificate", "url": "https://a.example/{body}"})),
            ],
        ),
        (
            "scheme.algorithm_by.values",
            &[(
                "/algorithm_by",
                json!({"source": "header", "name": "A", "values": {"1": "token"}}),
            )],
        ),
        (
            "scheme.require[0]",
            &[(
                "/require",
                json!([{"source": "header", "name": "A", "equals": "1", "absent": true}]),
            )],
        ),
        (
            "scheme.require",
            &[("/require", json!(vec![json!({"source": "header", "name": "A"}); 17]))],
        ),
        // Handshakes.
        ("scheme.challenges[0].when", &[("/challenges/0/when", json!([]))]),
        ("scheme.challenges[0].token", &[("/challenges/0/token", Value::Null)]),
        ("scheme.challenges[0].answer", &[("/challenges/0/answer", json!({"text": "{body}"}))]),
        ("scheme.challenges[0].answer", &[("/challenges/0/answer", json!({"text": "{secret}"}))]),
        (
            "scheme.challenges[0].answer",
            &[("/challenges/0/answer", json!({"text": "a", "json": {}}))],
        ),
        (
            "scheme.challenges[0].answer.text",
            &[("/challenges/0/answer", json!({"text": "{nothing}"}))],
        ),
        (
            "scheme.challenges[0].answer.json",
            &[("/challenges/0/answer", json!({"json": {"a": ["{nothing}"]}}))],
        ),
        ("scheme.challenges[0].answer.status", &[("/challenges/0/answer", json!({"status": 500}))]),
        (
            "scheme.challenges[0].answer.headers",
            &[("/challenges/0/answer", json!({"headers": {"Set-Cookie": "a=b"}}))],
        ),
        (
            "scheme.challenges[0].answer.headers",
            &[("/challenges/0/answer", json!({"headers": {"a b": "c"}}))],
        ),
        ("scheme.challenges[0].action", &[("/challenges/0/action", json!("fetch"))]),
        (
            "scheme.challenges[0].when[0].name",
            &[("/challenges/0/when", json!([{"source": "query"}]))],
        ),
        ("scheme.challenges", &[("/challenges", json!(vec![handshake.clone(); 17]))]),
        // An HMAC of a token could be the signature of a webhook whose fields alone are signed.
        (
            "scheme.challenges[0].signed",
            &[
                ("/signed", json!("{timestamp}{payload.token}")),
                ("/challenges/0/answer", json!({"text": "{hmac(token)}"})),
            ],
        ),
        ("parameters.topic", &[("/signed", json!("{timestamp}{body}{parameter.topic}"))]),
    ];
    for (field, changes) in cases {
        assert_refused(field, &with(changes));
    }
    let spec = with(&[
        ("/algorithm", json!("ed25519")),
        ("/key", json!({"encoding": "hex"})),
        ("/challenges/0/answer", json!({"text": "{hmac(token)}"})),
    ]);
    assert_refused("scheme.challenges[0].answer", &spec);
}

#[test]
fn a_name_that_the_language_does_not_have() {
    for scheme in [
        json!({"signature": {"source": "header", "name": "X", "prefx": "a"}, "algorithm": "hmac-sha256"}),
        json!({"signature": {"source": "cookie", "name": "X"}, "algorithm": "hmac-sha256"}),
        json!({"signature": {"source": "header", "name": "X"}, "algorithm": "md5"}),
        json!({"signature": {"source": "header", "name": "X"}, "algorithm": "token", "signedd": ""}),
        json!({"algorithm": "token"}),
    ] {
        let spec = json!({"provider": "custom", "scheme": scheme});
        serde_json::from_value::<SignatureSpec>(spec).expect_err("it has none");
    }
}
