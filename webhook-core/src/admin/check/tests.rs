use serde_json::{Value, json};

use super::*;
use crate::{
    ErrorKind,
    destination::{Destinations, HttpDestination},
    guard::AddressGuard,
    model::{BucketSpec, InputSpec, OutputSpec},
};

const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

fn spec<T: serde::de::DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("the spec is well-formed")
}

/// Checks an output whose destination may be HTTP alone.
fn output(spec: &OutputSpec, now: Timestamp, options: &AdminOptions) -> Result<(), Error> {
    let http = HttpDestination::new(None, options.guard.clone());
    super::output(spec, now, &Destinations::of(http))
}

fn field(result: Result<(), Error>) -> Option<String> {
    let error = result.err()?;
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    let text = error.to_string();
    Some(text.split_once(": ").expect("names the field").0.to_owned())
}

/// Every row: a spec, and the field that is refused.
fn assert_fields<T: serde::de::DeserializeOwned>(
    check: fn(&T, &AdminOptions) -> Result<(), Error>,
    rows: &[(Value, Option<&str>)],
) {
    let options = AdminOptions::default();
    for (json, expected) in rows {
        let found = field(check(&spec(json.clone()), &options));
        assert_eq!(found.as_deref(), *expected, "{json}");
    }
}

#[test]
fn buckets() {
    let long = "n".repeat(256);
    assert_fields::<BucketSpec>(
        |spec, _| fields(spec),
        &[
            (json!({}), None),
            (json!({"name": "orders", "description": "two\nlines"}), None),
            (json!({"name": long}), Some("name")),
            (json!({"name": " padded"}), Some("name")),
            (json!({"name": "a\u{0}b"}), Some("name")),
            (json!({"description": "d".repeat(4097)}), Some("description")),
            (json!({"description": "\u{1b}[31m"}), Some("description")),
            (json!({"auth": {"type": "basic"}}), Some("auth.username")),
            (json!({"auth": {"type": "basic", "username": "a:b"}}), Some("auth.username")),
            (json!({"auth": {"type": "basic", "username": "a", "password": "b:c"}}), None),
            (json!({"auth": {"password": "x".repeat(1025)}}), Some("auth.password")),
            (json!({"auth": {"type": "token"}}), Some("auth.token")),
            (json!({"auth": {"type": "token", "token": "two words"}}), Some("auth.token")),
            (json!({"auth": {"type": 2, "token": "secret"}}), None),
        ],
    );
}

#[test]
fn inputs() {
    let many: serde_json::Map<String, Value> =
        (0..101).map(|n| (format!("X-{n}"), json!("v"))).collect();
    assert_fields::<InputSpec>(
        |spec, _| input(spec, &InputSpec::default(), NOW),
        &[
            (json!({}), None),
            (json!({"status_code": 200, "headers": {"Location": "/x"}, "body": "ok"}), None),
            (json!({"status_code": 599}), None),
            (json!({"status_code": 199}), Some("status_code")),
            (json!({"status_code": 600}), Some("status_code")),
            (json!({"headers": {"Content-Length": "3"}}), Some("headers.Content-Length")),
            (json!({"headers": {"keep-alive": "3"}}), Some("headers.Keep-Alive")),
            (json!({"headers": {"Host": "example.com"}}), Some("headers.Host")),
            (json!({"headers": many}), Some("headers")),
            (json!({"headers": {"X-Long": "v".repeat(16 << 10)}}), Some("headers")),
            (json!({"body": "b".repeat(250 << 10)}), None),
            (json!({"body": "b".repeat((250 << 10) + 1)}), Some("body")),
            (json!({"custom_domain": "Hooks.example.com"}), None),
            (json!({"custom_domain": "hooks"}), Some("custom_domain")),
            (json!({"tls_version": "1.3", "legacy_tls": true}), None),
            (json!({"path_prefix": "/v2"}), None),
            (json!({"path_prefix": "v2"}), Some("path_prefix")),
        ],
    );
}

fn output_with(extra: Value) -> Value {
    let mut json = json!({"destination": "https://example.com/hook"});
    let fields = json.as_object_mut().expect("an object");
    fields.extend(extra.as_object().expect("an object").clone());
    json
}

