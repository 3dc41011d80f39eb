//! What the sender of a webhook gets to see.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use http_body_util::Full;

use crate::{
    error::{Error, ErrorKind},
    function::ScriptResponse,
    model::Input,
    relay::{headers, waiters::DestinationResponse},
};

/// What the input's function set, or else the static answer.
pub(super) fn scripted_or_static(
    scripted: Option<&ScriptResponse>,
    input: &Input,
) -> Response<Full<Bytes>> {
    match scripted {
        Some(set) => {
            let status = StatusCode::from_u16(set.status).unwrap_or(StatusCode::OK);
            make(status, set.headers.clone(), set.body.clone())
        }
        None => make(
            StatusCode::from_u16(input.spec.status_code).unwrap_or(StatusCode::OK),
            input.spec.headers.0.clone(),
            Bytes::copy_from_slice(input.spec.body.as_bytes()),
        ),
    }
}

/// The destination's response, passed on.
pub(super) fn of_destination(response: DestinationResponse) -> Response<Full<Bytes>> {
    make(response.status, response.headers, response.body)
}

/// Why the webhook was not taken, in plain text.
pub(super) fn refusal(error: &Error) -> Response<Full<Bytes>> {
    let status = match error.kind() {
        // Nothing that the sender could mend: it may come again.
        ErrorKind::Conflict => StatusCode::TOO_MANY_REQUESTS,
        kind => kind.status(),
    };
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"webhooks\""));
    }
    if let Some(after) = error.retry_after() {
        headers.insert(RETRY_AFTER, HeaderValue::from(after.as_secs().max(1)));
    }
    make(status, headers, error.to_string().into())
}

fn make(status: StatusCode, mut headers: HeaderMap, body: Bytes) -> Response<Full<Bytes>> {
    headers::drop_hop_by_hop(&mut headers);
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
