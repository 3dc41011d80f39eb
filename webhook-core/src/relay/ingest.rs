//! Step 1: a request arrives at an input.

use std::{
    convert::Infallible,
    net::IpAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body::Body;
use http_body_util::Full;
use tower_service::Service;

use super::{
    Inner, answer, attempt::FunctionFailed, body, credentials, functions::INPUT_FAILED, headers,
    route, routes::Route, sites::Site,
};
use crate::{
    error::{Error, ErrorKind},
    function::ScriptResponse,
    id::{InputId, WebhookId},
    model::{Input, Request, ResponseFromOutput, Webhook},
    plan::Ticket,
};

/// Where a request came from: what the listener puts into the request's
/// extensions. Without it the address is unknown and no `X-Forwarded-For` is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddr {
    /// The sender's address.
    pub ip: IpAddr,
    /// Whether it came over TLS.
    pub secure: bool,
}

/// Receives webhooks at `/v1/webhooks/{input}[/extra…][?query]` (wire.md section 4).
///
/// A tower service that is always ready and never fails: every refusal is an
/// answer. A clone shares everything. A 2xx static answer leaves only after the
/// webhook is durable in the store. A request that is dropped half-way is stored
/// whole or not at all.
#[derive(Clone, Debug)]
pub struct IngestService {
    relay: Arc<Inner>,
}

impl IngestService {
    pub(super) fn new(relay: Arc<Inner>) -> Self {
        Self { relay }
    }

    /// What [`call`](Service::call) does, for who has a place for the future.
    pub async fn receive<B>(&self, request: http::Request<B>) -> http::Response<Full<Bytes>>
    where
        B: Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        respond(&self.relay, request, None).await
    }

    pub(super) fn relay(&self) -> &Arc<Inner> {
        &self.relay
    }
}

impl<B> Service<http::Request<B>> for IngestService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Display,
{
    type Response = http::Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.receive(request).await) })
    }
}

/// The answer to a request at the relay's own address, or at a domain.
pub(super) async fn respond<B>(
    relay: &Arc<Inner>,
    request: http::Request<B>,
    site: Option<&Site>,
) -> http::Response<Full<Bytes>>
where
    B: Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    let started = tokio::time::Instant::now();
    let id = WebhookId::generate();
    let mut response = match receive(relay, id, request, site).await {
        Ok(response) => response,
        Err(error) => {
            let response = answer::refusal(&error);
            if response.status().is_server_error() {
                relay.refusals.tell(id, &error);
            }
            response
        }
    };
    if let Ok(value) = HeaderValue::try_from(id.to_string()) {
        response.headers_mut().insert("request-id", value);
    }
    relay.observer.received(response.status(), started.elapsed());
    response
}

