//! What providers send is verified, and what they do not send is not.
//!
//! `vectors/PRESET.json` has webhooks that somebody else signed: `made_by` says who, and
//! `webhook-core/signatures/tests/vectors/make` makes them again. The forged ones are derived from each of them here.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use crate::common::{SecretSpec, SignatureSpec};

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use webhook_signatures::{
    Algorithm, KeyRequest, Keys, Now, Reason, Request, Secret, Source, Verdict, Verifier, presets,
};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vector {
    /// `library`, `checked`, `published` or `recipe`: see `webhook-core/signatures/tests/vectors/make/README.md`.
    pub(crate) kind: String,
    made_by: String,
    now: i64,
    method: String,
    url: String,
    secret: Option<String>,
    headers: BTreeMap<String, String>,
    body: String,
    /// The texts in the request that are its signature.
    signatures: Vec<String>,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    #[serde(default)]
    keys: Vec<Document>,
}

#[derive(Clone, Debug, Deserialize)]
struct Document {
    url: String,
    body: Option<serde_json::Value>,
    document: String,
}

pub(crate) fn vectors(preset: &str) -> Vec<Vector> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/vectors/{preset}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{preset}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{preset}: {error}"))
}

impl Vector {
    fn spec(&self, preset: &str) -> SignatureSpec {
        let secrets = self.secret.iter().map(Secret::new);
        let parameters = self.parameters.iter();
        SignatureSpec {
            provider: preset.to_owned(),
            secrets: secrets.map(|secret| SecretSpec { secret, expires_at: None }).collect(),
            parameters: parameters
                .map(|(name, value)| (name.clone(), Secret::new(value)))
                .collect(),
            ..SignatureSpec::default()
        }
    }

    fn verifier(&self, preset: &str) -> Verifier {
        self.spec(preset).verifier().unwrap_or_else(|invalid| panic!("{preset}: {invalid}"))
    }

    fn sent(&self) -> Sent {
        let headers = self.headers.iter().map(|(name, value)| {
            let name = HeaderName::try_from(name).expect("the name of a header");
            (name, HeaderValue::from_str(value).expect("the value of a header"))
        });
        Sent {
            method: self.method.clone(),
            url: self.url.clone(),
            headers: headers.collect(),
            body: self.body.clone().into_bytes(),
        }
    }

    /// What is at the address of the request.
    fn document(&self, request: &KeyRequest) -> Vec<u8> {
        let body = request.body.as_ref().map(|body| serde_json::from_str(body).expect("JSON"));
        let found = self.keys.iter().find(|key| key.url == request.url && key.body == body);
        found.unwrap_or_else(|| panic!("nobody has {request:?}")).document.clone().into_bytes()
    }

    /// The verdict at a time, with what has to be fetched.
    fn verdict(&self, verifier: &Verifier, sent: &Sent, now: Now) -> Verdict {
        let mut keys = Keys::new();
        match verifier.verify(&sent.request(), now, &keys) {
            Verdict::NeedsKey(request) => {
                let document = self.document(&request);
                keys.insert(request, document);
                verifier.verify(&sent.request(), now, &keys)
            }
            verdict => verdict,
        }
    }

    fn now(&self) -> Now {
        Now::from_unix_seconds(self.now)
    }
}

#[derive(Clone)]
struct Sent {
    method: String,
    url: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Sent {
    fn request(&self) -> Request<'_> {
        Request {
            method: &self.method,
            url: &self.url,
            raw_query: self.url.split_once('?').map_or("", |(_, query)| query),
            headers: &self.headers,
            body: &self.body,
        }
    }

    /// With other texts for the signatures, wherever they are.
    fn with(mut self, signatures: &[String], change: impl Fn(&str) -> String) -> Self {
        for signature in signatures {
            let changed = change(signature);
            for value in self.headers.values_mut() {
                let text = value.to_str().expect("is text").replace(signature, &changed);
                *value = HeaderValue::from_bytes(text.as_bytes()).expect("is a value");
            }
            self.url = self.url.replace(signature, &changed);
            let body = String::from_utf8(self.body).expect("is text");
            self.body = body.replace(signature, &changed).into_bytes();
        }
        self
    }
}

