//! The bodies of one call: functions get them decoded, destinations get them as received.

use bytes::Bytes;
use http::{
    HeaderMap,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};

use super::{Invocation, ScriptOutcome};
use crate::content::{self, Decoded};

/// What a call received, where its function was given something else.
#[derive(Debug, Default)]
pub(crate) struct Received {
    request: Option<Replaced>,
    response: Option<Replaced>,
}

#[derive(Debug)]
struct Replaced {
    received: Bytes,
    given: Bytes,
    is_recoded: bool,
}

impl Received {
    /// Decodes the bodies of a call: decompressed, and in UTF-8 when their headers name another
    /// charset. A body that cannot be decoded stays.
    pub(crate) fn decode(invocation: &mut Invocation) -> Self {
        let request = &mut invocation.request;
        Self {
            request: replace(&request.headers, &mut request.body),
            response: invocation
                .response
                .as_mut()
                .and_then(|response| replace(&response.headers, &mut response.body)),
        }
    }

    /// Gives a body that the function left as it was its bytes again. The headers of a changed one
    /// no longer say how it was encoded.
    pub(crate) fn restore(self, left: &mut ScriptOutcome) {
        if let Some(replaced) = self.request {
            replaced.restore(&mut left.request.headers, &mut left.request.body);
        }
        if let (Some(replaced), Some(response)) = (self.response, &mut left.response) {
            replaced.restore(&mut response.headers, &mut response.body);
        }
    }
}

fn replace(headers: &HeaderMap, body: &mut Bytes) -> Option<Replaced> {
    let Decoded { bytes, is_recoded } = content::decoded(headers, body)?;
    let given = Bytes::from(bytes);
    let received = std::mem::replace(body, given.clone());
    Some(Replaced { received, given, is_recoded })
}

impl Replaced {
    fn restore(self, headers: &mut HeaderMap, body: &mut Bytes) {
        if *body == self.given {
            *body = self.received;
            return;
        }
        headers.remove(CONTENT_ENCODING);
        let kind = headers.get(CONTENT_TYPE).filter(|_| self.is_recoded);
        if let Some(kind) = kind.and_then(content::in_utf8) {
            headers.insert(CONTENT_TYPE, kind);
        }
    }
}

