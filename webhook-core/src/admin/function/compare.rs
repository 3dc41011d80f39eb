//! What a candidate for a function would do with stored webhooks.

use std::time::Instant;

use super::{
    super::{Admin, Caller, check, log::within},
    RUNNING,
};
use crate::{
    error::Error,
    id::{BucketId, FunctionId},
    model::{
        Bucket, CompareRequest, Comparison, Difference, FunctionSpec, Log, Output, Request,
        TraceFunctionOutcome, TriedRun,
    },
    relay::{Candidate, Tried},
    rule::RequestChanges,
    store::{BucketStore, LogCursor, LogFilter, LogQuery, LogSearch, LogsFound, ScanBounds},
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
    /// [`Busy`](crate::ErrorKind::Busy) when the account runs or searches too much at once.
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
        let spec = FunctionSpec::new("", driver, payload);
        check::fields(&spec)?;
        let account = caller.account_id();
        let most = self.options.max_invocations_per_account;
        let _running = self.running.enter(account, most, RUNNING)?;
        let (source, _) = self.source(driver, spec.payload).await?;
        let buckets = self.stores.documents.buckets(account).await?;
        let Some(search) = self.webhooks_of(id, &buckets, before, last) else {
            return Ok(Comparison::default());
        };
        let most = self.options.max_searches_per_account;
        let _searching = self.searching.enter(account, most, "searches running")?;
        let found = self.stores.logs.search(account, &search).await?;
        let candidate = self.relay.functions.candidate(account, id, driver, source).await?;
        let mut compared =
            Compare { id, saved: Candidate::saved(), candidate, told: Comparison::default() };
        self.run_on(&mut compared, &buckets, found).await?;
        Ok(compared.told)
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
        let bounds = ScanBounds {
            max_bytes: self.options.max_search_bytes,
            max_time: self.options.max_search_time,
        };
        Some(LogSearch::new(query, filter, bounds))
    }

    async fn run_on(
        &self,
        compare: &mut Compare,
        buckets: &[Bucket],
        found: LogsFound,
    ) -> Result<(), Error> {
        let (started, count) = (Instant::now(), found.logs.len());
        let mut until = found.scanned_until.filter(|_| !found.complete);
        for log in found.logs {
            let place = LogCursor::of(&log);
            let bucket = buckets.iter().find(|bucket| bucket.id == log.webhook.bucket_id);
            let output = log.delivery.output_id;
            let Some((bucket, output)) = bucket
                .zip(output)
                .and_then(|(bucket, output)| Some((bucket, bucket.output(output)?)))
            else {
                continue;
            };
            if log.webhook.ephemeral && log.delivery.status.is_final() {
                continue;
            }
            self.run_once(compare, bucket, output, &log).await?;
            if started.elapsed() >= self.options.max_search_time && compare.told.compared < count {
                until = Some(place);
                break;
            }
        }
        compare.told.next_cursor = until.map(|place| place.to_string()).unwrap_or_default();
        Ok(())
    }

    /// Runs both on one webhook, and counts what they did.
    async fn run_once(
        &self,
        compare: &mut Compare,
        bucket: &Bucket,
        output: &Output,
        log: &Log,
    ) -> Result<(), Error> {
        let Compare { id, saved, candidate, told } = compare;
        let (functions, webhook) = (&self.relay.functions, &log.webhook);
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

/// A comparison under way.
#[derive(Debug)]
struct Compare {
    id: FunctionId,
    saved: Candidate,
    candidate: Candidate,
    told: Comparison,
}

/// What goes on to the destination, or would if the function had no say.
fn leaves<'r>(tried: &'r Tried, received: &'r Request) -> &'r Request {
    tried.request.as_ref().filter(|_| !tried.stop).unwrap_or(received)
}

fn ended(tried: &Tried) -> TriedRun {
    TriedRun { outcome: tried.outcome(), error: tried.error.clone().unwrap_or_default() }
}