#[test]
fn what_a_provider_sends_is_verified() {
    for preset in presets() {
        let vectors = vectors(&preset.name);
        assert!(vectors.len() >= 3, "{} has {} vectors", preset.name, vectors.len());
        for (number, vector) in vectors.iter().enumerate() {
            let verifier = vector.verifier(&preset.name);
            let sent = vector.sent();
            let verdict = vector.verdict(&verifier, &sent, vector.now());
            let Verdict::Verified { secret_index: 0, guard } = verdict else {
                panic!("{} {number}: {verdict:?}", preset.name);
            };
            assert_eq!(guard.is_some(), preset.timestamp, "{}", preset.name);
            if is_hexadecimal(&preset.scheme, vector) {
                let other = sent.with(&vector.signatures, swap_case);
                let verdict = vector.verdict(&verifier, &other, vector.now());
                let expected = Verdict::Verified { secret_index: 0, guard };
                assert_eq!(verdict, expected, "{} in the other case", preset.name);
            }
            let is_known = ["library", "checked", "published", "recipe"];
            assert!(is_known.contains(&vector.kind.as_str()) && !vector.made_by.is_empty());
        }
    }
}

/// A way in which a request is not what was signed.
struct Forged {
    what: &'static str,
    sent: Sent,
    /// When it arrives.
    now: Now,
    spec: SignatureSpec,
}

fn swap_case(text: &str) -> String {
    let swap = |c: char| match c.is_ascii_uppercase() {
        true => c.to_ascii_lowercase(),
        false => c.to_ascii_uppercase(),
    };
    text.chars().map(swap).collect()
}

/// Whether the signatures are bytes in hexadecimal digits, whose case does not count.
fn is_hexadecimal(scheme: &webhook_signatures::Scheme, vector: &Vector) -> bool {
    !matches!(scheme.algorithm, Algorithm::Token | Algorithm::Basic)
        && vector.signatures.iter().all(|text| hex(text).is_some())
}

fn forgeries(preset: &webhook_signatures::Preset, vector: &Vector) -> Vec<Forged> {
    let scheme = &preset.scheme;
    let (spec, sent) = (vector.spec(&preset.name), vector.sent());
    let mut forged = Vec::new();
    let mut add =
        |what, sent| forged.push(Forged { what, sent, now: vector.now(), spec: spec.clone() });
    let change = |change: &dyn Fn(&str) -> String| sent.clone().with(&vector.signatures, change);

    add("empty", change(&|_| String::new()));
    add("truncated", change(&|text| text[..text.len() - 4].to_owned()));
    add("wrong length", change(&|text| format!("{text}AAAA")));
    if !is_hexadecimal(scheme, vector) {
        add("wrong case", change(&swap_case));
    }
    add(
        "swapped encoding",
        change(&|text| match hex(text) {
            Some(bytes) => base64(&bytes),
            None => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        }),
    );
    add(
        "of nobody",
        change(&|text| {
            let other = |c: char| if c.is_ascii_alphanumeric() && c != 'e' { 'e' } else { c };
            text.chars().map(other).collect()
        }),
    );

    if scheme.signature.source == Source::Header {
        let is_signature = |name: &HeaderName| {
            let stem = scheme.signature.name.trim_end_matches('*').to_ascii_lowercase();
            name.as_str().starts_with(&stem)
        };
        let named: Vec<_> =
            sent.headers.keys().filter(|name| is_signature(name)).cloned().collect();
        let mut without = sent.clone();
        named.iter().for_each(|name| drop(without.headers.remove(name)));
        add("missing header", without);
        if !scheme.signature.name.ends_with('*') {
            let mut twice = sent.clone();
            for name in &named {
                let value = twice.headers[name].clone();
                twice.headers.append(name, value);
            }
            add("duplicate header", twice);
        }
        add("byte-order mark in the header", change(&|text| format!("\u{feff}{text}")));
    }

    let signs_body = scheme.signed.contains("body")
        || scheme.signed.contains("{form}")
        || scheme.digest.is_some()
        || scheme.algorithm == Algorithm::JwsDetached;
    if signs_body {
        let mut marked = sent.clone();
        marked.body.splice(..0, "\u{feff}".bytes());
        add("byte-order mark", marked);
        let mut longer = sent.clone();
        longer.body.push(b'\n');
        add("trailing newline", longer);
        let mut other = sent.clone();
        let middle = other.body.len() / 2;
        other.body[middle] ^= 1;
        add("another body", other);
    }
    if scheme.signed.contains("url}") {
        let mut elsewhere = sent.clone();
        elsewhere.url = elsewhere.url.replacen("://", "://not.", 1);
        add("another URL", elsewhere);
    }
    for field in scheme.signed.split('{').filter_map(|rest| rest.split('}').next()) {
        if let Some(path) = field.strip_prefix("payload.") {
            let mut body: serde_json::Value = serde_json::from_slice(&sent.body).expect("JSON");
            let pointer = format!("/{}", path.replace('.', "/"));
            // As a number, where it is one: what is signed is its text.
            match body.pointer_mut(&pointer) {
                Some(value) if value.is_number() => *value = 7.into(),
                Some(value) => *value = "forged".into(),
                None => continue,
            }
            let body = serde_json::to_vec(&body).expect("JSON");
            add("another signed field", Sent { body, ..sent.clone() });
        }
        if let Some(name) = field.strip_prefix("header.") {
            let mut other = sent.clone();
            other.headers.insert(
                HeaderName::try_from(name).expect("a name"),
                "forged".parse().expect("a value"),
            );
            add("another signed header", other);
        }
    }

    if let Some(timestamp) = &scheme.timestamp {
        let tolerance =
            if timestamp.tolerance == 0 { 300_000_000_000 } else { timestamp.tolerance };
        let at = |by: i64| {
            let nanos = i128::from(vector.now) * 1_000_000_000 + i128::from(by);
            Now::from_unix_nanos(nanos)
        };
        for (what, by) in [("stale", tolerance + 1), ("future", -tolerance - 1)] {
            forged.push(Forged { what, sent: sent.clone(), now: at(by), spec: spec.clone() });
        }
    }
    let mut others = spec.clone();
    for secret in &mut others.secrets {
        if !matches!(preset.algorithm.as_str(), "ed25519" | "ecdsa-p256-sha256")
            && !secret.secret.expose().starts_with("-----BEGIN")
            && scheme.key.post.is_none()
        {
            // Two letters in its middle the other way round: it can be read like the right one.
            let mut changed: Vec<char> = secret.secret.expose().chars().collect();
            let middle = changed.len() / 2;
            let pair = (middle..).find(|&at| changed[at] != changed[at + 1]).expect("two letters");
            changed.swap(pair, pair + 1);
            let changed: String = changed.into_iter().collect();
            secret.secret = Secret::new(changed);
        }
    }
    if others != spec {
        forged.push(Forged { what: "another secret", sent, now: vector.now(), spec: others });
    }
    forged
}

