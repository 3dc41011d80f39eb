//! Outputs: their destinations, and what depends on the time.

use super::fields;
use crate::{
    clock::Timestamp,
    credentials::AuthSpec,
    destination::{Destinations, HttpDestination},
    error::{Error, invalid_if},
    guard::AddressGuard,
    model::OutputSpec,
};

/// An output as it is going to be stored.
pub(crate) fn output(
    spec: &OutputSpec,
    now: Timestamp,
    destinations: &Destinations,
) -> Result<(), Error> {
    fields(spec)?;
    match (&*spec.destination, spec.internal) {
        ("", true) => {}
        // Its client connects to it, by HTTP and perhaps in a private network.
        (text, true) => {
            let http = HttpDestination::new(None, AddressGuard::allow_all());
            url("destination", text, &Destinations::of(http))?;
        }
        (text, false) => url("destination", text, destinations)?,
    }
    if let Some(signing) = spec.signing.set() {
        signing.check(now.as_secs()).map_err(|invalid| invalid.below("signing."))?;
    }
    match spec.auth.set() {
        Some(AuthSpec::Oauth2ClientCredentials(auth)) => {
            let http = Destinations::of(destinations.http.clone());
            url("auth.token_url", &auth.token_url, &http)
        }
        _ => Ok(()),
    }
}

/// A URL that one of these destinations takes.
fn url(field: &str, text: &str, destinations: &Destinations) -> Result<(), Error> {
    let reason = "must not be empty unless the output is internal";
    invalid_if(text.is_empty(), field, reason)?;
    // `Url` drops these in silence.
    let reason = "must not contain blanks or control characters";
    invalid_if(text.chars().any(|c| c.is_control() || c == ' '), field, reason)?;
    destinations.check(text).map_err(|reason| Error::invalid(field, reason))
}