#[cfg(all(test, feature = "charsets"))]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use http::{HeaderValue, Method};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{
        Timestamp,
        id::{AccountId, BucketId, DeliveryId, FunctionId, InputId, WebhookId},
        model::{
            Checks, Deduplication, Delivery, DeliveryStatus, Driver, Log, Request, ScriptResponse,
            Webhook,
        },
        rule::{Rule, Rules, Subject, value_at},
        store::LogFilter,
    };

    /// A charset, and how its program writes a text.
    type Charset = (&'static str, fn(&str) -> Vec<u8>);

    fn windows_1252(text: &str) -> Vec<u8> {
        encoding_rs::WINDOWS_1252.encode(text).0.into_owned()
    }

    fn utf16(text: &str) -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(u16::to_be_bytes).collect()
    }

    const CHARSETS: [Charset; 4] = [
        ("utf-8", |text| text.as_bytes().to_vec()),
        ("iso-8859-1", windows_1252),
        ("windows-1252", windows_1252),
        ("utf-16", utf16),
    ];

    fn request(content_type: &str, body: Vec<u8>) -> Request {
        let kind = HeaderValue::from_str(content_type).expect("a header's value");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, kind)]);
        Request::new(Method::POST, headers, body.into())
    }

    fn call(request: Request, response: Option<ScriptResponse>) -> Invocation {
        Invocation {
            account_id: AccountId::generate(),
            function_id: FunctionId::generate(),
            revision: 0,
            driver: Driver::Lua,
            source: Arc::from(""),
            config: Arc::default(),
            metadata: BTreeMap::new(),
            checks: Checks::default(),
            request,
            response,
            trial: None,
        }
    }

    fn left(of: &Invocation) -> ScriptOutcome {
        ScriptOutcome {
            request: of.request.clone(),
            response: of.response.clone(),
            response_modified: false,
            stop_forwarding: false,
        }
    }

    fn log(request: Request) -> Log {
        let place = (AccountId::generate(), BucketId::generate(), InputId::generate());
        let webhook = Webhook::new(WebhookId::generate(), place, request, Timestamp::default());
        let delivery = Delivery {
            id: DeliveryId::generate(),
            webhook_id: webhook.id,
            output_id: None,
            internal: false,
            status: DeliveryStatus::Sent,
            due_at: None,
            attempts: 0,
            last: None,
            reason: None,
            processed: None,
            history: Default::default(),
            output_execution_id: None,
            leased_until: None,
            replay: None,
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
        };
        Log { webhook, delivery }
    }

    /// A body in each format with a field `m` of this text, and its content type.
    fn bodies(text: &str) -> [(&'static str, String); 3] {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
        let form = percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC);
        [
            ("application/json", json!({"m": text, "n": 1}).to_string()),
            ("text/xml", format!("<r><m>{escaped}</m></r>")),
            ("application/x-www-form-urlencoded", format!("m={form}&n=1")),
        ]
    }

    proptest! {
        /// A rule, the key of a duplicate, a search and a function read one text.
        #[test]
        fn readers_agree_in_every_charset(
            text in "[a-zé£ñüß&<\\\"]{3,12}",
            (charset, encode) in prop::sample::select(CHARSETS.to_vec()),
        ) {
            for (kind, body) in bodies(&text) {
                if kind == "text/xml" && !cfg!(feature = "xml") {
                    continue;
                }
                let path = if kind == "text/xml" { "r.m" } else { "m" };
                let is_form = kind.ends_with("urlencoded");
                let plain = request(kind, body.clone().into_bytes());
                let body = match is_form {
                    // The percent signs of a form are of the bytes of its charset.
                    true if charset != "utf-16" => {
                        let bytes = encode(&text);
                        let value = percent_encoding::percent_encode(
                            &bytes, percent_encoding::NON_ALPHANUMERIC,
                        );
                        format!("m={value}&n=1").into_bytes()
                    }
                    _ => encode(&body),
                };
                let sent = request(&format!("{kind}; charset={charset}"), body);

                prop_assert_eq!(value_at(&sent, path), Some(text.clone()), "{} {}", kind, charset);
                let rules = Rules::try_from(Rule::payload(path).equals(&text)).expect("a rule");
                prop_assert!(rules.matches(&Subject::new(&sent)));

                let key = json!({"key": [{"source": "payload", "name": path}]});
                let key: Deduplication = serde_json::from_value(key).expect("a key");
                let key_of = |request: &Request| key.key_of(request, None, || None);
                prop_assert!(key_of(&sent).is_some());
                prop_assert_eq!(key_of(&sent), key_of(&plain));

                let mut filter = LogFilter::default();
                filter.set_payload(&format!("{path}:{text}")).expect("a place");
                prop_assert!(filter.matches(&log(sent.clone())));
                let mut filter = LogFilter::default();
                if !is_form && !text.contains(['&', '<', '"']) {
                    filter.set_text(&text).expect("it is long enough");
                    prop_assert!(filter.matches(&log(sent.clone())));
                }

                let mut given = call(sent.clone(), None);
                let received = Received::decode(&mut given);
                let seen = request(kind, given.request.body.to_vec());
                prop_assert_eq!(value_at(&seen, path), Some(text.clone()));
                let mut outcome = left(&given);
                received.restore(&mut outcome);
                prop_assert_eq!(outcome.request, sent);
            }
        }
    }

    #[test]
    fn a_changed_body_says_what_it_is_now() {
        let sent = request("text/plain; charset=latin1; x=1", windows_1252("café"));
        let answer =
            ScriptResponse { status: 200, headers: sent.headers.clone(), body: sent.body.clone() };
        let mut given = call(sent, Some(answer));
        let received = Received::decode(&mut given);
        assert_eq!(given.request.body, "café");
        let mut outcome = left(&given);
        outcome.request.body = Bytes::from_static("cafés".as_bytes());
        received.restore(&mut outcome);
        assert_eq!(outcome.request.headers[CONTENT_TYPE], "text/plain; x=1; charset=utf-8");
        let answer = outcome.response.expect("it has one");
        assert_eq!(answer.headers[CONTENT_TYPE], "text/plain; charset=latin1; x=1");
        assert_eq!(answer.body, windows_1252("café"));
    }

    #[cfg(feature = "compression")]
    #[test]
    fn a_compressed_body_leaves_as_it_came_or_uncompressed() {
        use std::io::Write;

        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"{\"a\":1}").expect("memory takes it");
        let mut sent = request("application/json", gzip.finish().expect("memory takes it"));
        sent.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        for changed in [false, true] {
            let mut given = call(sent.clone(), None);
            let received = Received::decode(&mut given);
            assert_eq!(given.request.body, "{\"a\":1}");
            let mut outcome = left(&given);
            if changed {
                outcome.request.body = Bytes::from_static(b"{}");
            }
            received.restore(&mut outcome);
            let expected = match changed {
                true => request("application/json", b"{}".to_vec()),
                false => sent.clone(),
            };
            assert_eq!(outcome.request, expected);
        }
    }
}