#[test]
fn what_is_forged_is_not() {
    for preset in presets() {
        for (number, vector) in vectors(&preset.name).iter().enumerate() {
            let forged = forgeries(preset, vector);
            assert!(forged.len() >= 6, "{}: {} forgeries", preset.name, forged.len());
            for Forged { what, sent, now, spec } in forged {
                let verifier = spec
                    .verifier()
                    .unwrap_or_else(|invalid| panic!("{} {what}: {invalid}", preset.name));
                let verdict = vector.verdict(&verifier, &sent, now);
                let Verdict::Failed(reason) = verdict else {
                    panic!("{} {number}, {what}: {verdict:?}", preset.name);
                };
                // What is right must not be learned from what is said.
                let said = reason.to_string();
                for right in vector.signatures.iter().chain(&vector.secret) {
                    assert!(!said.contains(right.as_str()), "{} {what}: {said}", preset.name);
                }
                match what {
                    "stale" | "future" => assert_eq!(reason, Reason::Timestamp, "{}", preset.name),
                    "missing header" => {
                        assert!(matches!(reason, Reason::Missing(_)), "{}: {said}", preset.name)
                    }
                    "duplicate header" => {
                        assert!(matches!(reason, Reason::Malformed(_)), "{}: {said}", preset.name)
                    }
                    _ => {}
                }
            }
        }
    }
}

/// To the nanosecond: the tolerance itself is still within.
#[test]
fn the_window_ends_where_it_is_said_to() {
    for preset in presets().iter().filter(|preset| preset.timestamp) {
        for vector in vectors(&preset.name) {
            let spec =
                SignatureSpec { tolerance: Duration::from_secs(20), ..vector.spec(&preset.name) };
            let verifier = spec.verifier().expect("a tolerance of 20 s");
            for (nanos, within) in [(0, true), (20_000_000_000, true), (20_000_000_001, false)] {
                for nanos in [nanos, -nanos] {
                    let now = i128::from(vector.now) * 1_000_000_000 + nanos;
                    let now = Now::from_unix_nanos(now);
                    let verdict = vector.verdict(&verifier, &vector.sent(), now);
                    assert_eq!(verdict.is_verified(), within, "{} {nanos}", preset.name);
                }
            }
        }
    }
}

#[test]
fn who_has_a_library_is_held_to_it() {
    let mut kinds = BTreeMap::<String, usize>::new();
    for preset in presets() {
        for vector in vectors(&preset.name) {
            *kinds.entry(vector.kind).or_default() += 1;
        }
    }
    // One that becomes a recipe again is a loss.
    assert!(kinds["library"] + kinds["checked"] + kinds["published"] >= 130, "{kinds:?}");
}

#[test]
fn no_vector_is_left_without_its_preset() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
            assert!(presets().iter().any(|preset| preset.name == stem), "{stem}");
        }
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let value = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.iter().map(value).collect()
}

fn base64(bytes: &[u8]) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(bytes)
}
