//! Keys of providers that are fetched: certificates and key sets.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, Uri, header::CONTENT_TYPE};
use quick_cache::sync::Cache;
use tokio::sync::Semaphore;

use crate::{
    clock::{Clock, Timestamp},
    forward::{ForwardRequest, Forwarder},
    model::signatures::{KeyRequest, Keys, MAX_KEY_DOCUMENT_BYTES},
};

/// How long a key is believed.
const FRESH: Duration = Duration::from_secs(60 * 60);
/// How long a key that could not be fetched is not asked for again.
const ABSENT: Duration = Duration::from_secs(60);
/// How long fetching may take: the sender waits.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How many keys are known.
const CAPACITY: usize = 256;
/// How many are fetched at once.
const AT_ONCE: usize = 8;

/// A document, or none, and until when that is believed.
type Known = (Option<Bytes>, Timestamp);

/// Fetches keys by the forwarder, which guards addresses, and remembers them. Their hosts
/// are those that the scheme names.
#[derive(Debug)]
pub(super) struct FetchedKeys {
    known: Cache<KeyRequest, Known>,
    forwarder: Arc<dyn Forwarder>,
    clock: Arc<dyn Clock>,
    permits: Semaphore,
}

impl FetchedKeys {
    pub(super) fn new(forwarder: Arc<dyn Forwarder>, clock: Arc<dyn Clock>) -> Self {
        let permits = Semaphore::new(AT_ONCE);
        Self { known: Cache::new(CAPACITY), forwarder, clock, permits }
    }

    /// Adds what `wanted` asks for to `keys`, or that it cannot be had.
    pub(super) async fn fetch(&self, wanted: KeyRequest, keys: &mut Keys) {
        let document = match self.fresh(&wanted) {
            Some(known) => known,
            None => self.ask(&wanted).await,
        };
        match document {
            Some(document) => keys.insert(wanted, document.to_vec()),
            None => keys.insert_unavailable(wanted),
        }
    }

    fn fresh(&self, wanted: &KeyRequest) -> Option<Option<Bytes>> {
        let (document, until) = self.known.get(wanted)?;
        (self.clock.now() < until).then_some(document)
    }

    async fn ask(&self, wanted: &KeyRequest) -> Option<Bytes> {
        // Too many at once are the sender's to try again: nothing is learned of this key.
        let _permit = self.permits.try_acquire().ok()?;
        let document = self.get(wanted).await;
        let age = if document.is_some() { FRESH } else { ABSENT };
        self.known.insert(wanted.clone(), (document.clone(), self.clock.now() + age));
        document
    }

    /// Whether what is at `url` answered with 2xx: asked each time, and nothing is kept.
    pub(super) async fn confirm(&self, url: &str) -> bool {
        let (Ok(_permit), Ok(url)) = (self.permits.try_acquire(), url.parse()) else {
            return false;
        };
        let mut request = ForwardRequest::new(Method::GET, url);
        request.timeout = TIMEOUT;
        self.forwarder.forward(request).await.is_ok_and(|answer| answer.status.is_success())
    }

