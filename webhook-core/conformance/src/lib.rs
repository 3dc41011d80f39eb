//! The suites that every implementation of a store must pass.
//!
//! There is one suite per trait, and [`deletion_conformance!`] for what crosses
//! traits. A suite is one list of cases; its macro turns the list into one
//! `#[tokio::test]` per case, so it needs `tokio` with `macros` and
//! `rt-multi-thread` among the dev-dependencies. Each case asks for a store of
//! its own:
//!
//! ```
//! use webhook_conformance::Fixture;
//! use webhook_core::store::memory::MemoryStore;
//!
//! async fn make_store() -> Fixture {
//!     Fixture::new(MemoryStore::default())
//! }
//!
//! mod accounts {
//!     webhook_conformance::account_store_conformance!(super::make_store);
//! }
//! mod buckets {
//!     webhook_conformance::bucket_store_conformance!(super::make_store);
//! }
//! mod deliveries {
//!     webhook_conformance::delivery_store_conformance!(super::make_store);
//! }
//! ```
//!
//! A factory that needs something which is not there skips its cases with
//! [`Fixture::skip`]; one that has to clean up says how with
//! [`Fixture::teardown`].
//!
//! # Which stores a suite uses
//!
//! | suite | stores |
//! |---|---|
//! | [`account_store_conformance!`] | accounts |
//! | [`document_store_conformance!`] | versions, uses, counts and states of all configured things |
//! | [`bucket_store_conformance!`] | buckets |
//! | [`input_store_conformance!`] | buckets, inputs, routes |
//! | [`output_store_conformance!`] | buckets, outputs, routes |
//! | [`function_store_conformance!`] | functions, deliveries, logs |
//! | [`delivery_store_conformance!`] | deliveries |
//! | [`log_store_conformance!`] | deliveries, logs |
//! | [`token_store_conformance!`] | tokens |
//! | [`session_store_conformance!`] | sessions |
//! | [`domain_store_conformance!`] | buckets, inputs, domains |
//! | [`cron_store_conformance!`] | crons, buckets |
//! | [`notification_store_conformance!`] | notifications, buckets |
//! | [`replay_store_conformance!`] | replays, deliveries, logs |
//! | [`erasure_store_conformance!`] | erasures, deliveries, logs |
//! | [`queue_store_conformance!`] | queues, deliveries |
//! | [`billing_store_conformance!`] | billing |
//! | [`deletion_conformance!`] | buckets, outputs, deliveries, logs |
//!
//! No suite stores an account or a bucket before something that refers to it,
//! unless the table says so: only the contracts that say "not found" look at
//! what is referred to.
//!
//! [`account_store_conformance!`]: crate::account_store_conformance
//! [`document_store_conformance!`]: crate::document_store_conformance
//! [`bucket_store_conformance!`]: crate::bucket_store_conformance
//! [`input_store_conformance!`]: crate::input_store_conformance
//! [`output_store_conformance!`]: crate::output_store_conformance
//! [`function_store_conformance!`]: crate::function_store_conformance
//! [`delivery_store_conformance!`]: crate::delivery_store_conformance
//! [`log_store_conformance!`]: crate::log_store_conformance
//! [`token_store_conformance!`]: crate::token_store_conformance
//! [`session_store_conformance!`]: crate::session_store_conformance
//! [`domain_store_conformance!`]: crate::domain_store_conformance
//! [`cron_store_conformance!`]: crate::cron_store_conformance
//! [`notification_store_conformance!`]: crate::notification_store_conformance
//! [`replay_store_conformance!`]: crate::replay_store_conformance
//! [`erasure_store_conformance!`]: crate::erasure_store_conformance
//! [`queue_store_conformance!`]: crate::queue_store_conformance
//! [`billing_store_conformance!`]: crate::billing_store_conformance
//! [`deletion_conformance!`]: crate::deletion_conformance

pub mod account;
mod arbitrary;
pub mod billing;
pub mod bucket;
pub mod cron;
pub mod deletion;
pub mod delivery;
pub mod documents;
pub mod domain;
pub mod erasure;
pub mod execution;
mod fixture;
pub mod function;
pub mod input;
pub mod kv;
pub mod log;
pub mod notification;
pub mod output;
pub mod queue;
pub mod replay;
pub mod runs;
mod sample;
pub mod session;
mod suite;
#[cfg(test)]
mod tests;
pub mod token;
pub mod versions;

pub use arbitrary::{Added, ExtendedOutput, arbitrary, set_places};
pub use fixture::{CASE_TIME_LIMIT, Fixture, run};

/// The page shows the suites, so that its Rust is compiled here.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
struct Embedding;
