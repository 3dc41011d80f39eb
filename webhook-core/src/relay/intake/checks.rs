//! What an input asks of a webhook before its function sees it: from whom it is, and
//! whether it came before.

use std::{sync::Arc, time::Duration};

use http::{Uri, header::HOST};

use super::{fetched::FetchedKeys, refused::RefusedLogs};
use crate::{
    clock::{Clock, Timestamp},
    content,
    error::{Error, ErrorKind},
    model::{
        Bucket, Extension, Input, NotificationEvent, OnFailure, Request, SecretSpec, Webhook,
        signatures::{self, Action, Challenge, Keys, Now, Secret, Verdict, Verifier},
    },
    relay::{
        RelayParts,
        cache::{BucketCache, VerifierCache},
        watch::Watch,
    },
    store::{Change, DocumentStore, InputStore, Seen, again},
};

/// Asks what inputs ask.
#[derive(Debug)]
pub(crate) struct Checker {
    verifiers: VerifierCache,
    pub(super) keys: FetchedKeys,
    refused: RefusedLogs,
    /// Where a handshake's secret goes.
    documents: Arc<dyn DocumentStore>,
    buckets: Arc<BucketCache>,
    watch: Arc<Watch>,
    pub(super) clock: Arc<dyn Clock>,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Checked {
    /// It goes on, unless one of these was seen before.
    Passed(Vec<Seen>),
    /// It is a handshake, which goes no further.
    Challenge(Challenge),
    /// It is not from whom it says it is: what its sender is told, and whether it is kept.
    Refused(Error, bool),
}

/// What must not have been seen for `webhook` to be no duplicate: nothing, if the input
/// does not deduplicate or the webhook lacks a part of the key.
fn seen(
    input: &Input,
    webhook: &Webhook,
    delivery_id: impl FnOnce() -> Option<String>,
) -> Option<Seen> {
    let spec = input.spec.deduplication.set().filter(|spec| spec.enabled)?;
    let key = spec.key_of(&webhook.request, input.spec.signature.set(), delivery_id)?;
    Some(Seen { key, until: webhook.received_at + spec.window() })
}

/// Why a webhook is not verified.
fn reason_of(verdict: Option<&Verdict>) -> signatures::Reason {
    match verdict {
        Some(Verdict::Failed(reason)) => reason.clone(),
        _ => signatures::Reason::KeyUnavailable,
    }
}

/// When a sender may try a handshake again.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How many keys may be fetched for one webhook.
pub(super) const MAX_FETCHES: usize = 3;

impl Checker {
    pub(in crate::relay) fn new(
        parts: &RelayParts,
        buckets: &Arc<BucketCache>,
        watch: &Arc<Watch>,
    ) -> Self {
        Self {
            verifiers: VerifierCache::new(parts.options.cached_routes),
            keys: FetchedKeys::new(parts.destinations.http.forwarder.clone(), parts.clock.clone()),
            refused: RefusedLogs::new(parts.options.refused_logs_per_hour),
            documents: parts.stores.documents.clone(),
            buckets: buckets.clone(),
            watch: watch.clone(),
            clock: parts.clock.clone(),
        }
    }

    /// Asks what `input` asks of `webhook`, which came to `uri`. Of an input that asks
    /// nothing, this looks at two fields.
    pub(super) async fn check(
        &self,
        bucket: &Arc<Bucket>,
        input: &Input,
        webhook: &mut Webhook,
        uri: &Uri,
    ) -> Result<Checked, Error> {
        if input.spec.signature.is_unset() && input.spec.deduplication.is_unset() {
            return Ok(Checked::Passed(Vec::new()));
        }
        let Some(verifier) = self.verifiers.of(bucket, input)? else {
            let seen = seen(input, webhook, || None).into_iter();
            return Ok(Checked::Passed(seen.collect()));
        };
        let url = public_url(webhook, uri);
        // Fetching keys is rare, and too large for every webhook to carry.
        Box::pin(self.verify(&verifier, bucket, input, webhook, &url)).await
    }

    async fn verify(
        &self,
        verifier: &Verifier,
        bucket: &Bucket,
        input: &Input,
        webhook: &mut Webhook,
        url: &str,
    ) -> Result<Checked, Error> {
        let now = now(webhook.received_at);
        let mut keys = Keys::new();
        let mut verdict = None;
        for _ in 0..=MAX_FETCHES {
            let request = signed(&webhook.request, url);
            if let Some(challenge) = verifier.challenge(&request, now, &keys) {
                return Ok(Checked::Challenge(challenge));
            }
            match verifier.verify(&request, now, &keys) {
                Verdict::NeedsKey(wanted) => self.keys.fetch(wanted, &mut keys).await,
                other => {
                    verdict = Some(other);
                    break;
                }
            }
        }
        let spec = input.spec.signature.set();
        if !matches!(verdict, Some(Verdict::Verified { .. })) {
            let (event, subject) = (NotificationEvent::SignatureFailing, input.id.as_uuid());
            let error = || format!("signature: {}", reason_of(verdict.as_ref()));
            self.watch.failed(bucket, event, subject, webhook.checks.hops, error).await;
        }
        match verdict {
            Some(Verdict::Verified { guard, .. }) => {
                webhook.checks.verified = Some(true);
                let json = json_in(&webhook.request);
                let request = read_as(signed(&webhook.request, url), json.as_deref());
                let (event, id) = (verifier.event(&request), verifier.delivery_id(&request));
                webhook.checks.event = event;
                let mut seen: Vec<_> = seen(input, webhook, || id).into_iter().collect();
                let twice = Duration::from_nanos(
                    u64::try_from(verifier.tolerance_nanos().saturating_mul(2)).unwrap_or(0),
                );
                let until = webhook.received_at + twice;
                seen.extend(guard.map(|key| Seen { key, until }));
                Ok(Checked::Passed(seen))
            }
            _ if spec.is_some_and(|spec| spec.on_failure == OnFailure::Mark) => {
                webhook.checks.verified = Some(false);
                let seen = seen(input, webhook, || None);
                Ok(Checked::Passed(seen.into_iter().collect()))
            }
            other => {
                webhook.checks.verified = Some(false);
                let reason = reason_of(other.as_ref());
                let error = Error::new(ErrorKind::Unauthorized, format!("signature: {reason}"));
                let kept = self.refused.takes(input.id, self.clock.now());
                Ok(Checked::Refused(error, kept))
            }
        }
    }

