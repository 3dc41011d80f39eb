//! Keeps sessions out of webhooks.

use axum::http::{
    HeaderMap, HeaderValue,
    header::{COOKIE, SET_COOKIE},
};

use super::{EARLIER_NAME, NAME, SECURE_NAME};

/// Takes the cookie of a session out of a request's headers and leaves all others.
///
/// Browsers send a host's cookies to all its ports. An input that is at the dashboard's
/// host would otherwise store the session of a browser that calls it, and forward it. A
/// request without such a cookie costs the look at its headers.
///
/// ```
/// let mut headers = axum::http::HeaderMap::new();
/// headers.insert("cookie", "a=1; webhook-session=secret; b=2".parse()?);
/// webhook_dashboard::strip_session(&mut headers);
/// assert_eq!(headers["cookie"], "a=1; b=2");
/// # Ok::<(), axum::http::header::InvalidHeaderValue>(())
/// ```
pub fn strip_session(headers: &mut HeaderMap) {
    let has_session =
        |value: &HeaderValue| value.as_bytes().windows(NAME.len()).any(|it| it == NAME.as_bytes());
    if !headers.get_all(COOKIE).iter().any(has_session) {
        return;
    }
    let kept: Vec<_> = headers.get_all(COOKIE).iter().filter_map(without_session).collect();
    headers.remove(COOKIE);
    for value in kept {
        headers.append(COOKIE, value);
    }
}

/// The other cookies of this header; none when there are none.
fn without_session(value: &HeaderValue) -> Option<HeaderValue> {
    let cookies = value.as_bytes().split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let others: Vec<_> = cookies.filter(|cookie| !is_session(cookie)).collect();
    let others = others.join(&b"; "[..]);
    if others.is_empty() { None } else { HeaderValue::from_bytes(&others).ok() }
}

/// Whether a cookie `name=value…` is that of a session, in this version or an earlier one.
fn is_session(cookie: &[u8]) -> bool {
    let name = cookie.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
    [NAME, EARLIER_NAME, SECURE_NAME].iter().any(|ours| ours.as_bytes() == name)
}

/// Takes the cookies of a session out of an answer's headers and leaves all others.
///
/// A destination or a function of another person can decide what an input answers. Such an answer
/// could otherwise sign a browser in to an account of the attacker.
///
/// ```
/// let mut headers = axum::http::HeaderMap::new();
/// headers.append("set-cookie", "webhook-session=x; Path=/".parse()?);
/// headers.append("set-cookie", "a=1".parse()?);
/// webhook_dashboard::strip_set_session(&mut headers);
/// assert_eq!(headers.get_all("set-cookie").iter().collect::<Vec<_>>(), ["a=1"]);
/// # Ok::<(), axum::http::header::InvalidHeaderValue>(())
/// ```
pub fn strip_set_session(headers: &mut HeaderMap) {
    if !headers.get_all(SET_COOKIE).iter().any(|value| is_session(value.as_bytes())) {
        return;
    }
    let all: Vec<_> = headers.get_all(SET_COOKIE).iter().cloned().collect();
    headers.remove(SET_COOKIE);
    for value in all.into_iter().filter(|value| !is_session(value.as_bytes())) {
        headers.append(SET_COOKIE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_goes_and_other_cookies_stay() {
        for (given, left) in [
            (vec!["webhook-session=x"], vec![]),
            (vec!["a=webhook-session; webhook-session=x"], vec!["a=webhook-session"]),
            (vec!["__Secure-webhook-session=x;b=2", "c=3"], vec!["b=2", "c=3"]),
            (vec!["b=2; __Host-webhook-session=x"], vec!["b=2"]),
            (vec![" webhook-session =x; my-webhook-session=1"], vec!["my-webhook-session=1"]),
            (vec!["a=1;b=2"], vec!["a=1;b=2"]),
            (vec![], vec![]),
        ] {
            let mut headers = HeaderMap::new();
            for value in &given {
                headers.append(COOKIE, value.parse().expect("a value"));
            }
            strip_session(&mut headers);
            let found: Vec<_> = headers.get_all(COOKIE).iter().collect();
            assert_eq!(found, left, "{given:?}");
        }
    }
}
