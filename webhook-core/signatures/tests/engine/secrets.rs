//! Several secrets, keys that are fetched, and what two requests have in common.

use std::time::Duration;

use serde_json::json;
use webhook_signatures::{
    Action, KeyKind, KeyRequest, Keys, MAX_KEY_DOCUMENT_BYTES, Now, Reason, Verdict,
};

use crate::common::{NOW, Sent, SignatureSpec, mac, spec, verifier};

fn github(secret: &str, body: &str) -> Sent {
    Sent::post(body).header("X-Hub-Signature-256", format!("sha256={}", mac(secret, body)))
}

fn stripe(secret: &str, seconds: i64, body: &str) -> Sent {
    let made = mac(secret, &format!("{seconds}.{body}"));
    Sent::post(body).header("Stripe-Signature", format!("t={seconds},v1={made}"))
}

fn failed(reason: Reason) -> Verdict {
    Verdict::Failed(reason)
}

#[test]
fn a_secret_verifies_until_it_expires_and_not_longer() {
    const END: i64 = 1_767_225_700;
    let mut spec = spec("github", &["new", "old"], &[]);
    spec.secrets[1].expires_at = Some(END);
    let verifier = spec.verifier().expect("a spec");
    let at =
        |secret: &str, now| verifier.verify(&github(secret, "{}").request(), now, &Keys::new());
    let (last, end) =
        (Now::from_unix_nanos(i128::from(END) * 1_000_000_000 - 1), Now::from_unix_seconds(END));
    assert_eq!(at("old", last), Verdict::Verified { secret_index: 1, guard: None });
    assert_eq!(at("old", end), failed(Reason::NoMatch));
    assert_eq!(at("new", end), Verdict::Verified { secret_index: 0, guard: None });
    // What was stored is looked at with the secrets of today.
    let sent = github("old", "{}");
    assert_eq!(
        verifier.verify_ignoring_time(&sent.request(), end, &Keys::new()),
        failed(Reason::NoMatch)
    );
}

#[test]
fn an_expired_secret_answers_no_handshake() {
    let mut spec = spec("x", &["old"], &[]);
    spec.secrets[0].expires_at = Some(1_767_225_600);
    let verifier = spec.verifier().expect("a spec");
    let sent = Sent::get("crc_token=abc");
    assert_eq!(verifier.challenge(&sent.request(), NOW, &Keys::new()), None);
    let before = Now::from_unix_seconds(1_767_225_599);
    assert!(verifier.challenge(&sent.request(), before, &Keys::new()).is_some());
}

#[test]
fn a_request_that_is_sent_again_has_the_same_guard() {
    let verifier = verifier("stripe", &["s1", "s2"], &[]);
    let guard = |sent: &Sent| match verifier.verify(&sent.request(), NOW, &Keys::new()) {
        Verdict::Verified { guard: Some(guard), .. } => guard,
        verdict => panic!("{verdict:?}"),
    };
    let first = stripe("s1", 1_767_225_600, "{}");
    assert_eq!(guard(&first), guard(&first.clone()));
    // What is not signed may differ: it is the same request.
    let dressed = first.clone().header("X-Request-Id", "2");
    assert_eq!(guard(&first), guard(&dressed));
    let noisy = mac("s1", "1767225600.{}");
    let noisy = Sent::post("{}")
        .header("Stripe-Signature", format!("t=1767225600, v0=00, v1={noisy}, v1=00"));
    assert_eq!(guard(&first), guard(&noisy));
    assert_ne!(guard(&first), guard(&stripe("s1", 1_767_225_601, "{}")));
    assert_ne!(guard(&first), guard(&stripe("s1", 1_767_225_600, "[]")));
    // Late, it is still known as the same.
    let late = Now::from_unix_seconds(1_867_225_600);
    assert_eq!(verifier.verify(&first.request(), late, &Keys::new()), failed(Reason::Timestamp));
    let again = verifier.verify_ignoring_time(&first.request(), late, &Keys::new());
    assert_eq!(again, Verdict::Verified { secret_index: 0, guard: Some(guard(&first)) });
}

