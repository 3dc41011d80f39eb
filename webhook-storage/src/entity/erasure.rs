//! Erasures.

use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, BucketId, ErasureId, Error, WebhookId,
    model::{Erasure, ErasureSpec, ReplayStatus},
};

use super::{json, millis, moment, table};
use crate::fault::Row as Place;

table! {
    /// A row of the table.
    Model in "erasure" {
        id: Uuid,
        account_id: Uuid,
        bucket_id: Option<Uuid>,
        status: String,
        error: String,
        found: i64,
        erased: i64,
        withdrawn: i64,
        /// The webhooks, as JSON.
        in_flight: String,
        created_at: i64,
        finished_at: Option<i64>,
        place: String,
        spec: String,
        wakes_at: Option<i64>,
    }
}

impl Model {
    /// An erasure that no node holds.
    pub(crate) fn of(erasure: &Erasure) -> Result<Self, Error> {
        let Erasure { id, account_id, bucket_id, status, error, found, erased, .. } = erasure;
        let Erasure { withdrawn, in_flight, created_at, finished_at, cursor, spec, .. } = erasure;
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        Ok(Self {
            id: id.as_uuid(),
            account_id: account_id.as_uuid(),
            bucket_id: bucket_id.map(|id| id.as_uuid()),
            status: status.as_str().to_owned(),
            error: super::delivery::text(error),
            found: number(*found),
            erased: number(*erased),
            withdrawn: number(*withdrawn),
            in_flight: json(in_flight)?,
            created_at: millis(*created_at),
            finished_at: finished_at.map(millis),
            place: cursor.clone(),
            spec: json(spec)?,
            wakes_at: (*status == ReplayStatus::Running).then_some(millis(*created_at)),
        })
    }

    pub(crate) fn read(self) -> Result<Erasure, Error> {
        let row = Place { table: "erasure", id: self.id };
        let status = ReplayStatus::from_wire(&self.status).ok_or("no such status");
        let in_flight: Result<Vec<WebhookId>, _> = serde_json::from_str(&self.in_flight);
        let spec: Result<ErasureSpec, _> = serde_json::from_str(&self.spec);
        Ok(Erasure {
            id: ErasureId::from_uuid(self.id),
            account_id: AccountId::from_uuid(self.account_id),
            bucket_id: self.bucket_id.map(BucketId::from_uuid),
            status: row.read("status", status)?,
            error: self.error,
            found: self.found.unsigned_abs(),
            erased: self.erased.unsigned_abs(),
            withdrawn: self.withdrawn.unsigned_abs(),
            in_flight: row.read("in_flight", in_flight)?,
            created_at: moment(self.created_at),
            finished_at: self.finished_at.map(moment),
            cursor: self.place,
            spec: row.read("spec", spec)?,
        })
    }
}
