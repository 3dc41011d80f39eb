//! Which domains may be reserved.

use std::borrow::Cow;

use idna::{
    AsciiDenyList,
    uts46::{DnsLength, Hyphens, Uts46},
};

#[cfg(feature = "admin")]
mod blocklist;
#[cfg(test)]
mod tests;

#[cfg(feature = "admin")]
pub use blocklist::{DomainBlocklist, InvalidBlocklist};

/// More than the longest name has in any alphabet, so that nothing longer is converted.
const MAX_TEXT_BYTES: usize = 1 << 10;

/// Why a text is no domain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDomain {
    /// There is none.
    #[error("must not be empty")]
    Empty,
    /// Longer than any name is.
    #[error("must be at most {MAX_TEXT_BYTES} bytes long")]
    TooLong,
    /// It is something else.
    #[error("{text:?} {is}; a domain is a DNS name such as hooks.example.com")]
    No {
        /// What was given.
        text: String,
        /// What it is instead.
        is: &'static str,
    },
}

/// The DNS name that `text` stands for: ASCII, in lower case, without a dot at
/// its end. At least two labels, and no address.
///
/// ```
/// use webhook_core::guard::names::domain;
///
/// assert_eq!(domain("Bücher.example.").as_deref(), Ok("xn--bcher-kva.example"));
/// assert!(domain("localhost").is_err());
/// ```
///
/// # Errors
/// When it stands for none.
pub fn domain(text: &str) -> Result<String, InvalidDomain> {
    if text.is_empty() {
        return Err(InvalidDomain::Empty);
    }
    if text.len() > MAX_TEXT_BYTES {
        return Err(InvalidDomain::TooLong);
    }
    let refuse = |is| Err(InvalidDomain::No { text: text.to_owned(), is });
    if text.contains("://") || text.contains(['/', ':', '@', '?', '#']) {
        return refuse("has more in it than a name (no scheme, port or path)");
    }
    if text.contains('*') {
        return refuse("is a wildcard, which cannot be reserved");
    }
    let Some(name) = dns_name(text) else {
        return refuse("is not a DNS name");
    };
    let Some((_, last)) = name.rsplit_once('.') else {
        return refuse("has one label only");
    };
    match is_number(last) {
        true => refuse("is an address"),
        false => Ok(name),
    }
}

/// A name of one label or more in its ASCII form (UTS 46, letters, digits and
/// hyphens only), without the dot of the root.
fn dns_name(text: &str) -> Option<String> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let name = Uts46::new().to_ascii(
        text.as_bytes(),
        AsciiDenyList::STD3,
        Hyphens::CheckFirstLast,
        DnsLength::Verify,
    );
    name.ok().map(Cow::into_owned)
}

/// A last label that address parsers take for a part of an IPv4 address.
fn is_number(label: &str) -> bool {
    let hex = label
        .strip_prefix("0x")
        .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    hex || label.bytes().all(|byte| byte.is_ascii_digit())
}
