//! The handshakes of providers, and that none of them makes a signature for a stranger.

use crate::common::{NOW, Sent, SignatureSpec, URL, mac, spec, verifier};
use serde_json::{Value, json};
use webhook_signatures::{Action, Challenge, Keys, Reason, Secret, Verdict, Verifier};

fn answer(verifier: &Verifier, sent: &Sent) -> Option<Challenge> {
    verifier.challenge(&sent.request(), NOW, &Keys::new())
}

/// Answered with a text, as a text.
fn assert_text(verifier: &Verifier, sent: &Sent, expected: &str) {
    let answer = answer(verifier, sent).expect("a handshake");
    assert_eq!((answer.status, answer.body.as_slice()), (200, expected.as_bytes()));
    assert_eq!(answer.headers["content-type"], "text/plain; charset=utf-8");
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert_eq!(answer.action, None);
}

fn assert_json(verifier: &Verifier, sent: &Sent, expected: &Value) {
    let answer = answer(verifier, sent).expect("a handshake");
    assert_eq!(answer.status, 200);
    assert_eq!(&serde_json::from_slice::<Value>(&answer.body).expect("JSON"), expected);
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
}

fn assert_none(verifier: &Verifier, sent: &Sent) {
    assert_eq!(answer(verifier, sent), None, "{sent:?}");
}

fn slack(secret: &str, body: &str) -> Sent {
    let made = mac(secret, &format!("v0:1767225600:{body}"));
    Sent::post(body)
        .header("X-Slack-Signature", format!("v0={made}"))
        .header("X-Slack-Request-Timestamp", "1767225600")
}

