//! The operations, each written once for every database.

mod accept;
mod claim;
mod drain;
mod kv;
pub(crate) mod lease;
mod purge;
mod record;
mod redeliver;
mod replay;
mod report;
mod seen;
mod settle;

#[cfg(feature = "postgres")]
pub(crate) use self::purge::remove_unneeded;
pub(crate) use self::{
    accept::Incoming,
    claim::{Taken, give_up},
    drain::waiting,
    kv::read as read_kv,
    purge::{Purge, Purged},
    record::{Record, WithRuns},
    replay::{Change as ChangeReplay, Feed as FeedOp},
    settle::forget,
};
#[cfg(all(test, feature = "sqlite"))]
pub(super) use self::{
    claim::{NEXT_DUE, by_due, by_receipt},
    record::TRIM,
    settle::SETTLE,
};