/// Of an ECDSA signature, anybody can make a second one; the guard must not be fooled.
#[test]
fn another_signature_of_the_same_text_has_the_same_guard() {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use ring::{
        rand::SystemRandom,
        signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair},
    };
    let random = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
    let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).expect("a key");
    let scheme = json!({
        "signature": {"source": "header", "name": "X-Sig", "encoding": "base64"},
        "algorithm": "ecdsa-p256-sha256", "key": {"encoding": "base64"}, "signed": "{timestamp}{body}",
        "timestamp": {"source": "header", "name": "X-At"},
    });
    let spec = SignatureSpec {
        scheme: Some(serde_json::from_value(scheme).expect("a scheme")),
        ..spec("custom", &[&STANDARD.encode(key.public_key().as_ref())], &[])
    };
    let verifier = spec.verifier().expect("a spec");
    let guards: Vec<_> = (0..2)
        .map(|_| {
            let made = key.sign(&random, b"1767225600{}").expect("a signature");
            let sent = Sent::post("{}")
                .header("X-Sig", STANDARD.encode(made.as_ref()))
                .header("X-At", "1767225600");
            match verifier.verify(&sent.request(), NOW, &Keys::new()) {
                Verdict::Verified { guard: Some(guard), .. } => (made.as_ref().to_vec(), guard),
                verdict => panic!("{verdict:?}"),
            }
        })
        .collect();
    assert_ne!(guards[0].0, guards[1].0);
    assert_eq!(guards[0].1, guards[1].1);
}

fn sns(certificate_url: &str) -> Sent {
    Sent::post(json!({
        "Type": "SubscriptionConfirmation", "MessageId": "1", "Token": "t", "TopicArn": "arn:aws:sns:eu-central-1:1:a",
        "Message": "m", "Timestamp": "2026-01-01T00:00:00.000Z", "SignatureVersion": "2", "Signature": "AAAA",
        "SigningCertURL": certificate_url, "SubscribeURL": "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription",
    }).to_string())
}