/// The way of one webhook from its first byte to the sender's answer.
async fn receive<B>(
    relay: &Arc<Inner>,
    id: WebhookId,
    request: http::Request<B>,
    site: Option<&Site>,
) -> Result<http::Response<Full<Bytes>>, Error>
where
    B: Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    let (parts, body) = request.into_parts();
    let (input_id, extra_path) = match site {
        None => address(&relay.options.path_prefix, parts.uri.path())?,
        Some(site) => site.place(parts.uri.path()).ok_or_else(no_such_input)?,
    };
    let route = relay.route_of_input(input_id).await?.ok_or_else(no_such_input)?;
    // One of the two snapshots may be older than the other.
    let moved = |input: &&Input| site.is_some_and(|site| site.name != input.spec.custom_domain);
    let input = route.input(input_id).filter(|input| !moved(input)).ok_or_else(no_such_input)?;
    admit(relay, &route, &parts.headers)?;

    let limit = if route.bucket.spec.large_webhooks {
        relay.options.max_large_body_bytes
    } else {
        relay.options.max_body_bytes
    };
    let (body, receiving) =
        body::read(body, &parts.headers, limit, &relay.receiving, relay.options.body_timeout)
            .await?;

    let ticket = match &relay.limits {
        Some(limits) => limits.admit(route.bucket.account_id).await?,
        None => Ticket::default(),
    };
    let client = parts.extensions.get::<ClientAddr>().copied();
    let headers = headers::received(parts.headers, &parts.uri, &route.bucket.spec.auth)?;
    let mut webhook = Webhook {
        id,
        account_id: route.bucket.account_id,
        bucket_id: route.bucket.id,
        input_id,
        request: Request {
            method: parts.method,
            extra_path: extra_path.to_owned(),
            raw_query: parts.uri.query().unwrap_or_default().to_owned(),
            headers,
            body,
        },
        remote_addr: client.map(|client| client.ip),
        secure: client.is_some_and(|client| client.secure),
        ephemeral: route.bucket.spec.ephemeral,
        input_execution_id: None,
        received_at: relay.clock.now(),
    };

    let mut set_by_function = None;
    if let Some(function) = input.spec.function_id {
        // Boxed, as all functions are: rare, and too large for every webhook to carry.
        let running = relay.run_input_function(function, &route.bucket, input, &mut webhook);
        match Box::pin(running).await {
            Ok(InputVerdict { response, stop }) => {
                set_by_function = response;
                if stop {
                    relay.keep(webhook, &route, "stopped by the input function", true).await?;
                    ticket.used();
                    return Ok(answer::scripted_or_static(set_by_function.as_ref(), input));
                }
            }
            // As with every 503 nothing is stored: the sender comes again.
            Err(FunctionFailed { reason, retryable: true, .. }) => {
                return Err(Error::unavailable(reason, std::time::Duration::from_secs(1)));
            }
            // The sender learns that it failed; the reason is the account's.
            Err(FunctionFailed { reason, execution_id, .. }) => {
                webhook.input_execution_id = execution_id;
                relay.keep(webhook, &route, &reason, false).await?;
                ticket.used();
                return Err(Error::new(ErrorKind::Internal, INPUT_FAILED).caused_by(reason));
            }
        }
    }
    drop(receiving);

    let wanted = match &set_by_function {
        Some(_) => ResponseFromOutput::Static,
        None => input.spec.response_from_output,
    };
    let legs = route::legs(&route, &webhook);
    let awaited = relay.accept(webhook, &route, &legs, wanted).await?;
    ticket.used();
    match awaited {
        Some(mut awaited) => {
            let first = awaited.expected.first();
            match tokio::time::timeout(awaited.patience, first).await {
                Ok(Some(destination)) => Ok(answer::of_destination(destination)),
                Ok(None) | Err(_) => Ok(answer::scripted_or_static(None, input)),
            }
        }
        None => Ok(answer::scripted_or_static(set_by_function.as_ref(), input)),
    }
}

/// What an input function decided.
#[derive(Debug)]
pub(super) struct InputVerdict {
    pub(super) response: Option<ScriptResponse>,
    pub(super) stop: bool,
}

fn no_such_input() -> Error {
    Error::new(ErrorKind::NotFound, "there is no input at this address")
}

/// The input and the extra path of `{prefix}{input}[/extra…]`.
fn address<'a>(prefix: &str, path: &'a str) -> Result<(InputId, &'a str), Error> {
    let rest = path.strip_prefix(prefix).ok_or_else(no_such_input)?;
    let (input, extra) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    Ok((input.parse().map_err(|_| no_such_input())?, extra))
}

/// What can be refused before the body is read.
fn admit(relay: &Inner, route: &Route, headers: &HeaderMap) -> Result<(), Error> {
    if route.bucket.suspended {
        return Err(Error::busy("this bucket is suspended", std::time::Duration::from_secs(60)));
    }
    if !credentials::admitted(&route.bucket.spec.auth, headers) {
        return Err(Error::new(ErrorKind::Unauthorized, "Unauthorized"));
    }
    if headers.get_all(header::HOST).iter().nth(1).is_some() {
        return Err(Error::invalid("Host", "the header is given more than once"));
    }
    route::enabled(&route.bucket)
        .filter(|output| !output.spec.internal)
        .try_for_each(|output| relay.dispatch.has_room(output, &relay.options))
}

impl Input {
    /// The status of the static answer.
    pub(super) fn static_status(&self) -> StatusCode {
        StatusCode::from_u16(self.spec.status_code).unwrap_or(StatusCode::OK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_prefix_input_and_the_rest_as_it_came() {
        let id = InputId::generate();
        let of =
            |path: &str| address("/v1/webhooks/", path).map(|(id, extra)| (id, extra.to_owned()));
        assert_eq!(of(&format!("/v1/webhooks/{id}")).expect("bare"), (id, String::new()));
        assert_eq!(of(&format!("/v1/webhooks/{id}/")).expect("slash"), (id, "/".to_owned()));
        assert_eq!(
            of(&format!("/v1/webhooks/{id}/a%2Fb//c/..")).expect("extra"),
            (id, "/a%2Fb//c/..".to_owned())
        );
        for wrong in ["/v1/webhooks/", "/v1/webhooks/nope", "/v2/webhooks/x", "/", ""] {
            assert_eq!(of(wrong).expect_err(wrong).kind(), ErrorKind::NotFound);
        }
    }
}
