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
    model::{DuplicateAnswer, Input, signatures::Challenge},
    relay::{cluster::DestinationResponse, headers},
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

/// What the sender of a duplicate gets.
pub(super) fn of_duplicate(input: &Input) -> Response<Full<Bytes>> {
    match input.spec.deduplication.set().map(|spec| spec.answer) {
        Some(DuplicateAnswer::Status(status)) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
            make(status, HeaderMap::new(), Bytes::new())
        }
        _ => scripted_or_static(None, input),
    }
}

/// The answer to a provider's handshake.
pub(super) fn of_challenge(challenge: Challenge) -> Response<Full<Bytes>> {
    let status = StatusCode::from_u16(challenge.status).unwrap_or(StatusCode::OK);
    make(status, challenge.headers, challenge.body.into())
}

/// The destination's response, passed on. One such as 101 ends no exchange: to the sender that
/// is a 502.
pub(super) fn of_destination(response: DestinationResponse) -> Response<Full<Bytes>> {
    if response.status.is_informational() {
        let why = format!("the destination answered {}, which is no final answer", response.status);
        return text(StatusCode::BAD_GATEWAY, HeaderMap::new(), why);
    }
    make(response.status, response.headers, response.body)
}

/// Why the webhook was not taken, in plain text. A 401 asks for the bucket's credentials.
pub(super) fn refusal(error: &Error) -> Response<Full<Bytes>> {
    let mut response = plain(error);
    if response.status() == StatusCode::UNAUTHORIZED {
        let basic = HeaderValue::from_static("Basic realm=\"webhooks\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, basic);
    }
    response
}

/// Why the webhook is not from whom it says it is. No name and password would mend that, so
/// nothing asks for them: a browser would ask its user.
pub(super) fn unverified(error: &Error) -> Response<Full<Bytes>> {
    plain(error)
}

fn plain(error: &Error) -> Response<Full<Bytes>> {
    let status = match error.kind() {
        // Nothing that the sender could mend: it may come again.
        ErrorKind::Conflict => StatusCode::TOO_MANY_REQUESTS,
        kind => kind.status(),
    };
    let mut headers = HeaderMap::new();
    if let Some(after) = error.retry_after() {
        headers.insert(RETRY_AFTER, HeaderValue::from(after.as_secs().max(1)));
    }
    text(status, headers, error.to_string())
}

fn text(status: StatusCode, mut headers: HeaderMap, text: String) -> Response<Full<Bytes>> {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    make(status, headers, text.into())
}

fn make(status: StatusCode, mut headers: HeaderMap, body: Bytes) -> Response<Full<Bytes>> {
    headers::drop_hop_by_hop(&mut headers);
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