#[test]
fn a_key_is_fetched_from_the_provider_only() {
    let verifier = verifier("aws_sns", &[], &[("topic_arn", "arn:aws:sns:eu-central-1:1:a")]);
    let good = "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0a.pem";
    let request = KeyRequest { url: good.to_owned(), kind: KeyKind::Certificate, body: None };
    let verify = |url: &str, keys: &Keys| verifier.verify(&sns(url).request(), NOW, keys);
    assert_eq!(verify(good, &Keys::new()), Verdict::NeedsKey(request.clone()));
    assert_eq!(verifier.challenge(&sns(good).request(), NOW, &Keys::new()), None);
    let path = "SimpleNotificationService-0a.pem";
    for url in [
        &format!("http://sns.eu-central-1.amazonaws.com/{path}"),
        &format!("https://sns.eu-central-1.amazonaws.com.evil.example/{path}"),
        &format!("https://evil.example/{path}"),
        &format!("https://sns.evil.example#.amazonaws.com/{path}"),
        &format!("https://a@sns.eu-central-1.amazonaws.com/{path}"),
        &format!("https://sns.eu-central-1.amazonaws.com:8443/{path}"),
        &format!("https://s3.eu-central-1.amazonaws.com/{path}"),
        &format!("https://sns.a.b.amazonaws.com/{path}"),
        &format!("https://sns.amazonaws.com/{path}"),
        "https://sns.eu-central-1.amazonaws.com/?Action=GetTopic&x=/SimpleNotificationService-0a.pem",
        &format!("{good}?x=1"),
        "https://sns.eu-central-1.amazonaws.com/a/../SimpleNotificationServic",
        "https://127.0.0.1/SimpleNotificationService-0a.pem",
        "not a url",
        "",
    ] {
        assert!(matches!(verify(url, &Keys::new()), Verdict::Failed(_)), "{url}");
    }
    // What cannot be fetched, or is no certificate, does not verify and is not asked for again.
    let mut keys = Keys::new();
    keys.insert_unavailable(request.clone());
    assert_eq!(verify(good, &keys), failed(Reason::KeyUnavailable));
    for document in
        [&b""[..], b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", b"\xff\xfe"]
    {
        keys.insert(request.clone(), document.to_vec());
        assert_eq!(verify(good, &keys), failed(Reason::KeyUnavailable));
    }
    keys.insert(request, vec![b' '; MAX_KEY_DOCUMENT_BYTES + 1]);
    assert_eq!(verify(good, &keys), failed(Reason::KeyUnavailable));
}

/// The vectors have one that AWS's library accepts.
#[test]
fn a_subscription_is_confirmed_on_a_host_of_the_provider_once_it_is_verified() {
    let text = include_str!("../vectors/aws_sns.json");
    let vectors: Vec<serde_json::Value> = serde_json::from_str(text).expect("JSON");
    let vector = &vectors[2];
    let topic = vector["parameters"]["topic_arn"].as_str().expect("a topic");
    let document = vector["keys"][0]["document"].as_str().expect("a certificate");
    let sent = Sent::post(vector["body"].as_str().expect("a body"));
    let answers = |topic: &str, sent: &Sent| {
        let verifier = verifier("aws_sns", &[], &[("topic_arn", topic)]);
        let mut keys = Keys::new();
        if let Verdict::NeedsKey(request) = verifier.verify(&sent.request(), NOW, &keys) {
            keys.insert(request, document.as_bytes().to_vec());
        }
        (
            verifier.challenge(&sent.request(), NOW, &keys),
            verifier.verify(&sent.request(), NOW, &keys),
        )
    };
    let (challenge, _) = answers(topic, &sent);
    let challenge = challenge.expect("a handshake");
    let Some(Action::Fetch { url }) = challenge.action else { panic!("{challenge:?}") };
    assert!(url.starts_with("https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription"));
    // AWS signs for everybody: the topic of somebody else is not ours.
    let (challenge, verdict) = answers("arn:aws:sns:eu-central-1:1:other", &sent);
    assert_eq!(
        (challenge, verdict),
        (None, failed(Reason::Unexpected("payload field TopicArn".to_owned())))
    );
    // Signed by nobody, it is fetched by nobody.
    let elsewhere =
        Sent::post(sent.body.replace("/?Action=ConfirmSubscription", "/?Action=Publish"));
    assert_eq!(answers(topic, &elsewhere), (None, failed(Reason::NoMatch)));
}

#[test]
fn a_key_that_the_document_does_not_have_is_told_from_a_wrong_one() {
    let text = include_str!("../vectors/plaid.json");
    let vectors: Vec<serde_json::Value> = serde_json::from_str(text).expect("JSON");
    let verifier = verifier(
        "plaid",
        &["plaid-secret"],
        &[("client_id", "client-1"), ("environment", "production")],
    );
    let sent = |number: usize| {
        let vector = &vectors[number];
        let token = vector["headers"]["Plaid-Verification"].as_str().expect("a token");
        Sent::post(vector["body"].as_str().expect("a body")).header("Plaid-Verification", token)
    };
    let Verdict::NeedsKey(request) = verifier.verify(&sent(0).request(), NOW, &Keys::new()) else {
        panic!("no key is needed");
    };
    assert_eq!(request.url, "https://production.plaid.com/webhook_verification_key/get");
    assert!(!format!("{request:?}").contains("plaid-secret"));
    let mut keys = Keys::new();
    let other = vectors[1]["keys"][0]["document"].as_str().expect("a document");
    keys.insert(request, other.as_bytes().to_vec());
    assert_eq!(verifier.verify(&sent(0).request(), NOW, &keys), failed(Reason::UnknownKey));
}

/// RFC 7797, section 4.2; and a header that calls something critical that nobody knows.
#[test]
fn a_detached_signature_of_the_rfc_is_verified() {
    let scheme = json!({
        "signature": {"source": "header", "name": "X-JWS-Signature"},
        "algorithm": "jws-detached", "key": {"encoding": "base64"},
    });
    let key =
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
    let spec = SignatureSpec {
        scheme: Some(serde_json::from_value(scheme).expect("a scheme")),
        ..spec("custom", &[key], &[])
    };
    let verifier = spec.verifier().expect("a spec");
    let rfc = "eyJhbGciOiJIUzI1NiIsImI2NCI6ZmFsc2UsImNyaXQiOlsiYjY0Il19..A5dxf2s96_n5FLueVuW1Z_vh161FwXZC4YLPff6dmDY";
    let verify = |token: &str, body: &str| {
        verifier.verify(
            &Sent::post(body).header("X-JWS-Signature", token).request(),
            NOW,
            &Keys::new(),
        )
    };
    assert!(verify(rfc, "$.02").is_verified());
    assert_eq!(verify(rfc, "$.03"), failed(Reason::NoMatch));
    // {"alg":"HS256","crit":["exp"]} and {"alg":"none"}
    for header in ["eyJhbGciOiJIUzI1NiIsImNyaXQiOlsiZXhwIl19", "eyJhbGciOiJub25lIn0"] {
        let token = format!("{header}..A5dxf2s96_n5FLueVuW1Z_vh161FwXZC4YLPff6dmDY");
        assert!(matches!(verify(&token, "$.02"), Verdict::Failed(Reason::Malformed(_))));
    }
}

/// The classic: the public key as the secret of an HMAC.
#[test]
fn a_public_key_is_never_the_secret_of_an_hmac() {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    let text = include_str!("../vectors/fusionauth.json");
    let vectors: Vec<serde_json::Value> = serde_json::from_str(text).expect("JSON");
    let public = vectors.iter().filter_map(|vector| vector["secret"].as_str());
    let public: Vec<_> = public.filter(|secret| secret.starts_with("-----BEGIN")).collect();
    assert!(public.len() >= 3);
    for public in public {
        let claims = r#"{"request_body_sha256":"RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o="}"#;
        let signed = format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256"}"#),
            URL_SAFE_NO_PAD.encode(claims)
        );
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, public.as_bytes());
        let made = URL_SAFE_NO_PAD.encode(ring::hmac::sign(&key, signed.as_bytes()).as_ref());
        let sent =
            Sent::post("{}").header("X-FusionAuth-Signature-JWT", format!("{signed}.{made}"));
        let verdict =
            verifier("fusionauth", &[public], &[]).verify(&sent.request(), NOW, &Keys::new());
        assert_eq!(verdict, failed(Reason::NoMatch));
        // With the same secret as a secret, it would have been right.
        let plain = &public.replace("-----", "");
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, plain.as_bytes());
        let made = URL_SAFE_NO_PAD.encode(ring::hmac::sign(&key, signed.as_bytes()).as_ref());
        let sent =
            Sent::post("{}").header("X-FusionAuth-Signature-JWT", format!("{signed}.{made}"));
        assert!(
            verifier("fusionauth", &[plain], &[])
                .verify(&sent.request(), NOW, &Keys::new())
                .is_verified()
        );
    }
}

