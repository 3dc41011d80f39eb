//! What Stripe reports, and whether it was Stripe.

use std::time::Duration;

use http::HeaderMap;
use ring::hmac;

use webhook_core::{Error, ErrorKind, Timestamp, billing::Event, model::Secret};

use crate::object::{self, Reference};

/// The header with the signature (<https://docs.stripe.com/webhooks#verify-manually>).
const SIGNATURE: &str = "stripe-signature";
/// How far the time of a signature may be from ours.
const TOLERANCE: Duration = Duration::from_secs(5 * 60);
/// How many signatures of one request are tried: there are two while a secret is replaced.
const MAX_SIGNATURES: usize = 16;

pub(crate) fn read(
    secret: Option<&Secret>,
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> Result<Event, Error> {
    let not_expected = || {
        let message = "no secret for the payment processor's events is configured";
        Error::new(ErrorKind::NotFound, message)
    };
    verify(secret.ok_or_else(not_expected)?, headers, body, now)?;
    let event: object::Event =
        serde_json::from_slice(body).map_err(|error| Error::invalid("body", error))?;
    let object::Event { id, kind, data: object::EventData { object: subject } } = event;
    let subscription_id = match &*kind {
        "checkout.session.completed" => subject.subscription.map(Reference::id),
        "invoice.paid" | "invoice.payment_failed" => {
            let details = subject.parent.and_then(|parent| parent.subscription_details);
            let current = details.and_then(|details| details.subscription);
            subject.subscription.or(current).map(Reference::id)
        }
        kind if kind.starts_with("customer.subscription.") => subject.id,
        _ => None,
    };
    // It becomes a part of an address.
    let is_id = |id: &String| !id.is_empty() && id.bytes().all(is_id_byte);
    if subscription_id.as_ref().is_some_and(|id| !is_id(id)) || !is_id(&id) {
        return Err(Error::invalid("body", "an id in it is no id"));
    }
    Ok(Event { id, kind, subscription_id })
}

fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// `t=SECONDS,v1=HEX[,v1=HEX…]`: one of the signatures is that of `SECONDS.body`.
fn verify(secret: &Secret, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<(), Error> {
    let unauthorized = |reason: &str| {
        let message = format!("unauthorized: Stripe-Signature: {reason}");
        Error::new(ErrorKind::Unauthorized, message)
    };
    let mut values = headers.get_all(SIGNATURE).iter();
    let header = match (values.next(), values.next()) {
        (Some(header), None) => header.to_str().unwrap_or_default(),
        _ => return Err(unauthorized("must be there once")),
    };
    let parts = || header.split(',').filter_map(|part| part.trim().split_once('='));
    let time = parts().find(|(name, _)| *name == "t").map(|(_, value)| value);
    let time = time.ok_or_else(|| unauthorized("has no time"))?;
    let seconds = time.parse::<i64>().map_err(|_| unauthorized("has no time"))?;

    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
    let signed = [time.as_bytes(), b".", body].concat();
    let signatures = parts().filter(|(name, _)| *name == "v1").take(MAX_SIGNATURES);
    // Compared in constant time.
    let is_signed =
        |hex: &str| decode_hex(hex).is_some_and(|tag| hmac::verify(&key, &signed, &tag).is_ok());
    if !signatures.map(|(_, hex)| hex).any(is_signed) {
        return Err(unauthorized("no signature is right"));
    }
    let signed_at = Timestamp::from_secs(seconds);
    if now.since(signed_at) > TOLERANCE || signed_at.since(now) > TOLERANCE {
        return Err(unauthorized("is older than five minutes, or a clock is wrong"));
    }
    Ok(())
}

fn decode_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |digit: &u8| char::from(*digit).to_digit(16).and_then(|d| u8::try_from(d).ok());
        *byte = digit(pair.first()?)? << 4 | digit(pair.last()?)?;
    }
    Some(bytes)
}
