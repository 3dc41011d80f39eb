//! Header maps that callers configure.

use http::{
    HeaderMap, HeaderName,
    header::{
        CONNECTION, CONTENT_LENGTH, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
        TRANSFER_ENCODING, UPGRADE,
    },
};

use crate::{admin::AdminOptions, error::Error, model::Headers};

/// Whether every header can be sent as it is: those of one hop (RFC 9110
/// section 7.6.1) and the length are set by whoever sends the message.
pub(super) fn sendable(headers: &HeaderMap, options: &AdminOptions) -> Result<(), Error> {
    let (max, max_bytes) = (options.max_headers, options.max_headers_bytes);
    if headers.len() > max {
        return Err(Error::invalid(
            "headers",
            format!("at most {max} are possible, not {}", headers.len()),
        ));
    }
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if bytes > max_bytes {
        return Err(Error::invalid(
            "headers",
            format!("must be at most {max_bytes} bytes together, not {bytes}"),
        ));
    }
    match headers.keys().find(|name| is_set_by_the_sender(name)) {
        Some(name) => Err(Error::invalid(
            &format!("headers.{}", Headers::canonical_name(name)),
            "cannot be set: it belongs to the connection",
        )),
        None => Ok(()),
    }
}

fn is_set_by_the_sender(name: &HeaderName) -> bool {
    [
        CONNECTION,
        CONTENT_LENGTH,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
    ]
    .contains(name)
        || matches!(name.as_str(), "keep-alive" | "proxy-connection")
}