#[test]
fn a_second_item_of_adyen_is_not_taken_for_signed() {
    let text = include_str!("../vectors/adyen.json");
    let vectors: Vec<serde_json::Value> = serde_json::from_str(text).expect("JSON");
    let verifier = verifier("adyen", &[vectors[0]["secret"].as_str().expect("a secret")], &[]);
    let body = vectors[0]["body"].as_str().expect("a body");
    assert!(verifier.verify(&Sent::post(body).request(), NOW, &Keys::new()).is_verified());
    let mut more: serde_json::Value = serde_json::from_str(body).expect("JSON");
    more["notificationItems"]
        .as_array_mut()
        .expect("a list")
        .push(json!({"NotificationRequestItem": {"value": 1}}));
    let verdict = verifier.verify(&Sent::post(more.to_string()).request(), NOW, &Keys::new());
    assert_eq!(verdict, failed(Reason::Unexpected("payload field notificationItems.1".to_owned())));
    // Said twice, two readers may see two values.
    let twice = body.replace(r#""success":"#, r#""success": "false", "success":"#);
    let twice = if twice == body {
        body.replace(r#""success": "#, r#""success": "false", "success": "#)
    } else {
        twice
    };
    assert_ne!(twice, body);
    assert!(matches!(
        verifier.verify(&Sent::post(twice).request(), NOW, &Keys::new()),
        Verdict::Failed(Reason::Malformed(_))
    ));
}

#[test]
fn twilio_does_not_take_a_form_for_json() {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use ring::hmac;
    let verifier = verifier("twilio", &["s1"], &[]);
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, b"s1");
    let url = "https://hooks.example.com/v1/webhooks/abc";
    let sent = |kind: &str| {
        Sent::post("a=1").header("Content-Type", kind).header(
            "X-Twilio-Signature",
            STANDARD.encode(hmac::sign(&key, url.as_bytes()).as_ref()),
        )
    };
    // The signature of the URL alone: of a request with another body, perhaps.
    for kind in ["application/json", "text/plain", "application/x-www-form-urlencoded"] {
        assert!(!verifier.verify(&sent(kind).request(), NOW, &Keys::new()).is_verified(), "{kind}");
    }
}

#[test]
fn the_url_of_the_account_is_what_the_sender_signed() {
    let url = "https://proxy.example/in?a=1";
    let square = |url: &str| {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"s1");
        let made = ring::hmac::sign(&key, format!("{url}{{}}").as_bytes());
        Sent::post("{}").header("x-square-hmacsha256-signature", STANDARD.encode(made.as_ref()))
    };
    let spec = SignatureSpec { url: url.to_owned(), ..spec("square", &["s1"], &[]) };
    let verifier = spec.verifier().expect("a spec");
    assert!(verifier.verify(&square(url).request(), NOW, &Keys::new()).is_verified());
    let verdict = verifier.verify(
        &square("https://hooks.example.com/v1/webhooks/abc").request(),
        NOW,
        &Keys::new(),
    );
    assert_eq!(verdict, failed(Reason::NoMatch));
}

