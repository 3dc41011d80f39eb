//! How it stands with outputs.

use std::time::Duration;

use super::{Admin, Caller, log::before};
use crate::{
    error::Error,
    id::{BucketId, OutputId},
    model::{DeliveryStatus, OutputState},
    store::CountQuery,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How far back logs are counted that have no end.
const DAYS: u32 = 366;

impl Admin {
    /// How it stands with an output. It is read off the counts of logs, a row for each day of
    /// an output and a status, so that it costs the same with few webhooks and with many.
    pub async fn output_state(
        &self,
        caller: &Caller,
        bucket_id: BucketId,
        id: OutputId,
    ) -> Result<OutputState, Error> {
        let bucket = self.owned_bucket(caller, bucket_id).await?;
        if !bucket.outputs.iter().any(|output| output.id == id) {
            return Err(Error::not_found("output"));
        }
        let (account, now) = (caller.account_id(), self.now());
        let open = CountQuery {
            bucket_id: Some(bucket_id),
            output_id: Some(id),
            status: Some(DeliveryStatus::Received),
            from: Some(before(now, DAY * DAYS)),
            ..CountQuery::default()
        };
        let days = self.stores.logs.days(account, &open).await?;
        let mut oldest_waiting_at = None;
        if let Some(first) = days.iter().find(|day| day.received > 0) {
            let of_day = CountQuery { from: Some(first.day), to: Some(first.day + DAY), ..open };
            let minutes = self.stores.logs.minutes(account, &of_day).await?;
            let first = minutes.iter().find(|minute| minute.counts.values().any(|logs| *logs > 0));
            oldest_waiting_at = first.map(|first| first.minute);
        }
        let (circuit, circuit_tries_at) = self.relay.circuit(id);
        let waiting = days.iter().map(|day| day.received).sum();
        Ok(OutputState { waiting, oldest_waiting_at, circuit, circuit_tries_at })
    }
}
