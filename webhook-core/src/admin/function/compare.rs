//! What a candidate for a function would do with stored webhooks.

use std::time::{Duration, Instant};

use super::super::{Admin, Caller, log::within};
use crate::{
    error::Error,
    id::{BucketId, FunctionId},
    model::{
        Bucket, CompareRequest, Comparison, Difference, Log, Output, Request, TraceFunctionOutcome,
        TriedRun,
    },
    relay::{Candidate, Functions, Tried},
    rule::RequestChanges,
    store::{BucketStore, LogCursor, LogFilter, LogQuery, LogSearch, LogsFound},
};

impl Admin {
    /// Runs a candidate for a function on the newest webhooks of the outputs that the function is
    /// attached to, as they came to it, and then the function as it is saved. Nothing is
    /// stored: requests are refused, and each of the two has a copy of the function's values,
    /// which is thrown away.
    ///
    /// It looks for webhooks within the bounds of a [search](Admin::search_logs), and runs for
    /// [`max_search_time`](super::super::AdminOptions::max_search_time): ask again with
    /// [`next_cursor`](Comparison::next_cursor). Webhooks whose content is erased are left out.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) for a source that does not compile, and a field that
    /// is out of its bounds;
    /// [`Busy`](crate::ErrorKind::Busy) when the account has all of its runs or searches.
    pub async fn compare_function(
        &self,
        caller: &Caller,
        id: FunctionId,
        request: CompareRequest,
    ) -> Result<Comparison, Error> {
        caller.require_account()?;
        let CompareRequest { payload, driver, last, cursor } = request;
        within("last", last, 1..=CompareRequest::MAX_LAST)?;
        let before = (!cursor.is_empty()).then(|| cursor.parse::<LogCursor>());
        let before = before.transpose().map_err(|error| Error::invalid("cursor", error))?;
        self.owned_function(caller, id).await?;
        let account = caller.account_id();
        let _running = self.enter_run(account)?;
        let source = self.unsaved(driver, payload).await?;
        let buckets = self.stores.documents.buckets(account).await?;
        let Some(search) = self.webhooks_of(id, &buckets, before, last) else {
            return Ok(Comparison::default());
        };
        let _searching = self.enter_search(account)?;
        let found = self.stores.logs.search(account, &search).await?;
        let functions = &self.relay.functions;
        let mut compare = Compare {
            functions,
            id,
            saved: Candidate::saved(),
            candidate: functions.candidate(account, id, driver, source).await?,
            told: Comparison::default(),
        };
        compare.run(&buckets, found, self.options.max_search_time).await?;
        Ok(compare.told)
    }

    /// The newest webhooks of the outputs that have the function; none without such an output.
    fn webhooks_of(
        &self,
        id: FunctionId,
        buckets: &[Bucket],
        before: Option<LogCursor>,
        last: usize,
    ) -> Option<LogSearch> {
        let mut filter = LogFilter::default();
        let mut within: Vec<BucketId> = Vec::new();
        for bucket in buckets {
            let used = bucket.outputs.iter().filter(|output| output.spec.function_id == Some(id));
            let known = filter.outputs.len();
            filter.outputs.extend(used.map(|output| output.id));
            if filter.outputs.len() > known {
                within.push(bucket.id);
            }
        }
        let bucket_id = match *within {
            [] => return None,
            [only] => Some(only),
            _ => None,
        };
        let query = LogQuery { bucket_id, before, ..LogQuery::new(last) };
        Some(LogSearch::new(query, filter, self.scan_bounds()))
    }
}

/// A comparison under way.
#[derive(Debug)]
struct Compare<'a> {
    functions: &'a Functions,
    id: FunctionId,
    saved: Candidate,
    candidate: Candidate,
    told: Comparison,
}

impl Compare<'_> {
    /// Runs both on the webhooks that were found, at least on one, until the time is up.
    async fn run(
        &mut self,
        buckets: &[Bucket],
        found: LogsFound,
        max_time: Duration,
    ) -> Result<(), Error> {
        let started = Instant::now();
        let mut until = found.scanned_until.filter(|_| !found.complete);
        let mut logs = found.logs.into_iter();
        while let Some(log) = logs.next() {
            let mut bucket = buckets.iter().filter(|bucket| bucket.id == log.webhook.bucket_id);
            let place = bucket.next().zip(log.delivery.output_id);
            let place = place.and_then(|(bucket, id)| Some((bucket, bucket.output(id)?)));
            let is_erased = log.webhook.ephemeral && log.delivery.status.is_final();
            let Some((bucket, output)) = place.filter(|_| !is_erased) else { continue };
            self.run_on(bucket, output, &log).await?;
            if started.elapsed() >= max_time && logs.len() > 0 {
                until = Some(LogCursor::of(&log));
                break;
            }
        }
        self.told.next_cursor = until.map(|place| place.to_string()).unwrap_or_default();
        Ok(())
    }

    /// Runs both on one webhook, and counts what they did.
    async fn run_on(&mut self, bucket: &Bucket, output: &Output, log: &Log) -> Result<(), Error> {
        let Self { functions, id, saved, candidate, told } = self;
        let webhook = &log.webhook;
        let run =
            |trial: &Candidate| functions.try_on(*id, bucket, output, webhook, Some(trial.clone()));
        let saved = run(saved).await?;
        let candidate = run(candidate).await?;
        told.compared += 1;
        let outcome = candidate.outcome();
        *match outcome {
            TraceFunctionOutcome::Unmodified => &mut told.unmodified,
            TraceFunctionOutcome::Stopped => &mut told.stopped,
            TraceFunctionOutcome::Error => &mut told.failed,
            _ => &mut told.changed,
        } += 1;
        let left = (leaves(&saved, &webhook.request), leaves(&candidate, &webhook.request));
        if saved.outcome() == outcome && left.0 == left.1 {
            return Ok(());
        }
        told.different += 1;
        if told.differences.len() < Comparison::MAX_DIFFERENCES {
            let changes = RequestChanges::between(left.0, left.1);
            let changes = if webhook.ephemeral { changes.without_values() } else { changes };
            told.differences.push(Difference {
                log_id: log.delivery.id,
                output_id: output.id,
                saved: ended(&saved),
                candidate: ended(&candidate),
                changes: changes.list,
                cut: changes.cut,
            });
        }
        Ok(())
    }
}

/// The request that the function leaves; the request as it came, where the function stops or fails.
fn leaves<'r>(tried: &'r Tried, received: &'r Request) -> &'r Request {
    tried.request.as_ref().filter(|_| !tried.stop).unwrap_or(received)
}

fn ended(tried: &Tried) -> TriedRun {
    TriedRun { outcome: tried.outcome(), error: tried.error.clone().unwrap_or_default() }
}
