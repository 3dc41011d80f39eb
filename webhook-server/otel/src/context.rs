//! Which trace something belongs to, as W3C Trace Context writes it.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use webhook_core::{DeliveryId, WebhookId};

/// The header that says which trace a request belongs to.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Identifies a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceId(u128);

/// Identifies a span of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpanId(u64);

impl TraceId {
    /// The trace of a webhook whose sender names none: whoever knows the webhook finds it,
    /// also after a restart and on another node.
    pub(crate) fn of(webhook: WebhookId) -> Self {
        Self(webhook.as_uuid().as_u128())
    }

    /// Bits of which all are as good as random, although those of an identifier are not.
    pub(crate) fn scattered(self) -> u64 {
        scatter(self.0, 0)
    }

    pub(crate) fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl SpanId {
    /// The span in which a webhook was received. It follows from the webhook, so that an
    /// attempt long after it knows whose child it is.
    pub(crate) fn of_receiving(webhook: WebhookId) -> Self {
        Self(scatter(webhook.as_uuid().as_u128(), 0))
    }

    /// The span of the attempt with this number, from 1.
    pub(crate) fn of_attempt(delivery: DeliveryId, number: u32) -> Self {
        Self(scatter(delivery.as_uuid().as_u128(), u64::from(number)))
    }

    pub(crate) fn to_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }
}

/// What a sender says about the trace that its request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) trace: TraceId,
    /// The sender's span.
    pub(crate) parent: SpanId,
    /// Whether the sender keeps the trace.
    pub(crate) sampled: bool,
}

impl Context {
    /// What the headers say; nothing when they say it wrongly or twice.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(TRACEPARENT).iter();
        let (value, None) = (values.next()?, values.next()) else { return None };
        Self::parse(value.to_str().ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (version, trace) = (hex(parts.next()?, 2)?, hex(parts.next()?, 32)?);
        let (parent, flags) = (hex(parts.next()?, 16)?, hex(parts.next()?, 2)?);
        // A later version may say more, this one may not.
        let is_whole = version != 0 || parts.next().is_none();
        let parent = u64::try_from(parent).ok()?;
        (version != 0xff && trace != 0 && parent != 0 && is_whole).then_some(Self {
            trace: TraceId(trace),
            parent: SpanId(parent),
            sampled: flags & 1 == 1,
        })
    }
}

/// The header of a request that this span sends.
pub(crate) fn traceparent(trace: TraceId, span: SpanId, sampled: bool) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("00-{trace}-{:016x}-{:02x}", span.0, u8::from(sampled))).ok()
}

fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let fits = text.len() == digits && text.bytes().all(is_digit);
    fits.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

/// The finalizer of SplitMix64 over all bits; never zero, which is no identifier.
fn scatter(id: u128, number: u64) -> u64 {
    let mix = |mut bits: u64| {
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    let [high, low] = [(id >> 64) as u64, id as u64];
    mix(high ^ mix(low ^ mix(number.wrapping_add(0x9e37_79b9_7f4a_7c15)))).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    #[test]
    fn a_senders_trace_is_read_as_the_standard_says() {
        let of = |text: &str| Context::parse(text).map(|it| (it.trace.to_string(), it.sampled));
        let known = |sampled| Some((TRACE.to_owned(), sampled));
        assert_eq!(of(&format!("00-{TRACE}-b7ad6b7169203331-01")), known(true));
        assert_eq!(of(&format!("00-{TRACE}-b7ad6b7169203331-00")), known(false));
        assert_eq!(of(&format!("cc-{TRACE}-b7ad6b7169203331-03-later")), known(true));
        for wrong in [
            "",
            "00",
            &format!("ff-{TRACE}-b7ad6b7169203331-01"),
            &format!("00-{TRACE}-b7ad6b7169203331-01-more"),
            &format!("00-{TRACE}-b7ad6b7169203331"),
            &format!("00-{TRACE}-0000000000000000-01"),
            &format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)),
            &format!("00-{}-b7ad6b7169203331-01", TRACE.to_uppercase()),
            &format!("00-+{}-b7ad6b7169203331-01", &TRACE[1..]),
        ] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_header_that_comes_twice_says_nothing() {
        let value = HeaderValue::try_from(format!("00-{TRACE}-b7ad6b7169203331-01")).expect("text");
        let mut headers = HeaderMap::from_iter([(TRACEPARENT, value.clone())]);
        let context = Context::of(&headers).expect("it says so once");
        assert_eq!(traceparent(context.trace, context.parent, true), Some(value.clone()));
        headers.append(TRACEPARENT, value);
        assert_eq!(Context::of(&headers), None);
    }

    #[test]
    fn spans_of_one_delivery_differ() {
        let delivery = DeliveryId::generate();
        let spans: Vec<_> = (1..=9).map(|number| SpanId::of_attempt(delivery, number)).collect();
        for (index, span) in spans.iter().enumerate() {
            assert!(!spans[..index].contains(span) && span.0 != 0);
        }
        assert_eq!(spans[0], SpanId::of_attempt(delivery, 1));
    }
}
