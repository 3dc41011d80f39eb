use http::{HeaderMap, Method, Uri};
use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Every case of AWS's suite: what is signed, and the signature.
#[test]
fn aws_test_suite() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("suite/vectors.json")).expect("the suite");
    assert_eq!(cases.len(), 38);
    for case in &cases {
        let (name, context) = (text(&case["name"]), &case["context"]);
        let credentials = &context["credentials"];
        let key = Key {
            id: text(&credentials["access_key_id"]),
            secret: text(&credentials["secret_access_key"]),
            session_token: credentials["token"].as_str().unwrap_or_default(),
            region: text(&context["region"]),
            service: text(&context["service"]),
        };
        // Values go on in the next line in one of the cases.
        let request = text(&case["request"]).replace("\n ", " ");
        let (head, body) = request.split_once("\n\n").unwrap_or((&request, ""));
        let mut lines = head.lines();
        let line = lines.next().expect("a request line");
        let (method, rest) = line.split_once(' ').expect("a method");
        let target = rest.rsplit_once(" HTTP/").expect("a target").0;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers: Vec<(String, &str)> = lines
            .map(|line| line.split_once(':').expect("a header"))
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect();
        let authorization_of_suite =
            headers.iter().find(|(name, _)| name == "authorization").expect("it is signed").1;
        let unsigned = |name: &str| {
            name == "authorization"
                || (name == "x-amz-security-token" && context["omit_session_token"] == true)
        };
        let payload = hex(digest(&SHA256, body.as_bytes()).as_ref());
        let canonical = Canonical {
            method,
            path,
            path_form: match context["normalize"].as_bool() {
                Some(true) => PathForm::Resolved,
                _ => PathForm::Unresolved,
            },
            query,
            headers: headers
                .iter()
                .filter(|(name, _)| !unsigned(name))
                .map(|(name, value)| (name.as_str(), value.as_bytes()))
                .collect(),
            payload: &payload,
        };
        let date = "20150830T123600Z";
        let (canonical_text, _) = canonical.text();
        let canonical_text = String::from_utf8(canonical_text).expect("text");
        assert_eq!(canonical_text, text(&case["canonical_request"]), "{name}");
        let to_sign = string_to_sign(canonical_text.as_bytes(), &key.scope(date), date);
        assert_eq!(to_sign, text(&case["string_to_sign"]), "{name}");
        assert_eq!(key.signature(date, &to_sign), text(&case["signature"]), "{name}");
        assert_eq!(authorization(&key, &canonical, date), authorization_of_suite, "{name}");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

const KEY: Key<'static> = Key {
    id: "AKIDEXAMPLE",
    secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    session_token: "",
    region: "eu-central-1",
    service: "sqs",
};

fn signed(key: &Key<'_>, url: &str, headers: &[(&'static str, &str)]) -> HeaderMap {
    let mut url: Uri = url.parse().expect("a url");
    let mut headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("a value")))
        .collect();
    let request =
        Request { method: &Method::POST, url: &mut url, headers: &mut headers, body: b"{}" };
    sign(key, request, 1_440_938_160).expect("it can be signed");
    headers
}

