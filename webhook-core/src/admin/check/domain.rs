//! Domains, and the paths on them.

use std::borrow::Cow;

use idna::{
    AsciiDenyList,
    uts46::{DnsLength, Hyphens, Uts46},
};

use super::length;
use crate::error::Error;

/// More than the longest name has in any alphabet, so that nothing longer is converted.
const MAX_TEXT_BYTES: usize = 1 << 10;
/// The longest prefix of a path, in bytes.
const MAX_PREFIX_BYTES: usize = 1 << 10;

/// The DNS name that `text` stands for: ASCII, in lower case, without a dot at
/// its end. At least two labels, and no address.
pub(in crate::admin) fn domain(field: &str, text: &str) -> Result<String, Error> {
    length(field, text, MAX_TEXT_BYTES)?;
    let refuse = |reason: &str| {
        let example = "a domain is a DNS name such as hooks.example.com";
        Err(Error::invalid(field, format!("{text:?} {reason}; {example}")))
    };
    if text.is_empty() {
        return Err(Error::invalid(field, "must not be empty"));
    }
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
pub(in crate::admin) fn dns_name(text: &str) -> Option<String> {
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
    fn names_are_brought_to_one_form() {
        for (text, name) in [
            ("hooks.example.com", "hooks.example.com"),
            ("Hooks.EXAMPLE.com.", "hooks.example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("faß.example", "xn--fa-hia.example"),
            ("日本語。例え", "xn--wgv71a119e.xn--r8jz45g"),
            ("a-b--c.1.example", "a-b--c.1.example"),
            ("1.2.3.4.example", "1.2.3.4.example"),
            ("a.b0x1", "a.b0x1"),
        ] {
            assert_eq!(domain("domain", text).expect(text), name);
        }
        let longest = ["a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(61)].join(".");
        assert_eq!(domain("domain", &longest).expect("253 bytes"), longest);
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let long_label = format!("{}.example", "a".repeat(64));
        let long_name = format!("{}.example", ["a"; 124].join("."));
        let far_too_long = "ä.".repeat(1_000);
        for text in [
            "",
            ".",
            "..",
            "com",
            "localhost",
            "localhost.",
            ".example.com",
            "a..example.com",
            "example.com..",
            "https://example.com",
            "example.com:8080",
            "example.com/path",
            "user@example.com",
            "*.example.com",
            "a*.example.com",
            "under_score.example.com",
            "-a.example.com",
            "a-.example.com",
            "a b.example.com",
            " example.com",
            "example.com\n",
            "exa\u{0}mple.com",
            "exa%6dple.com",
            "127.0.0.1",
            "0x7f.1",
            "a.0x7f",
            "a.0x",
            "１２７.0.0.１",
            "[::1]",
            "::1",
            "xn--a.example",
            "xn--bücher.example",
            "a\u{200d}b.example",
            "a\u{202e}b.example",
            &long_label,
            &long_name,
            &far_too_long,
        ] {
            let error = domain("domain", text).expect_err(text);
            assert_eq!(error.kind(), crate::ErrorKind::Invalid, "{text:?}");
            assert!(error.to_string().starts_with("domain: "), "{error}");
        }
    }

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
