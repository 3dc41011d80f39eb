//! Where an output may send to.

use url::Url;

use super::super::length;
use crate::{admin::AdminOptions, error::Error, forward::guard::AddressGuard};

/// An absolute `http` or `https` URL. The destination of an internal output is
/// its client's business: it may be absent, and lead to a private address.
pub(super) fn check(
    field: &str,
    text: &str,
    internal: bool,
    options: &AdminOptions,
) -> Result<(), Error> {
    if text.is_empty() {
        return match internal {
            true => Ok(()),
            false => Err(Error::invalid(field, "must not be empty unless the output is internal")),
        };
    }
    length(field, text, options.max_destination_bytes)?;
    // `Url` drops these in silence.
    if text.chars().any(|c| c.is_control() || c == ' ') {
        return Err(Error::invalid(field, "must not contain blanks or control characters"));
    }
    // `Url` also reads `http:example.com`.
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    if !matches!(scheme.as_deref(), Some("http" | "https")) {
        let reason = "must be an absolute url that starts with http:// or https://";
        return Err(Error::invalid(field, reason));
    }
    let url = Url::parse(text).map_err(|error| Error::invalid(field, error))?;
    let checked = match internal {
        true => AddressGuard::allow_all().check_url(&url),
        false => options.guard.check_url(&url),
    };
    checked.map_err(|error| Error::invalid(field, error))
}
