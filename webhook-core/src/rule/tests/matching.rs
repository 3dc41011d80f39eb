use std::net::IpAddr;

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;
use serde_json::{Value, json};

use super::{Rules, Subject, add_header, is_missing, is_text, parse, passes, rule, with_body};
use crate::rule::Rule;
use crate::wire::Request;

fn request() -> Request {
    let mut request = with_body("application/json", r#"{"action": "opened", "n": {"m": [1, 2]}}"#);
    request.extra_path = "/hooks/a%20b".into();
    request.raw_query = "q=one&multi=a&multi=b%21&empty&plus=a+b".into();
    add_header(&mut request, "x-event", b"push");
    add_header(&mut request, "x-multi", b"first");
    add_header(&mut request, "x-multi", b"second");
    add_header(&mut request, "x-bytes", b"caf\xe9");
    request
}

#[test]
fn every_source_gives_its_text() {
    let request = request();
    let table = [
        ("header", "x-event", "push"),
        ("header", "X-Event", "push"),
        ("header", "x-multi", "first"),
        ("header", "x-multi", "second"),
        ("query", "q", "one"),
        ("url", "q", "one"),
        ("query", "multi", "a"),
        ("query", "multi", "b!"),
        ("query", "empty", ""),
        ("query", "plus", "a b"),
        ("payload", "action", "opened"),
        ("body", "", r#"{"action": "opened", "n": {"m": [1, 2]}}"#),
        ("raw-request-body", "ignored", r#"{"action": "opened", "n": {"m": [1, 2]}}"#),
        ("request", "method", "POST"),
        ("request", "Method", "POST"),
        ("request", "path", "/hooks/a%20b"),
        ("string", "itself", "itself"),
        ("entire-payload", "", r#"{"action":"opened","n":{"m":[1,2]}}"#),
        ("entire-query", "", r#"{"empty":"","multi":["a","b!"],"plus":"a b","q":"one"}"#),
        (
            "entire-headers",
            "",
            "{\"Content-Type\":[\"application/json\"],\"X-Event\":[\"push\"],\
             \"X-Multi\":[\"first\",\"second\"],\"X-Bytes\":[\"caf\u{fffd}\"]}",
        ),
    ];
    for (source, name, text) in table {
        assert!(is_text(&request, source, name, text), "{source} {name} is {text}");
        assert!(!is_text(&request, source, name, "other"), "{source} {name}");
    }
    for (source, name) in [
        ("header", "x-absent"),
        ("query", "absent"),
        ("query", "Q"),
        ("payload", "absent"),
        ("request", "remote-addr"),
    ] {
        assert!(is_missing(&request, source, name), "{source} {name}");
    }
}

#[test]
fn every_type_tests_every_source() {
    let request = request();
    for (source, name, part) in [
        ("header", "x-event", "us"),
        ("query", "q", "n"),
        ("payload", "action", "open"),
        ("body", "", "opened"),
        ("request", "method", "OS"),
        ("string", "itself", "self"),
        ("entire-payload", "", "opened"),
        ("entire-query", "", "multi"),
        ("entire-headers", "", "X-Event"),
    ] {
        for (kind, field, hit) in [
            ("contains", "substring", true),
            ("substring", "substring", true),
            ("does-not-contain", "substring", false),
            ("regex", "regex", true),
        ] {
            let passed = |text| passes(rule(kind, field, text, source, name), &request);
            assert_eq!(passed(part), hit, "{kind} {source}");
            assert_eq!(passed("absent"), !hit, "{kind} {source}");
        }
    }
}

#[test]
fn a_missing_parameter_passes_no_test() {
    let request = request();
    for (kind, field) in [
        ("value", "value"),
        ("contains", "substring"),
        ("does-not-contain", "substring"),
        ("regex", "regex"),
        ("payload-hmac-sha256", "secret"),
    ] {
        let rules = rule(kind, field, "x*", "header", "x-absent");
        assert!(!passes(rules.clone(), &request), "{kind}");
        assert!(passes(json!({"not": rules}), &request), "{kind}");
    }
}

#[test]
fn of_several_values_any_may_pass_and_none_may_contain() {
    let request = request();
    let lacks =
        |text| passes(rule("does-not-contain", "substring", text, "header", "x-multi"), &request);
    assert!(lacks("third"));
    assert!(!lacks("first"));
    assert!(!lacks("second"));
}

#[test]
fn values_need_not_be_utf8() {
    let mut request = request();
    let regex = |text, request: &Request| {
        passes(rule("regex", "regex", text, "header", "x-bytes"), request)
    };
    assert!(regex("^caf", &request));
    assert!(regex(r"(?-u)^caf\xe9$", &request));
    request.body = b"\xff\xfe needle \xff".as_slice().into();
    assert!(passes(rule("contains", "substring", "needle", "body", ""), &request));
    assert!(is_missing(&request, "entire-payload", ""));
}

#[test]
fn base64_is_decoded_first() {
    let decoded = |value: &str, kind: &str, field: &str, text: &str| {
        let mut request = with_body("", "");
        add_header(&mut request, "x-value", value.as_bytes());
        let mut rules = rule(kind, field, text, "header", "x-value");
        rules["match"]["parameter"]["base64decode"] = json!(true);
        passes(rules, &request)
    };
    for value in ["aGk/", "aGk_", "a Gk\t/"] {
        assert!(decoded(value, "value", "value", "hi?"), "{value}");
    }
    assert!(decoded("aGkhIQ==", "value", "value", "hi!!"));
    assert!(decoded("aGkhIQ", "contains", "substring", "!!"));
    assert!(!decoded("aGk/", "value", "value", "aGk/"));
    assert!(!decoded("not base64!", "does-not-contain", "substring", "x"), "it is missing");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn signatures_are_checked() {
    let (secret, body) = ("It's a Secret to Everybody", "Hello, World!");
    let algorithms = [
        ("sha1", hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
        ("sha256", hmac::HMAC_SHA256),
        ("sha512", hmac::HMAC_SHA512),
    ];
    for (name, algorithm) in algorithms {
        let tag = hmac::sign(&hmac::Key::new(algorithm, secret.as_bytes()), body.as_bytes());
        let good = hex(tag.as_ref());
        let bad = hex(tag.as_ref()).chars().rev().collect::<String>();
        for kind in [format!("payload-hmac-{name}"), format!("payload-hash-{name}")] {
            let verified = |signature: &str| {
                let mut request = with_body("text/plain", body);
                add_header(&mut request, "x-signature", signature.as_bytes());
                passes(rule(&kind, "secret", secret, "header", "x-signature"), &request)
            };
            assert!(verified(&good), "{kind}");
            assert!(verified(&good.to_uppercase()), "{kind}");
            assert!(verified(&format!("{name}={good}")), "{kind}");
            assert!(verified(&format!("{name}={bad}, {name}={good}")), "{kind}");
            assert!(verified(&format!("junk,,{good}")), "{kind}");
            assert!(!verified(&bad), "{kind}");
            assert!(!verified(&format!("md5={good}")), "{kind}");
            assert!(!verified(good.get(2..).unwrap_or_default()), "{kind}");
            assert!(!verified(&format!("{good}00")), "{kind}");
            assert!(!verified(""), "{kind}");
            let padding = |count| format!("{bad},").repeat(count);
            assert!(verified(&(padding(15) + &good)), "{kind}: sixteen are tried");
            assert!(!verified(&(padding(16) + &good)), "{kind}: no more than sixteen are tried");
        }
    }
}

/// The example in GitHub's documentation of webhook signatures.
#[test]
fn a_published_signature_verifies() {
    let mut request = with_body("text/plain", "Hello, World!");
    let published = b"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    add_header(&mut request, "x-hub-signature-256", published);
    let secret = "It's a Secret to Everybody";
    let rules =
        |secret| rule("payload-hmac-sha256", "secret", secret, "header", "X-Hub-Signature-256");
    assert!(passes(rules(secret), &request));
    assert!(!passes(rules("another"), &request));
    request.body = "Hello, World?".into();
    assert!(!passes(rules(secret), &request));
}

#[test]
fn a_base64_signature_is_the_digest_or_its_hex() {
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"secret");
    let tag = hmac::sign(&key, b"body");
    let verified = |bytes: &[u8], base64: bool| {
        let mut request = with_body("", "body");
        add_header(&mut request, "x-signature", STANDARD.encode(bytes).as_bytes());
        let mut rules = rule("payload-hmac-sha256", "secret", "secret", "header", "x-signature");
        rules["match"]["parameter"]["base64decode"] = json!(base64);
        passes(rules, &request)
    };
    assert!(verified(tag.as_ref(), true));
    assert!(verified(hex(tag.as_ref()).as_bytes(), true));
    assert!(!verified(tag.as_ref(), false));
    assert!(!verified(&[0; 32], true));
}

#[test]
fn networks_contain_the_sender() {
    let table = [
        ("192.0.2.0/24", "192.0.2.7", true),
        ("192.0.2.0/24", "192.0.3.7", false),
        ("192.0.2.7", "192.0.2.7", true),
        ("192.0.2.7", "192.0.2.8", false),
        ("10.0.0.0/8  192.0.2.0/24\n2001:db8::/32", "192.0.2.7", true),
        ("10.0.0.0/8  192.0.2.0/24\n2001:db8::/32", "2001:db8::1", true),
        ("192.0.2.77/24", "192.0.2.1", true),
        ("2001:db8::1", "2001:db8::1", true),
        ("2001:db8::1", "2001:db8::2", false),
        ("192.0.2.0/24", "::ffff:192.0.2.7", true),
        ("::ffff:192.0.2.0/120", "192.0.2.7", true),
        ("::ffff:192.0.2.7", "192.0.2.7", true),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.7", true),
        ("0.0.0.0/0", "::ffff:192.0.2.7", true),
        ("0.0.0.0/0", "2001:db8::1", false),
        ("::/0", "2001:db8::1", true),
        ("::/0", "192.0.2.7", false),
        ("::/0", "::ffff:192.0.2.7", false),
    ];
    let request = with_body("", "");
    for (range, address, expected) in table {
        // Clients send an empty parameter along.
        let rules = parse(json!({"match": {
            "type": "ip-whitelist", "ip-range": range, "parameter": {},
        }}));
        let address: IpAddr = address.parse().expect("an address");
        let subject = Subject { remote_addr: Some(address), ..Subject::new(&request) };
        assert_eq!(rules.matches(&subject), expected, "{address} in {range:?}");
        assert!(!rules.matches(&Subject { remote_addr: None, ..subject }), "{range:?}");
    }
}

#[test]
fn the_senders_address_is_text_too() {
    let request = with_body("", "");
    let rules = parse(rule("value", "value", "192.0.2.7", "request", "remote-addr"));
    for (address, expected) in
        [("192.0.2.7", true), ("::ffff:192.0.2.7", true), ("192.0.2.8", false)]
    {
        let remote_addr = Some(address.parse().expect("an address"));
        let subject = Subject { remote_addr, ..Subject::new(&request) };
        assert_eq!(rules.matches(&subject), expected);
    }
}

#[test]
fn what_was_found_out_about_a_webhook_is_text_too() {
    let request = with_body("", "");
    let nothing = Subject::new(&request);
    let log = uuid::Uuid::from_u128(7);
    let all = Subject {
        verified: Some(true),
        event: Some("push"),
        duplicate_of: Some(log),
        ..Subject::new(&request)
    };
    let refuted = Subject { verified: Some(false), ..nothing };
    let is = |name: &str, value: &str| parse(rule("value", "value", value, "webhook", name));
    for (name, value) in
        [("verified", "true"), ("EVENT", "push"), ("duplicate_of", &log.to_string())]
    {
        assert!(is(name, value).matches(&all), "{name}");
        assert!(!is(name, "another").matches(&all), "{name}");
        let any = parse(rule("contains", "substring", "", "webhook", name));
        assert!(any.matches(&all) && !any.matches(&nothing), "{name} is missing");
    }
    assert!(is("verified", "false").matches(&refuted));
    let verified = Rules::try_from(Rule::verified()).expect("valid");
    assert_eq!(
        [&all, &refuted, &nothing].map(|subject| verified.matches(subject)),
        [true, false, false]
    );
    assert_eq!(verified.explain(&refuted).text(), r#"webhook verified is "false", wanted "true""#);
    assert_eq!(verified.explain(&nothing).text(), "webhook verified is missing");
}

#[test]
fn envname_is_accepted_and_ignored() {
    let request = request();
    let mut rules: Value = rule("value", "value", "push", "header", "x-event");
    rules["match"]["parameter"]["envname"] = json!("EVENT");
    assert!(passes(rules, &request));
}

#[test]
fn regexes_mean_what_they_do_in_re2() {
    let table = [
        (r"^\d+$", "42", true),
        (r"^\d+$", "٤٢", false),
        (r"^\D+$", "٤٢", true),
        (r"^\w+$", "a_1", true),
        (r"^\w+$", "é", false),
        (r"^[^\w]+$", "é", true),
        (r"^[\W\d]+$", "é1", true),
        (r"^a\sb$", "a\tb", true),
        (r"^a\sb$", "a\u{a0}b", false),
        (r"^a\Sb$", "a\u{a0}b", true),
        (r"\bcaf\b", "café", true),
        (r"caf\Bé", "café", false),
        (r"^.{4}$", "café", true),
        (r"^\pL+$", "café", true),
        (r"(?i)CAFÉ", "café", true),
        (r"(?x) \s # white space", " ", true),
        (r"\\d", r"\d", true),
        (r"^a$", "b\na", false),
        (r"(?m)^a$", "b\na", true),
        (r"^a.b$", "a\nb", false),
        (r"(?s)^a.b$", "a\nb", true),
        (r"^https?:\/\/", "https://x", true),
        ("", "", true),
        ("a|", "b", true),
    ];
    let request = with_body("", "");
    for (regex, text, expected) in table {
        let passed = passes(rule("regex", "regex", regex, "string", text), &request);
        assert_eq!(passed, expected, "{regex:?} in {text:?}");
    }
}

#[test]
fn a_regex_without_a_table_finds_the_same_in_a_bounded_part() {
    let slow = "foo.{0,100}bar";
    let found = |regex: &str, before: usize| {
        let body = "-".repeat(before) + "foo -- bar";
        passes(rule("regex", "regex", regex, "body", ""), &with_body("", body))
    };
    assert!(found(slow, 0));
    assert!(found(slow, 10_000));
    assert!(!found(slow, 10_000_000), "it is past what is looked at");
    assert!(found("foo.*bar", 10_000_000), "a table looks at all of it");
    // The part is of all values together, so that many are no way around it.
    let mut form = format!("a={}&", "-".repeat(1_000)).repeat(900);
    form.push_str("a=foo+bar");
    let request = with_body("application/x-www-form-urlencoded", form);
    assert!(!passes(rule("regex", "regex", slow, "payload", "a"), &request));
    assert!(passes(rule("regex", "regex", "foo.*bar", "payload", "a"), &request));
}
