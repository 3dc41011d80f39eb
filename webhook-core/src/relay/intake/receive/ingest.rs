//! Step 1: a request arrives at an input.

use std::{
    convert::Infallible,
    net::IpAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use http_body::Body;
use http_body_util::Full;
use tower_service::Service;

use super::{body, credentials, refusals::Refusals, response};
use crate::{
    clock::Ids,
    cluster::{Change, Content, To},
    error::{Error, ErrorKind, invalid_if},
    forward::path,
    id::{AccountId, InputId, WebhookId},
    model::{Bucket, Checks, Input, Request, ResponseFromOutput, Webhook, hops},
    relay::{
        Observer, RelayOptions, RelayParts,
        byte_semaphore::ByteSemaphore,
        cache::{BucketCache, DomainCache, DomainRoutes},
        cluster::Cluster,
        deliver::outgoing,
        headers,
        intake::{
            accept::{Intake, PendingResponse, Taken},
            checks::{Checked, Checker},
            route,
            stage::InputDecision,
        },
        loops,
        parts::quota::{Quota, Ticket},
    },
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

/// Receives webhooks at `/v1/webhooks/{input}[/extra…][?query]`, or those
/// of a [`domain`](Self::domain).
///
/// A tower service that is always ready and never fails: every refusal is an
/// answer. A clone shares everything. A 2xx static answer leaves only after the
/// webhook is durable in the store. A request that is dropped half-way is stored
/// whole or not at all.
#[derive(Clone, Debug)]
pub struct IngestService {
    pub(super) receiver: Arc<Receiver>,
    /// Without one the path names the input.
    pub(super) domain: Option<Arc<DomainRoutes>>,
}

impl IngestService {
    pub(crate) fn new(receiver: Arc<Receiver>) -> Self {
        Self { receiver, domain: None }
    }

    /// What [`call`](Service::call) does, for who has a place for the future.
    pub async fn receive<B>(&self, request: http::Request<B>) -> http::Response<Full<Bytes>>
    where
        B: Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        self.receiver.respond(request, self.domain.as_deref()).await
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

/// Receives webhooks.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) buckets: Arc<BucketCache>,
    pub(crate) domains: DomainCache,
    /// How many webhooks a month accounts may receive; none for any number.
    pub(crate) quota: Option<Arc<dyn Quota>>,
    pub(crate) cluster: Option<Arc<Cluster>>,
    /// Bounds the bodies that are being received.
    pub(crate) body_bytes: ByteSemaphore,
    pub(crate) checker: Arc<Checker>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) refusals: Arc<Refusals>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) ids: Arc<Ids>,
    pub(crate) options: Arc<RelayOptions>,
}

impl Receiver {
    pub(crate) fn new(
        parts: &RelayParts,
        buckets: &Arc<BucketCache>,
        checker: &Arc<Checker>,
        intake: &Arc<Intake>,
        cluster: &Option<Arc<Cluster>>,
    ) -> Self {
        let (options, documents) = (&parts.options, parts.stores.documents.clone());
        Self {
            buckets: buckets.clone(),
            domains: DomainCache::new(options.cached_domains, parts.max_age(), documents),
            quota: parts.quota.clone(),
            cluster: cluster.clone(),
            body_bytes: ByteSemaphore::new(options.max_receiving_bytes),
            checker: checker.clone(),
            intake: intake.clone(),
            refusals: Arc::default(),
            observer: parts.observer.clone(),
            ids: parts.ids.clone(),
            options: options.clone(),
        }
    }

