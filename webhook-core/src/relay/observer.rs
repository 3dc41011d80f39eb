//! What a relay tells about itself while it works, for metrics.

use std::{fmt, time::Duration};

use crate::model::DeliveryStatus;

/// Is told what happens on the way of each webhook. Called inline: count and return.
pub trait Observer: Send + Sync + fmt::Debug {
    /// A webhook was answered with `status` after `took`.
    fn received(&self, status: http::StatusCode, took: Duration) {
        let _ = (status, took);
    }

    /// An attempt ended, leaving the delivery in `status` (`Received` when it is tried again).
    fn attempted(&self, status: DeliveryStatus, took: Duration) {
        let _ = (status, took);
    }

    /// `count` deliveries more wait for an attempt or its end (fewer when negative).
    fn pending(&self, count: i64) {
        let _ = count;
    }
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}