    async fn get(&self, wanted: &KeyRequest) -> Option<Bytes> {
        let url: Uri = wanted.url.parse().ok()?;
        let method = if wanted.body.is_some() { Method::POST } else { Method::GET };
        let mut request = ForwardRequest::new(method, url);
        if let Some(body) = &wanted.body {
            request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            request.body = Bytes::from(body.clone());
        }
        request.timeout = TIMEOUT;
        request.max_response_bytes = MAX_KEY_DOCUMENT_BYTES;
        match self.forwarder.forward(request).await {
            Ok(answer) if answer.status == StatusCode::OK && !answer.truncated => Some(answer.body),
            Ok(answer) => {
                tracing::warn!(url = wanted.url, status = %answer.status, "no key there");
                None
            }
            Err(error) => {
                tracing::warn!(url = wanted.url, %error, "a key cannot be fetched");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        TokioClock,
        forward::{Answer, ScriptedForwarder},
        model::signatures::KeyKind,
    };

    const KEYS: &str = "https://keys.example.com/set";

    fn fetched() -> (ScriptedForwarder, FetchedKeys) {
        let forwarder = ScriptedForwarder::new();
        let clock = Arc::new(TokioClock::starting_at(Timestamp::from_secs(1_700_000_000)));
        (forwarder.clone(), FetchedKeys::new(Arc::new(forwarder), clock))
    }

    fn key_at(url: &str) -> KeyRequest {
        KeyRequest { url: url.to_owned(), kind: KeyKind::Jwks, body: None }
    }

    async fn fetch(keys: &FetchedKeys, url: &str) -> Option<Bytes> {
        let wanted = key_at(url);
        keys.fetch(wanted.clone(), &mut Keys::new()).await;
        keys.known.get(&wanted).and_then(|(document, _)| document)
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_fetched_once_an_hour() {
        let (forwarder, keys) = fetched();
        forwarder.script(KEYS, [Answer::ok().body("old"), Answer::ok().body("new")]);
        for _ in 0..3 {
            assert_eq!(fetch(&keys, KEYS).await.as_deref(), Some(&b"old"[..]));
        }
        tokio::time::sleep(FRESH - Duration::from_millis(1)).await;
        assert_eq!(fetch(&keys, KEYS).await.as_deref(), Some(&b"old"[..]));
        assert_eq!(forwarder.requests_to(KEYS).len(), 1);
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(fetch(&keys, KEYS).await.as_deref(), Some(&b"new"[..]));
        let requests = forwarder.requests_to(KEYS);
        assert_eq!(requests.len(), 2);
        assert_eq!((&requests[0].method, requests[0].timeout), (&Method::GET, TIMEOUT));
        assert_eq!(requests[0].max_response_bytes, MAX_KEY_DOCUMENT_BYTES);
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_that_cannot_be_had_is_asked_for_once_a_minute() {
        let failures = [
            Answer::status(StatusCode::NOT_FOUND).body("no key"),
            Answer::status(StatusCode::FOUND),
            Answer::connection_refused(),
            Answer::ok().body(vec![b'a'; MAX_KEY_DOCUMENT_BYTES + 1]),
            Answer::ok().body("late").after(2 * TIMEOUT),
        ];
        for failure in failures {
            let (forwarder, keys) = fetched();
            forwarder.script(KEYS, [failure.clone(), Answer::ok().body("key")]);
            assert_eq!(fetch(&keys, KEYS).await, None, "{failure:?}");
            tokio::time::sleep(ABSENT - Duration::from_millis(1)).await;
            assert_eq!(fetch(&keys, KEYS).await, None, "{failure:?}");
            assert_eq!(forwarder.requests().len(), 1, "{failure:?}");
            tokio::time::sleep(Duration::from_millis(1)).await;
            assert_eq!(fetch(&keys, KEYS).await.as_deref(), Some(&b"key"[..]), "{failure:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_known_is_bounded() {
        let (forwarder, keys) = fetched();
        for number in 0..4 * CAPACITY {
            fetch(&keys, &format!("{KEYS}/{number}")).await;
        }
        assert_eq!(forwarder.requests().len(), 4 * CAPACITY);
        assert!((1..=CAPACITY).contains(&keys.known.len()), "{}", keys.known.len());
    }

    #[tokio::test(start_paused = true)]
    async fn one_too_many_at_once_is_not_asked_for_and_not_held_against_its_key() {
        let (forwarder, keys) = fetched();
        let url = |number| format!("{KEYS}/{number}");
        (0..AT_ONCE).for_each(|number| forwarder.script(&url(number), [Answer::ok().held()]));
        let keys = Arc::new(keys);
        let waiting: Vec<_> = (0..AT_ONCE)
            .map(|number| {
                let keys = Arc::clone(&keys);
                tokio::spawn(async move { fetch(&keys, &url(number)).await })
            })
            .collect();
        forwarder.received(AT_ONCE).await;
        forwarder.script(KEYS, [Answer::ok().body("key")]);
        assert_eq!(fetch(&keys, KEYS).await, None);
        assert!(!keys.confirm(KEYS).await);
        assert!(forwarder.requests_to(KEYS).is_empty());
        forwarder.release();
        for one in waiting {
            one.await.expect("no panic");
        }
        assert_eq!(fetch(&keys, KEYS).await.as_deref(), Some(&b"key"[..]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_confirmation_is_asked_each_time() {
        let (forwarder, keys) = fetched();
        forwarder.script(KEYS, [Answer::ok(), Answer::status(StatusCode::FORBIDDEN)]);
        assert!(keys.confirm(KEYS).await);
        assert!(!keys.confirm(KEYS).await);
        assert_eq!(forwarder.requests_to(KEYS).len(), 2);
    }
}
