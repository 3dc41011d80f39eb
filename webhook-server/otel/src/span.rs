//! Spans, as OTLP's protobuf writes them.

use std::time::Duration;

use webhook_core::Timestamp;

use crate::context::{SpanId, TraceId};

/// Something that took a while.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) trace: TraceId,
    pub(crate) id: SpanId,
    pub(crate) parent: Option<SpanId>,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) started: Timestamp,
    pub(crate) took: Duration,
    pub(crate) attributes: Vec<(&'static str, Value)>,
    /// Why it failed, if it did; may be empty.
    pub(crate) failure: Option<String>,
}

/// Which side of a request it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Server = 2,
    Client = 3,
}

/// What an attribute says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(i64),
}

impl<T: Into<String>> From<T> for Value {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

/// The longest text of an attribute, in bytes: some of it comes from outside.
const MAX_TEXT_BYTES: usize = 1_024;

/// An `ExportTraceServiceRequest`.
pub(crate) fn export_request(resource: &[(String, String)], spans: &[Span]) -> Vec<u8> {
    let mut request = Message::default();
    request.message(1, |it| {
        it.message(1, |it| {
            for (name, value) in resource {
                it.message(1, |it| attribute(it, name, &Value::Text(value.clone())));
            }
        });
        it.message(2, |it| {
            it.message(1, |it| {
                it.bytes(1, env!("CARGO_PKG_NAME").as_bytes());
                it.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
            });
            spans.iter().for_each(|span| it.message(2, |it| write(it, span)));
        });
    });
    request.0
}

fn write(it: &mut Message, span: &Span) {
    let Span { trace, id, parent, name, kind, started, took, attributes, failure } = span;
    it.bytes(1, &trace.to_bytes());
    it.bytes(2, &id.to_bytes());
    if let Some(parent) = parent {
        it.bytes(4, &parent.to_bytes());
    }
    it.bytes(5, name.as_bytes());
    it.number(6, *kind as u64);
    let started = u64::try_from(started.as_millis()).unwrap_or_default() * 1_000_000;
    let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
    it.fixed64(7, started);
    it.fixed64(8, started.saturating_add(took));
    for (name, value) in attributes {
        it.message(9, |it| attribute(it, name, value));
    }
    if let Some(failure) = failure {
        it.message(15, |it| {
            it.bytes(2, cut(failure).as_bytes());
            it.number(3, 2);
        });
    }
}

fn attribute(it: &mut Message, name: &str, value: &Value) {
    it.bytes(1, name.as_bytes());
    it.message(2, |it| match value {
        Value::Text(text) => it.bytes(1, cut(text).as_bytes()),
        Value::Number(number) => it.number(3, number.cast_unsigned()),
    });
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}

/// A message of protobuf's.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number > 0x7f {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn number(&mut self, field: u64, number: u64) {
        self.varint(field << 3);
        self.varint(number);
    }

    fn fixed64(&mut self, field: u64, number: u64) {
        self.varint(field << 3 | 1);
        self.0.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn message(&mut self, field: u64, write: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        write(&mut inner);
        self.bytes(field, &inner.0);
    }
}

#[cfg(test)]
mod tests {
    use webhook_core::WebhookId;

    use super::*;

    /// Written by the protobuf library of another language, from OTLP's own definitions.
    #[test]
    fn a_span_is_written_as_others_write_it() {
        let webhook: WebhookId = "01987654-3210-77ff-bfff-ffffffffffff".parse().expect("an id");
        let span = Span {
            trace: TraceId::of(webhook),
            id: SpanId::of_receiving(webhook),
            parent: None,
            name: "POST".to_owned(),
            kind: Kind::Client,
            started: Timestamp::from_millis(1_700_000_000_000),
            took: Duration::from_millis(300),
            attributes: vec![
                ("http.response.status_code", Value::Number(503)),
                ("url.full", "é".repeat(2_000).into()),
            ],
            failure: Some("503".to_owned()),
        };
        let resource = [("service.name".to_owned(), "hooks".to_owned())];
        let written = export_request(&resource, &[span]);
        let hex: String = written.iter().map(|byte| format!("{byte:02x}")).collect();
        let expected = include_str!("../tests/span.hex");
        assert_eq!(hex, expected.trim());
    }
}