#[test]
fn slack_is_answered_if_it_signs() {
    let verifier = verifier("slack", &["s1"], &[]);
    let body = r#"{"type":"url_verification","challenge":"3eZbrw1a"}"#;
    assert_text(&verifier, &slack("s1", body), "3eZbrw1a");
    assert_none(&verifier, &slack("another", body));
    assert_none(&verifier, &Sent::post(body));
    assert_none(&verifier, &slack("s1", r#"{"type":"event_callback","challenge":"x"}"#));
}

#[test]
fn zoom_is_answered_with_an_hmac_only_if_it_signs() {
    let verifier = verifier("zoom", &["s1"], &[]);
    let zoom = |secret: &str, token: &str| {
        let body = json!({"event": "endpoint.url_validation", "payload": {"plainToken": token}});
        let body = body.to_string();
        let made = mac(secret, &format!("v0:1767225600:{body}"));
        Sent::post(body)
            .header("x-zm-signature", format!("v0={made}"))
            .header("x-zm-request-timestamp", "1767225600")
    };
    let expected = json!({"plainToken": "qgg8vlvZRS6UYooatFL8Aw", "encryptedToken": mac("s1", "qgg8vlvZRS6UYooatFL8Aw")});
    assert_json(&verifier, &zoom("s1", "qgg8vlvZRS6UYooatFL8Aw"), &expected);
    // The text that a webhook of the forger's would be signed as.
    assert_none(&verifier, &zoom("of nobody", r#"v0:1767225600:{"event":"meeting.ended"}"#));
}

#[test]
fn discord_is_answered_if_it_signs() {
    use ring::signature::{Ed25519KeyPair, KeyPair};
    let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a key");
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let verifier = verifier("discord", &[&hex(key.public_key().as_ref())], &[]);
    let ping = r#"{"type":1,"id":"1"}"#;
    let signed = hex(key.sign(format!("1767225600{ping}").as_bytes()).as_ref());
    let sent = Sent::post(ping).header("X-Signature-Timestamp", "1767225600");
    assert_json(
        &verifier,
        &sent.clone().header("X-Signature-Ed25519", &signed),
        &json!({"type": 1}),
    );
    let forged = sent.header("X-Signature-Ed25519", hex(&[1; 64]));
    assert_none(&verifier, &forged);
    let verdict = verifier.verify(&forged.request(), NOW, &Keys::new());
    assert_eq!(verdict, Verdict::Failed(Reason::NoMatch));
}

#[test]
fn twitch_is_answered_if_it_signs() {
    let verifier = verifier("twitch", &["s1"], &[]);
    let body = r#"{"challenge":"pogchamp-kappa-360noscope-vohiyo"}"#;
    let twitch = |secret: &str| {
        let made = mac(secret, &format!("m12026-01-01T00:00:00Z{body}"));
        Sent::post(body)
            .header("Twitch-Eventsub-Message-Id", "m1")
            .header("Twitch-Eventsub-Message-Timestamp", "2026-01-01T00:00:00Z")
            .header("Twitch-Eventsub-Message-Type", "webhook_callback_verification")
            .header("Twitch-Eventsub-Message-Signature", format!("sha256={made}"))
    };
    assert_text(&verifier, &twitch("s1"), "pogchamp-kappa-360noscope-vohiyo");
    assert_none(&verifier, &twitch("another"));
}

#[test]
fn meta_is_answered_for_the_token_of_the_account() {
    for provider in ["meta", "whatsapp"] {
        let verifier = verifier(provider, &["s1"], &[("verify_token", "mine")]);
        let query = |token: &str| {
            Sent::get(&format!(
                "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token={token}"
            ))
        };
        assert_text(&verifier, &query("mine"), "1158201444");
        assert_none(&verifier, &query("yours"));
        assert_none(&verifier, &Sent { method: "POST", ..query("mine") });
        assert_none(&verifier, &Sent::get("hub.mode=subscribe&hub.challenge=1"));
        assert_none(
            &verifier,
            &Sent::get("hub.mode=subscribe&hub.challenge=1&hub.challenge=2&hub.verify_token=mine"),
        );
        // Without one, nobody is.
        assert_none(&self::verifier(provider, &["s1"], &[]), &query("mine"));
    }
}

#[test]
fn strava_is_answered_in_json() {
    let verifier = verifier("strava", &["own"], &[("verify_token", "mine")]);
    let sent =
        Sent::get("token=own&hub.mode=subscribe&hub.verify_token=mine&hub.challenge=15f7d1a91c");
    assert_json(&verifier, &sent, &json!({"hub.challenge": "15f7d1a91c"}));
}

#[test]
fn websub_is_answered_for_the_topic_of_the_account() {
    let verifier = verifier("websub", &["s1"], &[("topic", "https://a.example/feed")]);
    let query =
        |topic: &str| Sent::get(&format!("hub.mode=subscribe&hub.topic={topic}&hub.challenge=c1"));
    assert_text(&verifier, &query("https%3A%2F%2Fa.example%2Ffeed"), "c1");
    assert_none(&verifier, &query("https%3A%2F%2Fb.example%2Ffeed"));
}

#[test]
fn x_and_linkedin_are_answered_with_an_hmac_of_what_could_not_be_a_webhook() {
    let x = verifier("x", &["s1"], &[]);
    let answered = answer(&x, &Sent::get("crc_token=MWQyNDE4Zj")).expect("a handshake");
    let answered: Value = serde_json::from_slice(&answered.body).expect("JSON");
    // Made by OpenSSL: printf MWQyNDE4Zj | openssl dgst -sha256 -hmac s1 -binary | base64
    assert_eq!(answered["response_token"], "sha256=q7BRq2p257x0zulV7vlYeitvpgRdYHth1eJ/FnbTySs=");

    let linkedin = verifier("linkedin", &["s1"], &[]);
    let code = "890e4665-4dfe-4ab1-b689-ed553bceeed0";
    let expected = json!({"challengeCode": code, "challengeResponse": mac("s1", code)});
    assert_json(&linkedin, &Sent::get(&format!("challengeCode={code}")), &expected);

    let long = "a".repeat(257);
    for token in [
        "%7B%22event%22%3A1%7D",
        "hmacsha256%3D%7B%7D",
        "a+b",
        "a%0Ab",
        "%C3%A9",
        "",
        &long,
        "a%2Cb",
        "a%3Db",
    ] {
        assert_none(&x, &Sent::get(&format!("crc_token={token}")));
        assert_none(&linkedin, &Sent::get(&format!("challengeCode={token}")));
    }
    assert!(answer(&x, &Sent::get(&format!("crc_token={}", "a".repeat(256)))).is_some());
}

#[test]
fn who_asks_for_an_echo_gets_it_as_text() {
    for (provider, secrets, parameters) in [
        ("dropbox", &["s1"][..], &[][..]),
        ("nylas", &["s1"], &[]),
        ("adobe_io", &[], &[("client_id", "c1")]),
    ] {
        let verifier = verifier(provider, secrets, parameters);
        assert_text(&verifier, &Sent::get("challenge=abc%3Cscript%3E"), "abc<script>");
        for query in ["", "challenge=", "challenge=a%0Ab", "other=1"] {
            assert_none(&verifier, &Sent::get(query));
        }
        assert_none(&verifier, &Sent::get(&format!("challenge={}", "a".repeat(1025))));
        assert_none(&verifier, &Sent { method: "POST", ..Sent::get("challenge=abc") });
    }
    let graph = verifier("microsoft_graph", &["state"], &[]);
    let sent = Sent { method: "POST", ..Sent::get("validationToken=Validation%3A+Testing+client") };
    assert_text(&graph, &sent, "Validation: Testing client");
}

#[test]
fn okta_and_monday_are_answered_in_json() {
    let okta = verifier("okta", &["s1"], &[]);
    let sent = Sent::get("").header("x-okta-verification-challenge", "aB\"c");
    assert_json(&okta, &sent, &json!({"verification": "aB\"c"}));
    assert_none(&okta, &Sent { method: "POST", ..sent });

    let monday = verifier("monday", &["s1"], &[]);
    assert_json(&monday, &Sent::post(r#"{"challenge":"3eZ"}"#), &json!({"challenge": "3eZ"}));
    assert_none(&monday, &Sent::post(r#"{"challenge":"3eZ","event":{"type":"create"}}"#));
}

#[test]
fn adobe_sign_sees_its_client_id_again() {
    let verifier = verifier("adobe_sign", &["CBJCHBCAAB"], &[]);
    let sent = Sent::get("").header("X-AdobeSign-ClientId", "CBJCHBCAAB");
    assert_json(&verifier, &sent, &json!({"xAdobeSignClientId": "CBJCHBCAAB"}));
    let answer = answer(&verifier, &sent).expect("a handshake");
    assert_eq!(answer.headers["x-adobesign-clientid"], "CBJCHBCAAB");
    assert_none(&verifier, &Sent { method: "POST", ..sent });
    assert_none(&verifier, &Sent::get("").header("X-AdobeSign-ClientId", "another"));
}

#[test]
fn event_grid_and_cloud_events_are_answered() {
    let grid = verifier("event_grid", &["own"], &[]);
    let body = r#"[{"id":"1","data":{"validationCode":"512d38b6"}}]"#;
    let sent = Sent { method: "POST", body: body.to_owned(), ..Sent::get("code=own") };
    let sent = sent.header("aeg-event-type", "SubscriptionValidation");
    assert_json(&grid, &sent, &json!({"validationResponse": "512d38b6"}));
    assert_none(&grid, &Sent { url: format!("{URL}?code=another"), ..sent });

    let options = |query: &str| {
        Sent { method: "OPTIONS", ..Sent::get(query) }
            .header("WebHook-Request-Origin", "eventemitter.example.com")
    };
    let events = verifier("cloudevents", &["t"], &[]);
    for (verifier, query) in [(&grid, "code=own"), (&events, "")] {
        let answer = answer(verifier, &options(query)).expect("a handshake");
        assert_eq!((answer.status, answer.body.len()), (200, 0));
        assert_eq!(answer.headers["webhook-allowed-origin"], "eventemitter.example.com");
    }
    assert_none(&grid, &options("code=another"));
}

#[test]
fn trello_is_answered_when_it_looks() {
    let verifier = verifier("trello", &["s1"], &[]);
    let answer = answer(&verifier, &Sent { method: "HEAD", ..Sent::get("") }).expect("a handshake");
    assert_eq!((answer.status, answer.body.len()), (200, 0));
}

/// eBay's keys need its OAuth, but its handshake can be written: docs/signatures.md does.
#[test]
fn the_handshake_of_ebay_is_one_of_the_language() {
    let page = crate::documented::page();
    let blocks = crate::documented::blocks(&page);
    let (_, text) = blocks.iter().find(|(_, text)| text.contains("EBAY")).expect("it is there");
    let spec: SignatureSpec = serde_json::from_str(text).expect("a signature");
    let verifier = spec.verifier().expect("a scheme");
    let answer = answer(&verifier, &Sent::get("challenge_code=a8628072")).expect("a handshake");
    let text = format!("a8628072{}{}", "71745723-d031-455c-bfa5-f90d11b4f20a", spec.url);
    let made = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    let made: String = made.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let body: Value = serde_json::from_slice(&answer.body).expect("JSON");
    assert_eq!(body, json!({"challengeResponse": made}));
    // What is no handshake is not verified, and so marked.
    let notification = Sent::post("{}").header("X-EBAY-SIGNATURE", "eyJhbGciOiJlY2RzYSJ9");
    assert_none(&verifier, &notification);
    let verdict = verifier.verify(&notification.request(), NOW, &Keys::new());
    assert_eq!(verdict, Verdict::Failed(Reason::NoMatch));
}

#[test]
fn asana_and_notion_hand_over_their_secret_once() {
    let none = verifier("asana", &[], &[]);
    let hello = Sent::post("{}").header("X-Hook-Secret", "b537207f20cbfa02357cf448134da559");
    let answered = answer(&none, &hello).expect("a handshake");
    assert_eq!(answered.headers["x-hook-secret"], "b537207f20cbfa02357cf448134da559");
    let secret = Secret::new("b537207f20cbfa02357cf448134da559");
    assert_eq!(answered.action, Some(Action::StoreSecret(secret)));
    assert!(!format!("{:?}", answered.action).contains("b537"));
    // Whoever comes second does not take over.
    let stored = verifier("asana", &["b537207f20cbfa02357cf448134da559"], &[]);
    assert_none(&stored, &hello);
    // Before, nothing else is from Asana.
    let event = Sent::post("{}").header("X-Hook-Signature", mac("", "{}"));
    let verdict = none.verify(&event.request(), NOW, &Keys::new());
    assert_eq!(verdict, Verdict::Failed(Reason::NoSecret));

    let hello = Sent::post(
        r#"{"verification_token":"secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl"}"#,
    );
    let answered = answer(&verifier("notion", &[], &[]), &hello).expect("a handshake");
    assert_eq!(answered.status, 200);
    let secret = Secret::new("secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl");
    assert_eq!(answered.action, Some(Action::StoreSecret(secret)));
    assert_none(&verifier("notion", &["s1"], &[]), &hello);
}

#[test]
fn with_challenges_off_none_is_answered() {
    let spec = SignatureSpec { challenge: false, ..spec("dropbox", &["s1"], &[]) };
    let verifier = spec.verifier().expect("a spec");
    assert_none(&verifier, &Sent::get("challenge=abc"));
}