#[test]
fn the_delivery_and_its_event_are_named() {
    let github = verifier("github", &["s1"], &[]);
    let sent = github_named("72d3162e-cc78-11e3-81ab-4c9367dc0958");
    assert_eq!(
        github.delivery_id(&sent.request()).as_deref(),
        Some("72d3162e-cc78-11e3-81ab-4c9367dc0958")
    );
    assert_eq!(github.event(&sent.request()).as_deref(), Some("push"));
    assert_eq!(github.delivery_id(&github_named(&"a".repeat(257)).request()), None);
    assert_eq!(github.delivery_id(&Sent::post("{}").request()), None);
    let stripe = verifier("stripe", &["s1"], &[]);
    let sent = Sent::post(r#"{"id":"evt_1","type":"invoice.paid"}"#);
    assert_eq!(stripe.delivery_id(&sent.request()).as_deref(), Some("evt_1"));
    assert_eq!(stripe.event(&sent.request()).as_deref(), Some("invoice.paid"));
    assert_eq!(stripe.event(&Sent::post("a=b").request()), None);
}

fn github_named(id: &str) -> Sent {
    Sent::post("{}").header("X-GitHub-Delivery", id).header("X-GitHub-Event", "push")
}

#[test]
fn what_is_signed_can_be_looked_at_but_not_the_secret() {
    let stripe = verifier("stripe", &["s1"], &[]);
    let sent = stripe_sent();
    assert_eq!(stripe.preview(&sent.request()).as_deref(), Ok(&b"1767225600.{}"[..]));
    let missing = stripe.preview(&Sent::post("{}").request());
    assert_eq!(missing, Err(Reason::Missing("header Stripe-Signature".to_owned())));
    let hubspot = verifier("hubspot_v1", &["s1-is-secret"], &[]);
    let shown = hubspot.preview(&Sent::post("{}").request()).expect("a preview");
    assert_eq!(String::from_utf8(shown).expect("text"), "…{}");
    let paypal = verifier("paypal", &[], &[("webhook_id", "id-is-secret")]);
    let sent = Sent::post("{}")
        .header("PAYPAL-TRANSMISSION-ID", "1")
        .header("PAYPAL-TRANSMISSION-TIME", "2026-01-01T00:00:00Z");
    let shown = paypal.preview(&sent.request()).expect("a preview");
    assert_eq!(String::from_utf8(shown).expect("text"), "1|2026-01-01T00:00:00Z|…|2745614147");
    let long = Sent::post("x".repeat(10_000));
    assert_eq!(
        verifier("github", &["s1"], &[]).preview(&long.request()).map(|shown| shown.len()),
        Ok(4096)
    );
    for debug in
        [format!("{hubspot:?}"), format!("{:?}", spec("hubspot_v1", &["s1-is-secret"], &[]))]
    {
        assert!(!debug.contains("s1-is-secret"), "{debug}");
    }
}

fn stripe_sent() -> Sent {
    stripe("s1", 1_767_225_600, "{}")
}

#[test]
fn the_tolerance_is_the_accounts_or_the_providers() {
    assert_eq!(verifier("stripe", &["s1"], &[]).tolerance_nanos(), 300_000_000_000);
    assert_eq!(verifier("linear", &["s1"], &[]).tolerance_nanos(), 60_000_000_000);
    let spec = SignatureSpec { tolerance: Duration::from_secs(7), ..spec("stripe", &["s1"], &[]) };
    assert_eq!(spec.verifier().expect("a spec").tolerance_nanos(), 7_000_000_000);
}

#[test]
fn an_hmac_of_the_body_needs_no_scheme() {
    let spec = SignatureSpec {
        header: "X-Acme".to_owned(),
        prefix: "sha256=".to_owned(),
        ..spec("hmac", &["s1"], &[])
    };
    let verifier = spec.verifier().expect("a spec");
    let sent = Sent::post("{}").header("X-Acme", format!("sha256={}", mac("s1", "{}")));
    assert!(verifier.verify(&sent.request(), NOW, &Keys::new()).is_verified());
}

#[test]
fn a_token_may_have_letters_beyond_ascii() {
    let gitlab = verifier("gitlab", &["schlüssel"], &[]);
    let sent = |token: &[u8]| {
        let mut sent = Sent::post("{}");
        let value = http::HeaderValue::from_bytes(token).expect("a value");
        sent.headers.insert("x-gitlab-token", value);
        gitlab.verify(&sent.request(), NOW, &Keys::new())
    };
    assert!(sent("schlüssel".as_bytes()).is_verified());
    assert_eq!(sent("\u{feff}schlüssel".as_bytes()), failed(Reason::NoMatch));
    assert!(matches!(sent(b"schl\xfcssel"), Verdict::Failed(Reason::Malformed(_))));
}

/// Keys as JSON: each of a set is tried, but of a long one only the first 16 are read.
#[test]
fn a_set_of_keys_is_read_to_its_bound() {
    use base64::{
        Engine,
        engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
    };
    use ring::signature::{Ed25519KeyPair, KeyPair};
    let key = |seed: u8| Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).expect("a key");
    let jwk = |seed: u8| {
        let x = URL_SAFE_NO_PAD.encode(key(seed).public_key().as_ref());
        json!({"kty": "OKP", "crv": "Ed25519", "x": x})
    };
    let digest = ring::digest::digest(&ring::digest::SHA256, b"{}");
    let claims = json!({"request_body_sha256": STANDARD.encode(digest.as_ref())}).to_string();
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(r#"{"alg":"EdDSA"}"#),
        URL_SAFE_NO_PAD.encode(claims)
    );
    let made = URL_SAFE_NO_PAD.encode(key(99).sign(signed.as_bytes()).as_ref());
    let sent = Sent::post("{}").header("X-FusionAuth-Signature-JWT", format!("{signed}.{made}"));
    let verdict = |before: u8| {
        let keys: Vec<_> = (0..before).chain([99]).map(jwk).collect();
        let set = json!({ "keys": keys }).to_string();
        verifier("fusionauth", &[&set], &[]).verify(&sent.request(), NOW, &Keys::new())
    };
    assert!(verdict(0).is_verified());
    assert!(verdict(15).is_verified());
    assert_eq!(verdict(16), failed(Reason::NoMatch));
}
