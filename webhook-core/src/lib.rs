//! Receive, route, transform and forward webhooks, durably.
//!
//! [`Webhooks`] receive webhooks through a tower service, keep them in the stores
//! that you give them, and deliver them through a
//! [`Forwarder`](forward::Forwarder). What it promises: a webhook that was
//! acknowledged is in the store, and is attempted at least once, whatever happens
//! in between. `webhook-storage` has stores on SQLite and PostgreSQL;
//! [`store::memory`] has some for tests and for what may be forgotten.
//!
//! ```
//! use webhook_core::{
//!     Error, Webhooks,
//!     admin::Caller,
//!     forward::http::HttpForwarder,
//!     model::{BucketSpec, OutputSpec},
//!     store::{Stores, memory::MemoryStore},
//! };
//!
//! # async fn example(shutdown: impl Future<Output = ()>) -> Result<(), Error> {
//! let stores = Stores::of(MemoryStore::default());
//! let webhooks = Webhooks::builder(stores).forwarder(HttpForwarder::builder().build()).build();
//!
//! let admin = webhooks.admin();
//! let (account, _key) = admin.create_account("me", None).await?;
//! let me = Caller::for_account(account.id);
//! let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
//! let shop = OutputSpec::new("shop", "https://example.com/orders");
//! admin.create_output(&me, bucket.id, shop).await?;
//!
//! println!("webhooks go to /v1/webhooks/{}", bucket.inputs[0].id);
//! let _service = webhooks.ingest(); // for axum, hyper or any other server
//! webhooks.run(shutdown).await
//! # }
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | [`Webhooks`] | everything below, put together once |
//! | [`relay`] | the way of one webhook, one file for each step |
//! | [`model`] | plain data as it is on the wire |
//! | [`admin`] | the management operations, with the feature `admin` |
//! | [`store`] | what is asked of storage, and stores in memory |
//! | [`destination`] | kinds of destinations, and how to write one |
//! | [`forward`], [`guard`] | sending one request; which addresses may be connected to |
//! | [`credentials`] | signatures and credentials of requests to destinations |
//! | [`rule`], [`retry`] | which webhooks pass; when a delivery is tried again |
//! | [`function`] | what runs user-defined functions, and what a run is on the wire |
//! | [`cron`] | when a cron job runs |
//! | [`cluster`] | what relays over the same stores tell one another |
//! | [`plan`], [`billing`] | what an account may have; the payment processor, with `admin` |
//! | `xml` | XML as JSON, with the feature `xml` |
//! | [`encoding`] | lenient base64, for programs beside the relay |
//!
//! # Features
//!
//! `http` (on by default): the HTTP forwarder. `admin`: the management operations with their
//! models and stores, plans and billing. Without it the embedder writes buckets and outputs
//! into its store and tells the [`relay`](Webhooks::relay) of changes. `time-zones`: crons in other time zones
//! than UTC. `nats`: messages between relays over NATS. `xml`: rules on the fields of XML
//! bodies. `charsets` and `compression`: rules, searches and functions on bodies in other charsets than UTF-8 and on compressed bodies. A schedule or a webhook that needs a missing feature is refused with an error that
//! names the feature. `openapi`: `utoipa::ToSchema` for the models. `test-util`: a clock that
//! tokio's paused time moves and a forwarder that plays a script.
//!
//! `webhook-functions` runs functions in Lua and JavaScript, `webhook-generate`
//! writes them from a sample, `webhook-stripe` bills through Stripe, and
//! `webhook-conformance` has the suites that every store must pass.

// The derives name this crate by its name, inside of it as well.
extern crate self as webhook_core;

#[cfg(feature = "admin")]
pub mod admin;
#[cfg(feature = "admin")]
pub mod billing;
mod clock;
pub mod cluster;
pub mod content;
pub mod credentials;
pub mod cron;
pub mod destination;
pub mod forward;
pub mod function;
pub mod guard;
mod lock;
pub mod model;
#[cfg(feature = "admin")]
pub mod plan;
pub mod relay;
pub mod retry;
pub mod rule;
pub mod store;
mod webhooks;
mod wire;
#[cfg(feature = "xml")]
pub mod xml;

pub use crate::wire::id::{
    AccountId, BucketId, CronId, DeliveryId, DomainId, ErasureId, ExecutionId, FunctionId, Id,
    InputId, InvalidId, NodeId, NotificationId, OutputId, ReplayId, TokenId, WebhookId,
};
pub use crate::wire::{Error, ErrorKind};
use crate::wire::{error, id};
#[cfg(any(test, feature = "test-util"))]
pub use clock::TokioClock;
pub use clock::{Clock, Ids, Month, Random, SystemClock, SystemRandom, Timestamp};
use forward::body;
pub use rule::{Rule, Rules, Subject};
pub use webhooks::{Clients, Webhooks, WebhooksBuilder};

pub mod encoding {
    //! Base64 as people and programs write it, for programs beside the relay.

    pub use crate::wire::{Base64, NotBase64};
}
