//! Whatever comes in, there is a verdict, and it is not *verified*.

use std::sync::LazyLock;

use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;
use webhook_signatures::{Keys, Now, Request, Source, Verdict, Verifier, presets};

use crate::{
    common::{SignatureSpec, spec},
    presets::filled,
};

/// A verifier for each preset.
static VERIFIERS: LazyLock<Vec<Verifier>> = LazyLock::new(|| {
    let verifier = |name: &str| filled(name).verifier().expect("a spec");
    presets().iter().map(|preset| verifier(&preset.name)).collect()
});

/// Texts that look like what a header has.
fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..64),
        "(sha256=|sha1=|v0=|t=1,v1=|v1,|Basic |Bearer )?[a-f0-9]{0,64}"
            .prop_map(String::into_bytes),
        "[A-Za-z0-9_=+/-]{0,40}\\.[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_-]{0,40}"
            .prop_map(String::into_bytes),
        "https://[a-z.]{0,20}/[ -~]{0,20}".prop_map(String::into_bytes),
        "[0-9]{0,20}".prop_map(String::into_bytes),
    ]
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..256),
        "[\\[\\]{}\":,a-z0-9 .]{0,200}".prop_map(String::into_bytes),
        "(\\{\"(Type|signature|challenge|event|type|value|notificationItems)\":){0,8}[0-9\"]{0,3}"
            .prop_map(String::into_bytes),
        "([a-z]{0,3}=[a-z%0-9]{0,5}&){0,50}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_that_comes_in_panics_or_is_verified(
        values in proptest::collection::vec(value(), 6),
        query in "[ -~]{0,80}", body in body(), url in "[ -~]{0,80}", now in any::<i64>(),
        method in prop_oneof![Just("GET"), Just("POST"), Just("OPTIONS")],
    ) {
        for (preset, verifier) in presets().iter().zip(VERIFIERS.iter()) {
            let mut headers = HeaderMap::new();
            let fields = [&preset.scheme.signature.name, "content-type"]
                .into_iter().map(|name| name.replace('*', "1"))
                .chain(preset.scheme.timestamp.iter().map(|field| field.name.clone()))
                .chain(preset.scheme.id.iter().map(|field| field.name.clone()))
                .chain(preset.scheme.signed.split(['{', '}']).filter_map(|part| part.strip_prefix("header.")).map(str::to_owned))
                .chain(preset.scheme.challenges.iter().flat_map(|handshake| &handshake.when)
                    .filter(|condition| condition.source == Source::Header).map(|condition| condition.name.clone()));
            for (name, value) in fields.zip(values.iter().cycle()) {
                if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_bytes(value)) {
                    headers.append(name, value);
                }
            }
            let request = Request { method, url: &url, raw_query: &query, headers: &headers, body: &body };
            let now = Now::from_unix_seconds(now);
            let mut keys = Keys::new();
            let verdict = verifier.verify(&request, now, &keys);
            prop_assert!(!verdict.is_verified(), "{}: {verdict:?}", preset.name);
            if let Verdict::NeedsKey(wanted) = verdict {
                keys.insert(wanted, body.clone());
                let verdict = verifier.verify(&request, now, &keys);
                prop_assert!(matches!(verdict, Verdict::Failed(_)), "{}: {verdict:?}", preset.name);
            }
            let _ = verifier.verify_ignoring_time(&request, now, &keys);
            let _ = verifier.challenge(&request, now, &keys);
            let _ = verifier.preview(&request).map(|shown| assert!(shown.len() <= 4096));
            for named in [verifier.delivery_id(&request), verifier.event(&request)].into_iter().flatten() {
                prop_assert!((1..=256).contains(&named.len()));
            }
        }
    }

    /// What an account writes is compiled or refused.
    #[test]
    fn no_secret_or_template_panics(
        secret in "[ -~\\n]{0,200}", signed in "[{}\\[\\]a-z0-9.(),:]{0,60}", url in "[ -~]{0,60}",
    ) {
        for preset in presets() {
            let spec = SignatureSpec { url: url.clone(), ..spec(&preset.name, &[&secret], &[]) };
            let _ = spec.verifier();
            let mut scheme = preset.scheme.clone();
            scheme.signed = signed.clone();
            scheme.key.url = url.clone();
            let spec = SignatureSpec { scheme: Some(scheme), ..self::spec("custom", &[&secret], &[]) };
            let _ = spec.verifier();
        }
    }

    /// What a public key is read from may be anything.
    #[test]
    fn no_document_of_keys_panics(document in proptest::collection::vec(any::<u8>(), 0..400)) {
        let certificate = include_str!("../vectors/paypal.json");
        let vectors: serde_json::Value = serde_json::from_str(certificate).expect("JSON");
        let pem = vectors[0]["keys"][0]["document"].as_str().expect("a certificate");
        // Bytes of a certificate, with some of them changed.
        let mut changed = pem.as_bytes().to_vec();
        for (at, byte) in document.iter().enumerate() {
            let place = 28 + (at * 7 + usize::from(*byte)) % (changed.len() - 60);
            if at < 6 && changed[place] != b'\n' {
                changed[place] = b"ABCDEFabcdef0123"[usize::from(*byte) % 16];
            }
        }
        for document in [document, changed] {
            let text = String::from_utf8_lossy(&document);
            let _ = spec("fusionauth", &[&text], &[]).verifier();
            let _ = spec("sendgrid", &[&text], &[]).verifier();
        }
    }
}

#[test]
fn what_has_too_much_in_it_is_malformed() {
    use crate::common::{NOW, Sent, mac};
    let many = |count: usize| {
        let list = vec![format!("v1={}", mac("of nobody", "{}")); count].join(",");
        Sent::post("{}").header("X-PagerDuty-Signature", list)
    };
    let pagerduty = crate::common::verifier("pagerduty", &["s1"], &[]);
    let said = |sent: &Sent| match pagerduty.verify(&sent.request(), NOW, &Keys::new()) {
        Verdict::Failed(reason) => reason.to_string(),
        verdict => panic!("{verdict:?}"),
    };
    assert_eq!(said(&many(100)), "no match");
    assert!(said(&many(101)).contains("too many values"));
    let long =
        Sent::post("{}").header("X-PagerDuty-Signature", format!("v1={}", "0".repeat(20_000)));
    assert!(said(&long).contains("too long"));
    let form = "a=1&".repeat(1001);
    let sent = Sent::post(form)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("X-Twilio-Signature", "AAAA");
    let verdict =
        crate::common::verifier("twilio", &["s1"], &[]).verify(&sent.request(), NOW, &Keys::new());
    assert!(
        matches!(&verdict, Verdict::Failed(reason) if reason.to_string().contains("too many parameters")),
        "{verdict:?}"
    );
}
