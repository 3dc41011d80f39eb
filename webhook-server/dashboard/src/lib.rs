//! The dashboard of the webhook forwarding service: pages for people, as an axum router.
//!
//! It does what the API does, through the same [`Admin`]:
//! the same checks, the same scopes, no query of its own. Every page works without
//! script; nothing is loaded from elsewhere, and the content security policy allows
//! no inline script or style. What a webhook carries is only ever shown as text.
//!
//! ```
//! use webhook_core::{
//!     Webhooks,
//!     store::{Stores, memory::MemoryStore},
//! };
//! use webhook_dashboard::{Dashboard, DashboardOptions, SessionKey};
//!
//! let webhooks = Webhooks::builder(Stores::of(MemoryStore::default())).build();
//! let mut options = DashboardOptions::new(SessionKey::new([7; 32]));
//! options.input_base = "https://hooks.example.com".to_owned();
//! let dashboard = Dashboard::new(webhooks, options);
//! let app: axum::Router = axum::Router::new().merge(dashboard.router());
//! # drop(app);
//! ```
//!
//! # Where it may be mounted
//!
//! The pages are below [`PATH`]. Put them at an origin of their own: what an input
//! answers is chosen by whoever owns the input, and HTML from there could read the
//! pages with the session of whoever looks at it. Where inputs and the dashboard share
//! an origin, every answer of an input needs `Content-Security-Policy: sandbox`.
//! Cookies know no ports: take the session off what inputs receive with
//! [`strip_session`] where both have one host.

mod arriving;
mod asset;
mod bars;
mod cross_origin;
mod diff;
mod form;
mod page;
mod screen;
mod session;
mod show;
mod tries;

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{
    Router,
    extract::{Request, State},
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use tokio::{
    sync::{Semaphore, watch},
    time::sleep,
};
use webhook_core::{AccountId, Clock, Error, SystemClock, Timestamp, Webhooks, admin::Admin};

pub use session::{SessionKey, strip_session, strip_set_session};

/// The path that all pages are below.
pub const PATH: &str = "/dashboard";

/// How the dashboard is set up.
#[derive(Clone)]
#[non_exhaustive]
pub struct DashboardOptions {
    /// Seals the sessions of those who are signed in. Servers that share a store share it.
    pub session_key: SessionKey,
    /// The scheme and the host that senders reach inputs at, without a slash at its end.
    pub input_base: String,
    /// The time that sessions end by.
    pub clock: Arc<dyn Clock>,
    /// A number that changes whenever a webhook is received or attempted, so that a live
    /// list reads the log only then. Without it a live list reads the log twice a second:
    /// right where other servers share the store.
    pub activity: Option<Activity>,
    /// Requests that are answered at the same time; one more gets 503. A request whose form is
    /// still arriving does not count. 64.
    pub max_requests: usize,
    /// Live lists that are open at once; one more gets 503. 100.
    pub max_live: usize,
}

/// See [`DashboardOptions::activity`].
pub type Activity = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The last second of the certificate that this process shows to those who ask for a domain;
/// none for a domain that has no certificate of its own.
pub type CertificateEnd = Arc<dyn Fn(&str) -> Option<Timestamp> + Send + Sync>;

impl DashboardOptions {
    /// The defaults, with sessions under this key.
    #[must_use]
    pub fn new(session_key: SessionKey) -> Self {
        Self {
            session_key,
            input_base: String::new(),
            clock: Arc::new(SystemClock),
            activity: None,
            max_requests: 64,
            max_live: 100,
        }
    }
}

impl fmt::Debug for DashboardOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DashboardOptions")
            .field("input_base", &self.input_base)
            .field("max_requests", &self.max_requests)
            .field("max_live", &self.max_live)
            .finish_non_exhaustive()
    }
}

/// The dashboard of one [`Webhooks`]. A clone is a handle on the same.
#[derive(Clone, Debug)]
pub struct Dashboard {
    shared: Arc<Shared>,
}

