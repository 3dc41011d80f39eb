//! Outputs: their destinations, and what depends on the time.

use url::Url;

use super::fields;
use crate::{
    admin::AdminOptions,
    clock::Timestamp,
    credentials::AuthSpec,
    error::{Error, invalid_if},
    guard::AddressGuard,
    model::OutputSpec,
};

/// An output as it is going to be stored.
pub(crate) fn output(
    spec: &OutputSpec,
    now: Timestamp,
    options: &AdminOptions,
) -> Result<(), Error> {
    fields(spec)?;
    destination_url("destination", &spec.destination, spec.internal, options)?;
    if let Some(signing) = spec.signing.set() {
        signing.check(now.as_secs()).map_err(|invalid| invalid.below("signing."))?;
    }
    match spec.auth.set() {
        Some(AuthSpec::Oauth2ClientCredentials(auth)) => {
            destination_url("auth.token_url", &auth.token_url, false, options)
        }
        _ => Ok(()),
    }
}

/// An absolute `http` or `https` URL. The destination of an internal output is
/// its client's business: it may be absent, and lead to a private address.
fn destination_url(
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
    // `Url` drops these in silence.
    let reason = "must not contain blanks or control characters";
    invalid_if(text.chars().any(|c| c.is_control() || c == ' '), field, reason)?;
    // `Url` also reads `http:example.com`.
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    let reason = "must be an absolute url that starts with http:// or https://";
    invalid_if(!matches!(scheme.as_deref(), Some("http" | "https")), field, reason)?;
    let url = Url::parse(text).map_err(|error| Error::invalid(field, error))?;
    let checked = match internal {
        true => AddressGuard::allow_all().check_url(&url),
        false => options.guard.check_url(&url),
    };
    checked.map_err(|error| Error::invalid(field, error))
}
