//! Requests that other sites make a browser send.

use axum::{
    extract::Request,
    http::{HeaderMap, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use webhook_core::{Error, ErrorKind};

use crate::page::Problem;

/// Middleware that refuses what changes something and does not come from these pages.
///
/// Browsers say in `Sec-Fetch-Site` where a request comes from, and older ones in
/// `Origin`. Another port of the same host is another origin (`same-site`).
pub(crate) async fn refuse(request: Request, next: Next) -> Response {
    if request.method().is_safe() || is_own(request.headers(), request.uri()) {
        return next.run(request).await;
    }
    let reason = "this request does not come from a page of the dashboard";
    Problem::from(Error::new(ErrorKind::Forbidden, reason)).into_response()
}

/// Whether a page of this origin, or the person at the browser, made the request.
fn is_own(headers: &HeaderMap, uri: &Uri) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin" || site == "none";
    }
    // HTTP/2 has the host in the address.
    let host = uri.authority().map(|it| it.as_str()).or_else(|| text(header::HOST));
    let origin = text(header::ORIGIN).and_then(|origin| origin.split_once("://"));
    match (origin, host) {
        (Some((_, origin)), Some(host)) => origin.eq_ignore_ascii_case(host),
        _ => false,
    }
}

/// Whether another site made the browser ask: for links that change something.
pub(crate) fn is_foreign(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    site.is_some_and(|site| site != "same-origin" && site != "none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_origin_may_change_something() {
        for (site, origin, own) in [
            (Some("same-origin"), None, true),
            (Some("none"), None, true),
            (Some("same-site"), None, false),
            (Some("cross-site"), None, false),
            (Some("same-site"), Some("http://here:1"), false),
            (Some(""), Some("http://here:1"), false),
            (None, Some("http://here:1"), true),
            (None, Some("https://HERE:1"), true),
            (None, Some("http://here:2"), false),
            (None, Some("http://there"), false),
            (None, Some("null"), false),
            (None, Some(""), false),
            (None, None, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "here:1".parse().expect("a value"));
            let given = [("sec-fetch-site", site), ("origin", origin)];
            for (name, value) in given.into_iter().filter_map(|(n, v)| Some((n, v?))) {
                headers.insert(name, value.parse().expect("a value"));
            }
            let uri = Uri::from_static("/dashboard/buckets");
            assert_eq!(is_own(&headers, &uri), own, "{site:?} {origin:?}");
        }
    }
}