struct Shared {
    webhooks: Webhooks,
    options: DashboardOptions,
    seal: session::Seal,
    links: session::Links,
    tries: tries::Tries,
    /// The memory for forms while they arrive.
    forms: arriving::Room,
    /// One permit for each request that may be answered at the same time.
    requests: Semaphore,
    /// One permit for each live list.
    live: Arc<Semaphore>,
    /// Whether live lists are to end.
    closed: watch::Sender<bool>,
    /// Until when the certificates of domains are valid, where this process has any.
    certificates: OnceLock<CertificateEnd>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Dashboard {
    /// The dashboard of these webhooks.
    #[must_use]
    pub fn new(webhooks: Webhooks, options: DashboardOptions) -> Self {
        let shared = Shared {
            webhooks,
            seal: session::Seal::new(&options.session_key),
            links: session::Links::default(),
            tries: tries::Tries::default(),
            forms: arriving::Room::default(),
            requests: Semaphore::new(options.max_requests.min(Semaphore::MAX_PERMITS)),
            live: Arc::new(Semaphore::new(options.max_live.min(Semaphore::MAX_PERMITS))),
            closed: watch::Sender::new(false),
            certificates: OnceLock::new(),
            options,
        };
        Self { shared: Arc::new(shared) }
    }

    /// The pages, below [`PATH`]. Requests carry a
    /// [`ClientAddr`](webhook_core::relay::ClientAddr) in their extensions where the
    /// sender's address is known: tries to sign in are counted by it, and a cookie is
    /// marked `Secure` when the request came over TLS.
    pub fn router(&self) -> Router {
        // A request passes the layers from the last to the first.
        screen::router(self)
            .layer(middleware::from_fn(to_the_end))
            .layer(middleware::from_fn_with_state(self.clone(), within_limit))
            .layer(middleware::from_fn_with_state(self.clone(), arriving::wait))
            .layer(middleware::from_fn(cross_origin::refuse))
            .layer(middleware::map_response(page::guard))
            .with_state(self.clone())
    }

    /// The path of a link that signs its first visitor in with the account's API key,
    /// within an hour. A further link takes the place of the one before.
    ///
    /// # Errors
    ///
    /// When the system has no randomness to give.
    pub fn sign_in_link(&self, account: AccountId) -> Result<String, Error> {
        let token = self.shared.links.make(account, self.shared.options.clock.now())?;
        Ok(format!("{PATH}/sign-in/{token}"))
    }

    /// Says until when the certificates of domains are valid, in a process that does the TLS of
    /// its clients itself. The first to say it counts.
    pub fn show_certificates(&self, ends: CertificateEnd) {
        // A second one is not asked.
        let _ = self.shared.certificates.set(ends);
    }

    /// Ends the live lists, which would otherwise keep their connections open.
    pub fn close(&self) {
        self.shared.closed.send_replace(true);
    }

    pub(crate) fn admin(&self) -> &Admin {
        self.shared.webhooks.admin()
    }

    pub(crate) fn webhooks(&self) -> &Webhooks {
        &self.shared.webhooks
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.shared.options.clock.now()
    }

    /// The scheme and the host that clients and senders reach.
    pub(crate) fn base(&self) -> &str {
        &self.shared.options.input_base
    }

    /// The address of an input.
    pub(crate) fn input_url(&self, input: impl fmt::Display) -> String {
        format!("{}/v1/webhooks/{input}", self.shared.options.input_base)
    }
}

/// Requests beyond the limit are refused rather than queued. An answer that is held back has no
/// permit meanwhile.
async fn within_limit(
    State(dashboard): State<Dashboard>,
    request: Request,
    next: Next,
) -> Response {
    let Ok(permit) = dashboard.shared.requests.try_acquire() else {
        let error = Error::unavailable("too many requests at once", Duration::from_secs(1));
        return page::Problem::from(error).into_response();
    };
    let mut response = next.run(request).await;
    drop(permit);
    if let Some(tries::HeldBack(delay)) = response.extensions_mut().remove() {
        sleep(delay).await;
    }
    response
}

/// Finishes an operation even when its caller hangs up: otherwise a change could be
/// stored without the relay learning of it.
async fn to_the_end(request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    match tokio::spawn(next.run(request)).await {
        Ok(response) => response,
        Err(panic) => {
            tracing::error!(%panic, "a page failed");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
