//! What the sender of a webhook must show.

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, header::AUTHORIZATION};

use crate::model::{AuthType, BucketAuth, Secret};

/// Whether `headers` carry the credentials that `auth` asks for.
pub(super) fn admitted(auth: &BucketAuth, headers: &HeaderMap) -> bool {
    let given = headers.get(AUTHORIZATION).map(|value| value.as_bytes().trim_ascii());
    match auth.kind {
        AuthType::None => true,
        AuthType::Basic => given
            .and_then(|given| after_scheme(given, b"basic"))
            .and_then(|encoded| STANDARD.decode(encoded).ok())
            .is_some_and(|pair| {
                let expected = Secret::new(format!("{}:{}", auth.username, auth.password.expose()));
                expected.matches(&pair)
            }),
        AuthType::Token => {
            // An empty token would let a bare `Authorization:` pass.
            !auth.token.is_empty()
                && given.is_some_and(|given| {
                    auth.token.matches(after_scheme(given, b"bearer").unwrap_or(given))
                })
        }
    }
}

/// What follows the scheme, which is compared without regard to case (RFC 9110 section 11.1).
fn after_scheme<'a>(value: &'a [u8], scheme: &[u8]) -> Option<&'a [u8]> {
    let (head, rest) = value.split_at_checked(scheme.len())?;
    (head.eq_ignore_ascii_case(scheme) && rest.first() == Some(&b' ')).then(|| rest.trim_ascii())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(value).expect("a header"))])
    }

    #[test]
    fn basic_wants_the_exact_pair() {
        let auth = BucketAuth {
            kind: AuthType::Basic,
            username: "ada".into(),
            password: Secret::new("s3:cret"),
            ..BucketAuth::default()
        };
        let pair = |text: &str| headers(&format!("Basic {}", STANDARD.encode(text)));
        assert!(admitted(&auth, &pair("ada:s3:cret")));
        assert!(admitted(&auth, &headers(&format!("bAsIc  {}", STANDARD.encode("ada:s3:cret")))));
        for wrong in ["ada:", "ada:s3", "ada:s3:cret ", ":s3:cret", ""] {
            assert!(!admitted(&auth, &pair(wrong)), "{wrong:?} must not pass");
        }
        assert!(!admitted(&auth, &headers("Basic ***")));
        assert!(!admitted(&auth, &headers("Bearer ada:s3:cret")));
        assert!(!admitted(&auth, &HeaderMap::new()));
    }

    #[test]
    fn token_is_taken_bare_and_as_bearer() {
        let auth = BucketAuth {
            kind: AuthType::Token,
            token: Secret::new("t0ken"),
            ..BucketAuth::default()
        };
        assert!(admitted(&auth, &headers("Bearer t0ken")));
        assert!(admitted(&auth, &headers("bearer t0ken")));
        assert!(admitted(&auth, &headers("t0ken")));
        assert!(!admitted(&auth, &headers("Bearer t0ke")));
        assert!(!admitted(&auth, &headers("Basic t0ken")));
        assert!(!admitted(&auth, &HeaderMap::new()));
        let unset = BucketAuth { kind: AuthType::Token, ..BucketAuth::default() };
        assert!(!admitted(&unset, &headers("")), "an unset token admits nobody");
    }
}