    /// Does what a handshake asks for before it is answered.
    pub(super) async fn act(
        &self,
        bucket: &Bucket,
        input: &Input,
        action: Action,
    ) -> Result<(), Error> {
        let done = match action {
            Action::Fetch { url } => self.keys.confirm(&url).await,
            Action::StoreSecret(secret) => self.store_secret(bucket, input, secret).await?,
            _ => false,
        };
        match done {
            true => Ok(()),
            false => Err(Error::unavailable("the handshake cannot be answered", RETRY_AFTER)),
        }
    }

    /// Whether the secret is the input's now: only one that has none so far takes it.
    async fn store_secret(
        &self,
        bucket: &Bucket,
        input: &Input,
        secret: Secret,
    ) -> Result<bool, Error> {
        let account = bucket.account_id;
        again(|| async {
            let stored = self.documents.input(account, bucket.id, input.id).await?;
            let Some(mut stored) = stored else { return Ok(false) };
            let Extension::Set(spec) = &mut stored.spec.signature else { return Ok(false) };
            if !spec.secrets.is_empty() {
                return Ok(false);
            }
            spec.secrets
                .push(SecretSpec { secret: secret.clone(), expires_at: Timestamp::default() });
            stored.updated_at = self.clock.now();
            let update = [Change::update(account, &stored, stored.version)?];
            self.documents.apply(&update).await?;
            self.buckets.forget(bucket);
            Ok(true)
        })
        .await
    }

    /// Whether a webhook that was refused is from whom it says by the secrets of today,
    /// however long ago that was.
    pub(in crate::relay) async fn verify_again(
        &self,
        bucket: &Arc<Bucket>,
        input: &Input,
        webhook: &mut Webhook,
        url: &str,
    ) -> Result<(), Error> {
        let Some(verifier) = self.verifiers.of(bucket, input)? else {
            webhook.checks.verified = None;
            return Ok(());
        };
        let now = now(self.clock.now());
        let mut keys = Keys::new();
        for _ in 0..=MAX_FETCHES {
            let request = signed(&webhook.request, url);
            match verifier.verify_ignoring_time(&request, now, &keys) {
                Verdict::NeedsKey(wanted) => self.keys.fetch(wanted, &mut keys).await,
                Verdict::Verified { .. } => {
                    let json = json_in(&webhook.request);
                    let event = verifier.event(&read_as(request, json.as_deref()));
                    webhook.checks.event = event;
                    webhook.checks.verified = Some(true);
                    return Ok(());
                }
                Verdict::Failed(reason) => {
                    return Err(Error::conflict(format!("signature: {reason}")));
                }
            }
        }
        Err(Error::conflict("signature: key unavailable"))
    }
}

pub(super) fn now(moment: Timestamp) -> Now {
    Now::from_unix_nanos(i128::from(moment.as_millis()) * 1_000_000)
}

/// The request as its sender signed it.
pub(super) fn signed<'a>(request: &'a Request, url: &'a str) -> signatures::Request<'a> {
    signatures::Request {
        method: request.method.as_str(),
        url,
        raw_query: &request.raw_query,
        headers: &request.headers,
        body: &request.body,
    }
}

/// The body as JSON, where its bytes are something else: what is signed are the bytes, and names
/// are in the content.
fn json_in(request: &Request) -> Option<String> {
    content::json_in(&request.headers, &request.body)
}

fn read_as<'a>(request: signatures::Request<'a>, json: Option<&'a str>) -> signatures::Request<'a> {
    signatures::Request { body: json.map_or(request.body, str::as_bytes), ..request }
}

/// The URL that the sender called, as far as it is known here.
fn public_url(webhook: &Webhook, uri: &Uri) -> String {
    let host = webhook.request.headers.get(HOST).and_then(|host| host.to_str().ok());
    let scheme = if webhook.secure { "https" } else { "http" };
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    format!("{scheme}://{}{path}", host.unwrap_or_default())
}

/// The URL of a stored request: that of its input, at its own domain if it came there.
pub(in crate::relay) fn stored_url(
    request: &Request,
    secure: bool,
    input: &Input,
    prefix: &str,
) -> String {
    let host = request.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let domain = &input.spec.custom_domain;
    let path = match !domain.is_empty() && host.split(':').next() == Some(domain) {
        true if input.spec.strip_path_prefix => {
            format!("{}{}", input.spec.prefix(), request.extra_path)
        }
        true => request.extra_path.clone(),
        false => format!("{prefix}{}{}", input.id, request.extra_path),
    };
    let scheme = if secure { "https" } else { "http" };
    let separator = if request.raw_query.is_empty() { "" } else { "?" };
    format!("{scheme}://{host}{path}{separator}{}", request.raw_query)
}
