use http::{HeaderMap, Method, Uri};
use serde_json::{Value, json};

use crate::wire::described::check;

use super::*;
use crate::credentials::Request;

fn spec(json: Value) -> AuthSpec {
    serde_json::from_value(json).expect("a spec")
}

/// What is added to a request: its URL and its headers.
fn applied(json: Value) -> (String, HeaderMap) {
    let spec = spec(json);
    check(&spec, "auth.").expect("a right spec");
    let mut url: Uri = "https://example.com/a?b=c".parse().expect("a url");
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer of the sender"));
    headers.insert("x-key", HeaderValue::from_static("of the sender"));
    let request =
        Request { method: &Method::POST, url: &mut url, headers: &mut headers, body: b"" };
    spec.apply(request, None, 0).expect("it can be sent");
    (url.to_string(), headers)
}

#[test]
fn credentials_replace_those_of_the_sender() {
    // RFC 7617 section 2.
    let basic = json!({"type": "basic", "username": "Aladdin", "password": "open sesame"});
    let (_, headers) = applied(basic);
    assert!(headers.get_all("authorization").iter().eq(["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]));
    assert!(headers["authorization"].is_sensitive());

    let (_, headers) = applied(json!({"type": "bearer", "token": "mF_9.B5f-4.1JqM"}));
    assert_eq!(headers["authorization"], "Bearer mF_9.B5f-4.1JqM");

    let (url, headers) = applied(json!({"type": "api_key", "name": "X-Key", "value": "k 1"}));
    assert_eq!(url, "https://example.com/a?b=c");
    assert!(headers.get_all("x-key").iter().eq(["k 1"]));
    assert_eq!(headers["authorization"], "Bearer of the sender");

    let query = json!({"type": "api_key", "name": "api key", "value": "k&1", "in": "query"});
    assert_eq!(applied(query).0, "https://example.com/a?b=c&api+key=k%261");

    let (url, headers) = applied(json!({"type": "none"}));
    assert_eq!((url.as_str(), headers.len()), ("https://example.com/a?b=c", 2));
}

#[test]
fn every_refusal_names_the_field() {
    let aws = |field: &str, value: &str| {
        let mut spec = json!({
            "type": "aws_sigv4", "access_key_id": "AKID", "secret_access_key": "s",
            "region": "eu-central-1", "service": "sqs",
        });
        spec[field] = json!(value);
        spec
    };
    let oauth2 = |url: &str| json!({"type": "oauth2_client_credentials", "token_url": url, "client_id": "a", "client_secret": "b"});
    let google = |account: &str| json!({"type": "gcp_service_account", "service_account": account});
    for (json, said) in [
        (json!({"type": "basic"}), "auth.username: basic credentials need"),
        (json!({"type": "basic", "username": "a:b"}), "auth.username: must not contain a colon"),
        (json!({"type": "basic", "password": "a\nb"}), "auth.password: must not contain control"),
        (json!({"type": "bearer"}), "auth.token: must not be empty"),
        (json!({"type": "bearer", "token": "a b"}), "auth.token: must be printable ASCII"),
        (json!({"type": "bearer", "token": "a".repeat(4_097)}), "auth.token: must be at most 4096"),
        (json!({"type": "api_key", "value": "a"}), "auth.name: must not be empty"),
        (json!({"type": "api_key", "name": "a"}), "auth.value: must not be empty"),
        (json!({"type": "api_key", "name": "a b", "value": "a"}), "auth.name: is not the name"),
        (json!({"type": "api_key", "name": "Host", "value": "a"}), "auth.name: is a header that"),
        (oauth2(""), "auth.token_url: must not be empty"),
        (oauth2("ftp://a"), "auth.token_url: must be an absolute url"),
        (oauth2("https:a"), "auth.token_url: must be an absolute url"),
        (oauth2("https://a:b@c/"), "auth.token_url: must be an absolute url"),
        (aws("region", ""), "auth.region: must not be empty"),
        (aws("region", "a/b"), "auth.region: must have only letters"),
        (aws("service", "s q"), "auth.service: must have only letters"),
        (aws("session_token", "a b"), "auth.session_token: must be printable ASCII"),
        (google(""), "auth.service_account: must not be empty"),
        (google("{"), "auth.service_account: must be the JSON key of a service account"),
        (google("{}"), "auth.service_account: has no client_email"),
        (google(r#"{"client_email":"a"}"#), "auth.service_account: has no private_key"),
        (
            google(r#"{"client_email":"a","private_key":"b"}"#),
            "auth.service_account: has a private_key that is no RSA key",
        ),
    ] {
        let error = check(&spec(json), "auth.").expect_err(said).to_string();
        assert!(error.starts_with(said), "{error}, not {said}");
    }
}

#[test]
fn only_the_fields_of_a_type_are_read() {
    for (json, said) in [
        (json!({"username": "a"}), "username: unknown field `username`"),
        (json!({"type": "none", "pass": ""}), "pass: unknown field `pass`"),
        (json!({"type": "bearer", "token": "a", "scope": "b"}), "scope: unknown field `scope`"),
        (json!({"type": "bearer", "token": 5}), "token: invalid type: integer `5`"),
        (json!({"type": "api_key", "in": "body"}), "in: unknown variant `body`, expected `header`"),
        (json!({"type": "digest"}), "type: must be one of none, basic, bearer, api_key, "),
        (json!({"type": 1}), "type: must be a text"),
        (json!([]), "invalid type: sequence"),
    ] {
        let error = serde_json::from_value::<AuthSpec>(json).expect_err(said).to_string();
        assert!(error.starts_with(said), "{error}, not {said}");
    }
    for (kind, _) in AuthSpec::default().kinds() {
        let mut spec = AuthSpec::default();
        assert!(spec.set_kind(kind));
        let json = serde_json::to_value(&spec).expect("JSON");
        assert_eq!((&json["type"], spec.kind()), (&json!(kind), *kind));
        assert_eq!(serde_json::from_value::<AuthSpec>(json).expect("it is read again"), spec);
    }
}

#[test]
fn secrets_are_not_shown() {
    let spec = spec(json!({"type": "basic", "username": "a", "password": "h1dden"}));
    assert!(!format!("{spec:?}").contains("h1dden"), "{spec:?}");
}