    /// The answer to a request at the relay's own address, or at a domain.
    pub(super) async fn respond<B>(
        &self,
        request: http::Request<B>,
        domain: Option<&DomainRoutes>,
    ) -> http::Response<Full<Bytes>>
    where
        B: Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        let started = tokio::time::Instant::now();
        let mut received = None;
        let answered = self.receive(&mut received, request, domain).await;
        // What is refused before it is received has a name in the answer, too.
        let id = received.unwrap_or_else(|| self.ids.next());
        let mut response = match answered {
            Ok(response) => response,
            Err(error) => {
                self.refusals.tell(id, &error);
                response::refusal(&error)
            }
        };
        if let Ok(value) = HeaderValue::try_from(id.to_string()) {
            response.headers_mut().insert("request-id", value);
        }
        self.observer.received(response.status(), started.elapsed());
        response
    }

    /// The way of one webhook from its first byte to the sender's answer. When
    /// it has come whole, it is `received` under an identifier.
    async fn receive<B>(
        &self,
        received: &mut Option<WebhookId>,
        request: http::Request<B>,
        domain: Option<&DomainRoutes>,
    ) -> Result<http::Response<Full<Bytes>>, Error>
    where
        B: Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        let (parts, body) = request.into_parts();
        let (input_id, extra_path) = match domain {
            None => address(&self.options.path_prefix, parts.uri.path())?,
            Some(domain) => domain.input_of(parts.uri.path()).ok_or_else(no_such_input)?,
        };
        let bucket = self.buckets.of_input(input_id).await?.ok_or_else(no_such_input)?;
        // One of the two snapshots may be older than the other.
        let moved = |input: &&Input| domain.is_some_and(|it| it.name != input.spec.custom_domain);
        let input =
            bucket.input(input_id).filter(|input| !moved(input)).ok_or_else(no_such_input)?;
        let hops = hops::of(&parts.headers);
        self.admit(&bucket, &parts.headers, hops)?;
        if path::climbs(extra_path) {
            return Err(Error::invalid("path", outgoing::CLIMBS));
        }

        let limit = self.options.body_limit(bucket.spec.large_webhooks);
        let timeout = self.options.body_timeout;
        let reading = body::read(body, &parts.headers, limit, &self.body_bytes, timeout);
        let (body, receiving) = reading.await?;

        let ticket = self.room(bucket.account_id).await?;
        let client = parts.extensions.get::<ClientAddr>().copied();
        let headers = headers::received(parts.headers, &parts.uri, &bucket.spec.auth)?;
        let (id, received_at) = self.ids.next_and_moment();
        *received = Some(id);
        let place = (bucket.account_id, bucket.id, input_id);
        let request = Request {
            extra_path: extra_path.to_owned(),
            raw_query: parts.uri.query().unwrap_or_default().to_owned(),
            ..Request::new(parts.method, headers, body)
        };
        let mut webhook = Webhook {
            remote_addr: client.map(|client| client.ip),
            secure: client.is_some_and(|client| client.secure),
            ephemeral: bucket.spec.ephemeral,
            checks: Checks { hops, ..Checks::default() },
            ..Webhook::new(id, place, request, received_at)
        };

        let checked = self.checker.check(&bucket, input, &mut webhook, &parts.uri).await?;
        // Only now: a relay behind another one may find duplicates by its marks.
        headers::drop_marks(&mut webhook.request.headers);
        let seen = match checked {
            Checked::Passed(seen) => seen,
            Checked::Challenge(mut challenge) => {
                if let Some(action) = challenge.action.take() {
                    self.checker.act(&bucket, input, action).await?;
                }
                tracing::info!(bucket = %bucket.id, input = %input.id, "handshake answered");
                return Ok(response::of_challenge(challenge));
            }
            Checked::Refused(error, kept) => {
                if kept {
                    self.intake.keep_refused(webhook, &bucket, &error).await;
                }
                return Ok(response::unverified(&error));
            }
        };

        let InputDecision { response: set_by_function, end, runs } =
            self.intake.stage(&bucket, Some(input), &mut webhook).await?;
        if let Some(end) = end {
            let has_failed = webhook.input_failed;
            self.intake.keep(webhook, runs, &bucket, &end).await?;
            ticket.used();
            // The sender learns that the function failed; the reason is the account's.
            return Ok(if has_failed {
                self.refusals.of_function(id)
            } else {
                response::scripted_or_static(set_by_function.as_ref(), input)
            });
        }
        drop(receiving);

        let wanted = match &set_by_function {
            Some(_) => ResponseFromOutput::Static,
            None => input.spec.response_from_output,
        };
        let matches = route::matches(&bucket, &webhook, &self.options)?;
        let accepting = self.intake.accept(webhook, runs, &bucket, &matches, wanted, seen);
        let pending = match accepting.await? {
            Taken::Duplicate => return Ok(response::of_duplicate(input)),
            Taken::Stored(pending) => pending,
        };
        ticket.used();
        match pending {
            Some(PendingResponse { mut waiter, timeout }) => {
                match tokio::time::timeout(timeout, waiter.first()).await {
                    Ok(Some(destination)) => Ok(response::of_destination(destination)),
                    Ok(None) | Err(_) => Ok(response::scripted_or_static(None, input)),
                }
            }
            None => Ok(response::scripted_or_static(set_by_function.as_ref(), input)),
        }
    }

    /// What can be refused before the body is read.
    fn admit(&self, bucket: &Bucket, headers: &HeaderMap, hops: u16) -> Result<(), Error> {
        if bucket.suspended {
            return Err(Error::busy("this bucket is suspended", Duration::from_secs(60)));
        }
        if !credentials::admitted(&bucket.spec.auth, headers) {
            return Err(Error::new(ErrorKind::Unauthorized, "Unauthorized"));
        }
        if let Some(why) = loops::refused(hops, &self.options) {
            return Err(Error::new(ErrorKind::Loop, why));
        }
        let reason = "the header is given more than once";
        invalid_if(headers.get_all(header::HOST).iter().nth(1).is_some(), "Host", reason)?;
        route::enabled(bucket)
            .filter(|output| !output.spec.internal)
            .try_for_each(|output| self.intake.deliverer.has_room(output))
    }
}

fn no_such_input() -> Error {
    Error::new(ErrorKind::NotFound, "there is no input at this address")
}

/// The input and the extra path of `{prefix}{input}[/extra…]`.
pub(crate) fn address<'a>(prefix: &str, path: &'a str) -> Result<(InputId, &'a str), Error> {
    let rest = path.strip_prefix(prefix).ok_or_else(no_such_input)?;
    let (input, extra) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    Ok((input.parse().map_err(|_| no_such_input())?, extra))
}

impl Receiver {
    /// Room for one more webhook in the account's month. Other nodes are told of the first
    /// refusal, so that they look in the store before they let through another one.
    pub(super) async fn room(&self, account: AccountId) -> Result<Ticket, Error> {
        let Some(quota) = &self.quota else { return Ok(Ticket::default()) };
        let admitted = quota.admit(account).await;
        if admitted.is_err()
            && quota.is_used_up(account)
            && let Some(cluster) = &self.cluster
        {
            cluster.tell(To::All, Content::Changed(Change::Plan(account)));
        }
        admitted
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