/// The examples of S3's documentation, the keys and the moment of which are these:
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>.
#[test]
fn aws_examples_for_s3() {
    let key = Key {
        id: "AKIAIOSFODNN7EXAMPLE",
        secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        session_token: "",
        region: "us-east-1",
        service: "s3",
    };
    let date = "20130524T000000Z";
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let welcome = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
    for (method, path, query, more, payload, signature) in [
        (
            "GET",
            "/test.txt",
            "",
            &[("range", "bytes=0-9")][..],
            empty,
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            "PUT",
            "/test$file.text",
            "",
            &[
                ("date", "Fri, 24 May 2013 00:00:00 GMT"),
                ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
            ],
            welcome,
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        (
            "GET",
            "/",
            "lifecycle",
            &[],
            empty,
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        ),
        (
            "GET",
            "/",
            "max-keys=2&prefix=J",
            &[],
            empty,
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ] {
        let mut headers: Vec<(&str, &[u8])> = vec![
            ("host", b"examplebucket.s3.amazonaws.com"),
            ("x-amz-content-sha256", payload.as_bytes()),
            ("x-amz-date", date.as_bytes()),
        ];
        headers.extend(more.iter().map(|(name, value)| (*name, value.as_bytes())));
        let path_form = PathForm::of(key.service);
        let canonical = Canonical { method, path, path_form, query, headers, payload };
        let signed = authorization(&key, &canonical, date);
        assert!(signed.ends_with(&format!("Signature={signature}")), "{method} {path} {signed}");
    }
    // The same by what signs requests, where nothing else is signed.
    let mut headers = HeaderMap::new();
    let mut url = Uri::from_static("https://examplebucket.s3.amazonaws.com/?lifecycle");
    let request = Request { method: &Method::GET, url: &mut url, headers: &mut headers, body: b"" };
    sign(&key, request, 1_369_353_600).expect("it can be signed");
    let authorization = authorization_of(&headers);
    assert!(
        authorization.ends_with("54ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    );
}

fn authorization_of(headers: &HeaderMap) -> &str {
    headers[AUTHORIZATION].to_str().expect("text")
}

#[test]
fn what_may_change_on_the_way_is_not_signed() {
    let headers = signed(
        &KEY,
        "https://sqs.eu-central-1.amazonaws.com/",
        &[
            ("x-amz-target", "AmazonSQS.SendMessage"),
            ("content-type", "application/x-amz-json-1.0"),
            ("user-agent", "x"),
            ("x-forwarded-for", "192.0.2.1"),
            ("authorization", "Bearer of the sender"),
            ("x-amz-date", "of the sender"),
            ("x-amz-security-token", "of the sender"),
            ("x-amz-content-sha256", "of the sender"),
        ],
    );
    let names = "SignedHeaders=content-type;host;x-amz-date;x-amz-target, ";
    assert!(authorization_of(&headers).contains(names), "{}", authorization_of(&headers));
    assert_eq!(headers["x-amz-date"], "20150830T123600Z");
    assert!(headers[AUTHORIZATION].is_sensitive());
    assert!(!headers.contains_key("x-amz-security-token"));
    assert!(!headers.contains_key("x-amz-content-sha256"));
}

#[test]
fn s3_gets_the_digest_of_the_body_and_a_temporary_key_its_token() {
    let key = Key { service: "s3", session_token: "t0ken", ..KEY };
    let headers = signed(&key, "https://b.s3.eu-central-1.amazonaws.com/a//../b%2Bc", &[]);
    let digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    assert_eq!(headers["x-amz-content-sha256"], digest);
    assert_eq!(headers["x-amz-security-token"], "t0ken");
}

#[test]
fn s3_reads_a_path_as_it_is() {
    for (path, canonical) in
        [("/a//../b", "/a//../b"), ("/a%2fb%20c", "/a%2Fb%20c"), ("/a+b(%zz", "/a%2Bb%28%25zz")]
    {
        let of_s3 = Canonical {
            method: "PUT",
            path,
            path_form: PathForm::AsStored,
            query: "",
            headers: Vec::new(),
            payload: "",
        };
        let (text, _) = of_s3.text();
        let text = String::from_utf8(text).expect("text");
        assert_eq!(text.lines().nth(1), Some(canonical));
    }
}

proptest! {
    #[test]
    fn any_request_is_signed(path in "/[!-~]{0,40}", query in "[!-~]{0,40}") {
        let url = format!("http://h{path}?{query}");
        if let Ok(mut url) = url.parse::<Uri>() {
            let mut headers = HeaderMap::new();
            for service in ["s3", "sqs"] {
                let key = Key { service, ..KEY };
                let request = Request {
                    method: &Method::GET, url: &mut url, headers: &mut headers, body: b"",
                };
                prop_assert_eq!(sign(&key, request, 0), Ok(()));
            }
        }
    }
}
