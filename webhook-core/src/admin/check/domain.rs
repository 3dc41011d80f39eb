//! Domains, and the paths on them.

use webhook_guard::names;

use super::length;
use crate::error::Error;

/// The longest prefix of a path, in bytes.
const MAX_PREFIX_BYTES: usize = 1 << 10;

/// The name that `text` stands for, in the form in which names are compared.
pub(crate) fn domain(field: &str, text: &str) -> Result<String, Error> {
    names::domain(text).map_err(|error| Error::invalid(field, error.to_string()))
}

/// The first segments of a path, percent-encoded as senders send them; a slash
/// at the end means nothing.
pub(super) fn path_prefix(prefix: &str) -> Result<(), Error> {
    let refuse = |reason: &str| Err(Error::invalid("path_prefix", reason));
    length("path_prefix", prefix, MAX_PREFIX_BYTES)?;
    let path = prefix.strip_suffix('/').unwrap_or(prefix);
    if path.is_empty() {
        return Ok(());
    }
    let Some(segments) = path.strip_prefix('/') else {
        return refuse("must start with a slash");
    };
    for segment in segments.split('/') {
        match segment {
            "" => return refuse("must not have two slashes in a row"),
            "." | ".." => return refuse("must not have the segments . and .."),
            _ if !is_segment(segment) => {
                return refuse(
                    "must be a path as in a URL: what is not a letter, a digit or one of \
                     -._~!$&'()*+,;=:@ is percent-encoded",
                );
            }
            _ => {}
        }
    }
    Ok(())
}

/// RFC 3986 section 3.3: `segment`.
fn is_segment(segment: &str) -> bool {
    let mut bytes = segment.bytes();
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'%' => {
                let mut hex = || bytes.next().is_some_and(|digit| digit.is_ascii_hexdigit());
                hex() && hex()
            }
            _ => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte),
        };
        if !fits {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_paths() {
        for prefix in ["", "/", "/a", "/a/", "/a/b.c/d", "/a%2Fb", "/~x;y=1,@:$&'()*+!"] {
            path_prefix(prefix).expect(prefix);
        }
        let long = format!("/{}", "a".repeat(1_024));
        for prefix in [
            "a", "//", "/a//", "//a", "/a//b", "/.", "/a/../b", "/a?b", "/a#b", "/a b", "/ä", "/%",
            "/%4", "/%zz", "/a\n", "/a\\b", &long,
        ] {
            let error = path_prefix(prefix).expect_err(prefix);
            assert!(error.to_string().starts_with("path_prefix: "), "{error}");
        }
    }
}