#[test]
fn outputs() {
    let rows = [
        (json!({}), None),
        (json!({"headers": {"Host": "other.example:8080", "X-A": ["1", "2"]}}), None),
        (json!({"headers": {"Host": ["a", "b"]}}), Some("headers.Host")),
        (json!({"headers": {"Host": "user@a"}}), Some("headers.Host")),
        (json!({"headers": {"Host": "not a host"}}), Some("headers.Host")),
        (json!({"headers": {"Transfer-Encoding": "x"}}), Some("headers.Transfer-Encoding")),
        (json!({"runbook": "https://wiki.example.com/billing"}), None),
        (json!({"runbook": "r".repeat(8_193)}), Some("runbook")),
        (json!({"retries": -1}), None),
        (json!({"retries": -2}), Some("retries")),
        (json!({"retries": 1_001}), Some("retries")),
        (json!({"timeout": 180}), None),
        (json!({"timeout": 181}), Some("timeout")),
        (json!({"throttle": {"enabled": true}}), Some("throttle.rate")),
        (json!({"throttle": {"enabled": true, "rate": 1}}), None),
        (json!({"throttle": {"rate": 0}}), None),
        (
            json!({"throttle": {"enabled": true, "mode": "concurrency"}}),
            Some("throttle.max_concurrent"),
        ),
        (json!({"throttle": {"deadline": i64::MAX}}), Some("throttle.deadline")),
        (
            json!({"durability": {"enabled": true, "schedule": "custom", "deadline": 1}}),
            Some("durability.custom_delays"),
        ),
        (
            json!({"durability": {"enabled": true, "schedule": "custom",
                "custom_delays": [1_000_000_000]}}),
            None,
        ),
        (
            json!({"durability": {"enabled": true, "schedule": "custom",
                "custom_delays": [1_000_000_000], "deadline": 60_000_000_000_i64}}),
            None,
        ),
        (
            json!({"durability": {"enabled": true, "schedule": "custom",
                "custom_delays": [1_000_000_000, 5]}}),
            Some("durability.custom_delays[1]"),
        ),
        (
            json!({"durability": {"custom_delays": vec![1_000_000_000; 101]}}),
            Some("durability.custom_delays"),
        ),
        (
            json!({"durability": {"deadline": 2_592_000_000_000_001_i64}}),
            Some("durability.deadline"),
        ),
        (json!({"durability": {"deadline": 2_592_000_000_000_000_i64}}), None),
    ];
    let rows: Vec<_> = rows.into_iter().map(|(json, field)| (output_with(json), field)).collect();
    assert_fields::<OutputSpec>(|spec, options| output(spec, NOW, options), &rows);
}

#[test]
fn destinations() {
    let refused = [
        "",
        "example.com",
        "/hook",
        "//example.com/hook",
        "http:example.com",
        "ftp://example.com",
        "javascript:alert(1)",
        "http://",
        "http://exa mple.com",
        " http://example.com",
        "http://example.com/\n",
        "http://user:pass@example.com",
        "http://example.com:0",
        "http://example.com:65536",
        "http://127.0.0.1/",
        "http://0x7f.1/",
        "http://localhost:3000/",
        "http://a.localhost./",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://169.254.169.254/latest",
    ];
    let options = AdminOptions::default();
    for destination in refused {
        let output_spec = spec(json!({"destination": destination}));
        assert_eq!(
            field(output(&output_spec, NOW, &options)).as_deref(),
            Some("destination"),
            "{destination:?}"
        );
    }
    let allowed = ["https://example.com", "HTTP://EXAMPLE.com:8080/a?b=c", "http://8.8.8.8/"];
    for destination in allowed {
        let output_spec = spec(json!({"destination": destination}));
        assert_eq!(field(output(&output_spec, NOW, &options)), None, "{destination:?}");
    }
}

#[test]
fn private_destinations_are_for_internal_outputs_and_open_guards() {
    let private = json!({"destination": "http://localhost:3000/hook"});
    let internal = json!({"destination": "http://localhost:3000/hook", "internal": true});
    let closed = AdminOptions::default();
    let open = AdminOptions { guard: AddressGuard::allow_all(), ..AdminOptions::default() };

    assert!(output(&spec(private.clone()), NOW, &closed).is_err());
    assert!(output(&spec(private), NOW, &open).is_ok());
    assert!(output(&spec(internal), NOW, &closed).is_ok());
    assert!(output(&spec(json!({"internal": true})), NOW, &closed).is_ok());
    let malformed = json!({"internal": true, "destination": "no url"});
    assert!(output(&spec(malformed), NOW, &closed).is_err());
}
