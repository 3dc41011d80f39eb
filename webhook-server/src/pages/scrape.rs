//! The metrics count the webhooks of all accounts, so not every client may read them.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, StatusCode,
        header::{AUTHORIZATION, FORWARDED, VIA},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use webhook_core::{
    Error, ErrorKind,
    model::Secret,
    relay::{ClientAddr, host_name, requested_host},
};

use crate::{
    api::{
        auth,
        error::{ApiError, text},
    },
    config::MetricsConfig,
    state::AppState,
};

/// Headers that proxies add to what they forward.
const OF_PROXIES: [HeaderName; 6] = [
    FORWARDED,
    VIA,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-real-ip"),
];

/// Who may read the metrics at the address that all clients use.
#[derive(Debug)]
pub(crate) enum Readers {
    /// Nobody: there is a separate address for them.
    Elsewhere,
    /// Clients that show the token.
    Token(Secret),
    /// Clients on this machine, and clients with credentials of an account.
    Local,
}

impl Readers {
    pub(crate) fn of(config: &MetricsConfig) -> Self {
        match &config.metrics_token {
            _ if config.metrics_listen.is_some() => Self::Elsewhere,
            Some(token) => Self::Token(token.clone()),
            None => Self::Local,
        }
    }
}

/// Middleware that lets a request for the metrics pass when its sender may read them.
pub(crate) async fn permit(
    State((state, readers)): State<(AppState, Arc<Readers>)>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    match &*readers {
        Readers::Elsewhere => Ok(text(StatusCode::NOT_FOUND, "no such path")),
        Readers::Token(token) => {
            expect_token(token, request.headers())?;
            Ok(next.run(request).await)
        }
        Readers::Local if is_local(&request) => Ok(next.run(request).await),
        // The handler checks what the caller may see.
        Readers::Local => auth::require(State(state), request, next).await,
    }
}

fn expect_token(token: &Secret, headers: &HeaderMap) -> Result<(), Error> {
    let shown = headers.get(AUTHORIZATION).and_then(|value| {
        let (scheme, shown) = value.as_bytes().split_at_checked("Bearer ".len())?;
        scheme.eq_ignore_ascii_case(b"Bearer ").then_some(shown.trim_ascii())
    });
    match shown.is_some_and(|shown| token.matches(shown)) {
        true => Ok(()),
        false => Err(Error::new(
            ErrorKind::Unauthorized,
            "unauthorized: the metrics are for whoever shows their token",
        )),
    }
}

/// Whether a request comes from this machine and was not forwarded by a proxy on it. A proxy
/// adds headers, or passes on the public name of the request in `Host`. A browser that was
/// made to resolve a public name to this machine (DNS rebinding) shows that name as well.
fn is_local(request: &Request) -> bool {
    let from_here =
        request.extensions().get::<ClientAddr>().is_some_and(|client| client.ip.is_loopback());
    let is_forwarded = OF_PROXIES.iter().any(|name| request.headers().contains_key(name));
    let has_public_name =
        requested_host(request).map_or(true, |host| host.is_some_and(|h| host_name(h).is_some()));
    from_here && !is_forwarded && !has_public_name
}

/// Lets a request for the metrics pass at their own address, where a token may be wanted.
pub(crate) async fn permit_there(
    State(token): State<Option<Arc<Secret>>>,
    request: Request,
    next: Next,
) -> Response {
    match token.map_or(Ok(()), |token| expect_token(&token, request.headers())) {
        Ok(()) => next.run(request).await,
        Err(error) => ApiError::from(error).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn from(ip: &str, headers: &[(&str, &str)]) -> Request {
        let mut request = Request::builder().uri("/metrics");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).expect("a request");
        let ip = ip.parse().expect("an address");
        request.extensions_mut().insert(ClientAddr { ip, secure: false });
        request
    }

    #[test]
    fn local_is_who_asks_this_machine_by_its_address() {
        for (ip, headers) in [
            ("127.0.0.1", &[][..]),
            ("127.0.0.1", &[("host", "127.0.0.1:8080")]),
            ("::1", &[("host", "localhost:8080")]),
        ] {
            assert!(is_local(&from(ip, headers)), "{ip} {headers:?}");
        }
        for (ip, headers) in [
            ("192.0.2.1", &[("host", "127.0.0.1:8080")][..]),
            ("127.0.0.1", &[("host", "hooks.example.com")]),
            ("127.0.0.1", &[("host", "localhost"), ("host", "localhost")]),
            ("127.0.0.1", &[("host", "localhost"), ("x-forwarded-for", "192.0.2.1")]),
            ("127.0.0.1", &[("host", "localhost"), ("x-forwarded-proto", "https")]),
            ("127.0.0.1", &[("host", "localhost"), ("x-real-ip", "192.0.2.1")]),
            ("127.0.0.1", &[("host", "localhost"), ("forwarded", "for=192.0.2.1")]),
            ("127.0.0.1", &[("host", "localhost"), ("via", "1.1 proxy")]),
        ] {
            assert!(!is_local(&from(ip, headers)), "{ip} {headers:?}");
        }
    }

    #[test]
    fn the_token_is_shown_as_bearer() {
        let token = Secret::new("0123456789abcdef");
        let shown = |value: &str| {
            let request = from("192.0.2.1", &[("authorization", value)]);
            expect_token(&token, request.headers()).is_ok()
        };
        assert!(shown("Bearer 0123456789abcdef"));
        assert!(shown("bearer  0123456789abcdef"));
        for wrong in ["", "Bearer", "Bearer ", "0123456789abcdef", "Basic 0123456789abcdef"] {
            assert!(!shown(wrong), "{wrong}");
        }
        assert!(!shown("Bearer 0123456789abcdeg"));
    }
}
