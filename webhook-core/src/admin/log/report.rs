//! What consumers say became of webhooks.

use std::time::Duration;

use futures_util::future::join_all;

use super::{Admin, Caller, DrainQuery, drain, query::within};
use crate::{
    error::{Error, ErrorKind},
    id::DeliveryId,
    model::{Acknowledgement, DeliveryStatus, Log, LogReport},
    store::{ClientReport, Reported},
};

impl Admin {
    /// Takes what a client did with a webhook. Everybody who may subscribe may
    /// report, also an access token without API access. A second final report
    /// changes nothing.
    pub async fn report(
        &self,
        caller: &Caller,
        id: DeliveryId,
        report: LogReport,
    ) -> Result<Log, Error> {
        let LogReport {
            status,
            status_code,
            response_body,
            response_headers,
            retries,
            duration_ms,
            lease,
        } = report;
        if status_code > 999 {
            return Err(Error::invalid("status_code", "must be at most 999"));
        }
        let status = status.unwrap_or(match status_code {
            200..=300 => DeliveryStatus::Sent,
            _ => DeliveryStatus::Failed,
        });
        let lease = prolonged(status, lease)?;
        if caller.is_scoped() {
            self.reached_log(caller, id).await?;
        }
        let report = ClientReport {
            id,
            now: self.now(),
            status,
            status_code,
            response_headers: response_headers.0,
            response_body,
            retries,
            duration: Duration::from_millis(duration_ms),
            lease,
        };
        Ok(self.relay.report(caller.account_id(), report).await?.log)
    }

    /// Takes one report for many webhooks and returns those that it counted for: the others
    /// are not there, were reported on before, or are not for clients. Who may
    /// [`report`](Self::report) may do this.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) for less than one and more than
    /// [`MAX_LIMIT`](DrainQuery::MAX_LIMIT) webhooks; [`Forbidden`](ErrorKind::Forbidden) when one
    /// is out of the caller's scope, and then none is reported on.
    pub async fn acknowledge(
        &self,
        caller: &Caller,
        acknowledgement: Acknowledgement,
    ) -> Result<Vec<DeliveryId>, Error> {
        let Acknowledgement { mut ids, status, lease } = acknowledgement;
        within("ids", ids.len(), 1..=DrainQuery::MAX_LIMIT)
            .map_err(|_| Error::invalid("ids", "must be 1 to 100 IDs of logs"))?;
        let status = status.unwrap_or(DeliveryStatus::Sent);
        let lease = prolonged(status, lease)?;
        ids.sort_unstable();
        ids.dedup();
        if caller.is_scoped() {
            for id in &ids {
                match self.reached_log(caller, *id).await {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        let now = self.now();
        // At once, so that they share a commit.
        let reports = join_all(ids.iter().map(|id| {
            let report = ClientReport { lease, ..ClientReport::new(*id, now, status) };
            self.relay.report(caller.account_id(), report)
        }));
        let mut taken = Vec::with_capacity(ids.len());
        for (id, reported) in ids.iter().zip(reports.await) {
            match reported {
                Ok(Reported { taken: true, .. }) => taken.push(*id),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(taken)
    }
}

/// How much longer a client has what it has leased; zero says nothing.
fn prolonged(status: DeliveryStatus, lease: Duration) -> Result<Option<Duration>, Error> {
    if lease.is_zero() {
        return Ok(None);
    }
    if status != DeliveryStatus::Preparing {
        return Err(Error::invalid("lease", "goes with the status preparing only"));
    }
    drain::lease(lease).map(Some)
}
