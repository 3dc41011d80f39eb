//! How much of what waited for the agent has been delivered.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use http::Method;
use webhook_core::{Clock, SystemClock};

use super::{
    Broken,
    api::{Api, Place},
    progress::Progress,
};

/// Webhooks are counted that were received so long ago at most; the server counts no longer ones.
const COUNTED: Duration = Duration::from_secs(7 * 24 * 60 * 60 - 120);

/// What waited when the agent connected, until it has been delivered.
#[derive(Debug, Default)]
pub(super) struct CatchUp(Mutex<Option<Waiting>>);

#[derive(Debug)]
struct Waiting {
    progress: Progress,
    total: u64,
    delivered: u64,
}

impl CatchUp {
    /// Shows what waits for the output, if anything does.
    pub(super) async fn begin(&self, api: &Api, place: &Place) -> Result<(), Broken> {
        let Place { bucket_id, output_id, .. } = place;
        let since = SystemClock.now().as_secs() - COUNTED.as_secs().cast_signed();
        let path = format!(
            "/v1/logs/histogram?bucket_id={bucket_id}&output_id={output_id}&status=received\
             &from={since}"
        );
        let minutes = api.json(Method::GET, &path, None).await?;
        let minutes = minutes["buckets"].as_array().into_iter().flatten();
        let total = minutes.filter_map(|minute| minute["total"].as_u64()).sum();
        self.end();
        if total > 0 {
            let mut progress = Progress::new("caught up", Some(total));
            progress.set(0, "");
            let waiting = Waiting { progress, total, delivered: 0 };
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(waiting);
        }
        Ok(())
    }

    /// A webhook has been delivered. They come in the order of their receipt: those that waited
    /// first, as far as no other agent gets them.
    pub(super) fn delivered(&self) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Waiting { progress, total, delivered }) = &mut *waiting else { return };
        *delivered += 1;
        progress.set(*delivered, "");
        if delivered >= total {
            drop(waiting);
            self.end();
        }
    }

    /// Whether anything is shown.
    pub(super) fn is_shown(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Nothing more of what waited comes.
    pub(super) fn end(&self) {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Waiting { progress, delivered, .. }) = waiting {
            progress.finish(delivered, "");
        }
    }

    /// Prints a line on standard output, above the bar if there is one.
    pub(super) fn say(&self, line: &str) {
        self.above(|| super::say(line));
    }

    /// The same on standard error.
    pub(super) fn note(&self, line: &str) {
        self.above(|| eprintln!("{line}"));
    }

    fn above(&self, print: impl FnOnce()) {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(waiting) => waiting.progress.aside(print),
            None => print(),
        }
    }
}
