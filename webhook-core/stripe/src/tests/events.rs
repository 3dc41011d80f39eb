//! Who signed an event, and what it is about.

use http::{HeaderMap, HeaderValue};
use ring::hmac;

use webhook_core::{
    Error, ErrorKind, Timestamp,
    billing::{BillingProvider, Event},
    forward::ScriptedForwarder,
};

use super::stripe;

const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

fn sign(secret: &str, time: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("{time}.{body}").as_bytes());
    tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn take(headers: &[&str], body: &str) -> Result<Event, Error> {
    let stripe = stripe(&ScriptedForwarder::new());
    let mut map = HeaderMap::new();
    for header in headers {
        map.append("stripe-signature", HeaderValue::from_str(header).expect("a header"));
    }
    stripe.event(&map, body.as_bytes(), NOW)
}

/// Signed rightly, just now.
fn signed(body: &str) -> Result<Event, Error> {
    let time = NOW.as_secs();
    take(&[&format!("t={time},v1={}", sign("whsec_right", time, body))], body)
}

const BODY: &str = r#"{"id":"evt_1","type":"ping","data":{"object":{}}}"#;

#[tokio::test]
async fn only_what_stripe_signed_lately_is_taken() {
    let time = NOW.as_secs();
    let right = |time| sign("whsec_right", time, BODY);
    let wrong = sign("whsec_wrong", time, BODY);
    let of = |header: String| take(&[&header], BODY);
    assert!(of(format!("t={time},v1={}", right(time))).is_ok());
    assert!(of(format!("t={time},v1={wrong},v0=00,v1={}", right(time))).is_ok());
    for drift in [-300, 300] {
        assert!(of(format!("t={0},v1={1}", time + drift, right(time + drift))).is_ok());
    }
    let late = time - 301;
    let early = time + 301;
    let many = format!("v1={wrong},").repeat(16);
    for header in [
        format!("t={time},v1={wrong}"),
        format!("t={time},v0={}", right(time)),
        format!("t={},v1={}", time + 1, right(time)),
        format!("t={late},v1={}", right(late)),
        format!("t={early},v1={}", right(early)),
        format!("v1={}", right(time)),
        format!("t=soon,v1={}", right(time)),
        format!("t={time},v1={}", &right(time)[..62]),
        format!("t={time},v1=é"),
        format!("t={time},{many}v1={}", right(time)),
        format!("t={time}"),
        String::new(),
    ] {
        let error = of(header.clone()).expect_err(&header);
        assert_eq!(error.kind(), ErrorKind::Unauthorized, "{header}");
    }
    let header = format!("t={time},v1={}", right(time));
    for headers in [&[][..], &[&*header, &*header]] {
        assert_eq!(take(headers, BODY).expect_err("once").kind(), ErrorKind::Unauthorized);
    }
    let changed = take(&[&header], &BODY.replace("ping", "pong"));
    assert_eq!(changed.expect_err("another body").kind(), ErrorKind::Unauthorized);
}

#[tokio::test]
async fn events_are_about_subscriptions() {
    let about = |kind: &str, object: &str| {
        let body = format!(r#"{{"id":"evt_1","type":"{kind}","data":{{"object":{object}}}}}"#);
        signed(&body).expect("well-formed").subscription_id
    };
    let sub = Some("sub_1".to_owned());
    assert_eq!(about("customer.subscription.updated", r#"{"id":"sub_1"}"#), sub);
    assert_eq!(about("customer.subscription.deleted", r#"{"id":"sub_1"}"#), sub);
    let session = r#"{"id":"cs_1","subscription":"sub_1"}"#;
    assert_eq!(about("checkout.session.completed", session), sub);
    let setup = r#"{"id":"cs_1","subscription":null}"#;
    assert_eq!(about("checkout.session.completed", setup), None);
    let old = r#"{"id":"in_1","subscription":{"id":"sub_1","object":"subscription"}}"#;
    assert_eq!(about("invoice.payment_failed", old), sub);
    let new = r#"{"id":"in_1","parent":{"subscription_details":{"subscription":"sub_1"}}}"#;
    assert_eq!(about("invoice.payment_failed", new), sub);
    assert_eq!(about("customer.updated", r#"{"id":"cus_1"}"#), None);
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    for body in [
        "",
        "{}",
        "[1]",
        r#"{"id":"","type":"ping","data":{"object":{}}}"#,
        r#"{"id":"evt_1","type":"customer.subscription.updated","data":{"object":{"id":"../x"}}}"#,
    ] {
        let error = signed(body).expect_err(body);
        assert_eq!(error.kind(), ErrorKind::Invalid, "{body}");
        assert!(error.to_string().starts_with("body: "));
    }
}
