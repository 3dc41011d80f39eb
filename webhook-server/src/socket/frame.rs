//! The frames, JSON text both ways.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use webhook_core::{
    BucketId, DeliveryId, InputId, Timestamp, model::Headers, relay::StreamedWebhook,
};

/// What a client says. Unknown fields are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    pub(super) action: String,
    /// With `auth`: an access token's key, or `whr`.
    pub(super) key: Option<String>,
    /// With `auth`: the access token's secret, or an API key.
    pub(super) secret: Option<String>,
    /// With `auth`: who the client is and where it forwards to, for people.
    pub(super) client_type: Option<String>,
    pub(super) client_version: Option<String>,
    pub(super) destination: Option<String>,
    /// With `subscribe`: names or IDs.
    pub(super) buckets: Option<Vec<Option<String>>>,
    /// With `subscribe`: names of internal outputs.
    pub(super) outputs: Option<Vec<Option<String>>>,
    /// With `subscribe`: for how many nanoseconds each webhook is the client's alone.
    pub(super) lease: Option<i64>,
    /// With `lease`: how many webhooks may come until it says `more`.
    pub(super) limit: Option<i64>,
    /// With `more`: how many more may come.
    pub(super) count: Option<i64>,
}

impl Said {
    pub(super) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        // A struct can be read from an array as well; nobody means that.
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text)?;
        serde_json::from_value(object.into())
    }
}

/// The names of a list, without those that say nothing: none of them stands for all.
pub(super) fn names(list: Option<Vec<Option<String>>>) -> Vec<String> {
    list.into_iter().flatten().flatten().filter(|name| !name.is_empty()).collect()
}

#[derive(Serialize)]
struct Status<'a> {
    r#type: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
}

/// A status frame; without a message there is no such field.
pub(super) fn status(status: &str, message: &str) -> String {
    json(&Status { r#type: "status", status, message })
}

#[derive(Serialize)]
struct Webhook<'a> {
    r#type: &'a str,
    meta: Meta<'a>,
    headers: Headers,
    query: &'a str,
    body: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    body_encoding: &'a str,
    method: &'a str,
}

#[derive(Serialize)]
struct Meta<'a> {
    id: DeliveryId,
    /// The spelling that official clients read.
    bucked_id: BucketId,
    bucket_id: BucketId,
    bucket_name: &'a str,
    input_id: InputId,
    input_name: &'a str,
    output_name: &'a str,
    output_destination: &'a str,
    /// What a client appends to a target of its own.
    extra_path: &'a str,
    /// Until when the client has it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    leased_until: Option<Timestamp>,
}

/// A webhook's frame.
pub(super) fn webhook(event: &StreamedWebhook) -> String {
    leased_webhook(event, None)
}

/// The frame of a webhook that the client has until a moment, in unix seconds.
pub(super) fn leased_webhook(event: &StreamedWebhook, leased_until: Option<Timestamp>) -> String {
    let request = &event.request;
    let (body, body_encoding) = match std::str::from_utf8(&request.body) {
        Ok(text) => (Cow::Borrowed(text), ""),
        Err(_) => (Cow::Owned(STANDARD.encode(&request.body)), "base64"),
    };
    json(&Webhook {
        r#type: "webhook",
        meta: Meta {
            id: event.id,
            bucked_id: event.bucket_id,
            bucket_id: event.bucket_id,
            bucket_name: &event.bucket_name,
            input_id: event.input_id,
            input_name: &event.input_name,
            output_name: &event.output_name,
            output_destination: &event.output_destination,
            extra_path: &request.extra_path,
            leased_until,
        },
        headers: Headers(request.headers.clone()),
        query: &request.raw_query,
        body,
        body_encoding,
        method: request.method.as_str(),
    })
}

fn json(frame: &impl Serialize) -> String {
    // Text, numbers and maps with text as keys: nothing that JSON cannot hold.
    serde_json::to_string(frame).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use webhook_core::model::Request;

    use super::*;

    fn event(body: &'static [u8]) -> StreamedWebhook {
        let headers = [("x-github-event", "push")].map(|(name, value)| {
            (http::HeaderName::from_static(name), http::HeaderValue::from_static(value))
        });
        StreamedWebhook {
            id: DeliveryId::generate(),
            bucket_id: BucketId::generate(),
            bucket_name: "b".into(),
            input_id: InputId::generate(),
            input_name: "i".into(),
            output_name: String::new(),
            output_destination: String::new(),
            request: Request {
                method: http::Method::PUT,
                extra_path: "/x".into(),
                raw_query: "q=1".into(),
                headers: headers.into_iter().collect(),
                body: body.into(),
            },
        }
    }

    #[test]
    fn webhooks_look_as_clients_expect() {
        let event = event(b"text");
        let frame: Value = serde_json::from_str(&webhook(&event)).expect("JSON");
        let bucket = event.bucket_id;
        let expected = json!({
            "type": "webhook",
            "meta": {
                "id": event.id, "bucked_id": bucket, "bucket_id": bucket, "bucket_name": "b",
                "input_id": event.input_id, "input_name": "i", "output_name": "",
                "output_destination": "", "extra_path": "/x",
            },
            "headers": {"X-Github-Event": ["push"]},
            "query": "q=1", "body": "text", "method": "PUT",
        });
        assert_eq!(frame, expected);
        let leased = leased_webhook(&event, Some(Timestamp::from_secs(1_767_225_600)));
        let leased: Value = serde_json::from_str(&leased).expect("JSON");
        assert_eq!(leased["meta"]["leased_until"], 1_767_225_600);
    }

    #[test]
    fn bodies_that_are_no_text_are_base64() {
        let frame: Value = serde_json::from_str(&webhook(&event(b"\xff\x00"))).expect("JSON");
        assert_eq!((&frame["body"], &frame["body_encoding"]), (&json!("/wA="), &json!("base64")));
    }

    #[test]
    fn lists_that_say_nothing_stand_for_all() {
        for said in ["", r#","buckets":null"#, r#","buckets":[]"#, r#","buckets":["",null]"#] {
            let said = Said::parse(&format!(r#"{{"action":"subscribe"{said}}}"#)).expect(said);
            assert!(names(said.buckets).is_empty());
        }
        let said = Said::parse(r#"{"buckets":["a",""],"new":1}"#).expect("an object");
        assert_eq!(names(said.buckets), ["a"]);
        for wrong in ["", "1", "[]", r#"["auth"]"#, r#"{"buckets":1}"#, "{"] {
            assert!(Said::parse(wrong).is_err(), "{wrong}");
        }
    }
}
