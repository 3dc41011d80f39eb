//! Replays.

use std::str::FromStr;

use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, BucketId, Error, ReplayId,
    model::{Replay, ReplaySpec, ReplayStatus, ReplayTotals},
};

use super::{json, millis, moment};
use crate::{
    fault::{DatabaseError, Row as Place},
    tx::{Insert, Param, Row},
};

/// The columns of a [`Model`].
pub(crate) const COLUMNS: &str = "id, account_id, bucket_id, status, error, total, outputs, \
    skipped, created_at, finished_at, place, spec, held_by, wakes_at";

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Model {
    id: Uuid,
    account_id: Uuid,
    bucket_id: Option<Uuid>,
    status: String,
    error: String,
    total: Option<i64>,
    outputs: String,
    skipped: i64,
    created_at: i64,
    finished_at: Option<i64>,
    place: String,
    spec: String,
    wakes_at: Option<i64>,
}

/// Inserts rows.
pub(crate) fn insert() -> Insert<14> {
    Insert::new("replay", COLUMNS, "")
}

impl Model {
    /// A replay that nobody holds.
    pub(crate) fn of(replay: &Replay) -> Result<Self, Error> {
        let Replay {
            id,
            account_id,
            bucket_id,
            status,
            error,
            total,
            outputs,
            totals: _,
            skipped,
            created_at,
            finished_at,
            cursor,
            spec,
        } = replay;
        Ok(Self {
            id: id.as_uuid(),
            account_id: account_id.as_uuid(),
            bucket_id: bucket_id.map(|id| id.as_uuid()),
            status: status.as_str().to_owned(),
            error: super::delivery::text(error),
            total: total.map(|total| i64::try_from(total).unwrap_or(i64::MAX)),
            outputs: json(outputs)?,
            skipped: i64::try_from(*skipped).unwrap_or(i64::MAX),
            created_at: millis(*created_at),
            finished_at: finished_at.map(millis),
            place: cursor.clone(),
            spec: json(spec)?,
            wakes_at: (*status == ReplayStatus::Running).then_some(millis(*created_at)),
        })
    }

    /// The values that it is inserted with.
    pub(crate) fn values(&self) -> [Param<'_>; 14] {
        [
            self.id.into(),
            self.account_id.into(),
            self.bucket_id.into(),
            self.status.as_str().into(),
            self.error.as_str().into(),
            self.total.into(),
            self.outputs.as_str().into(),
            self.skipped.into(),
            self.created_at.into(),
            self.finished_at.into(),
            self.place.as_str().into(),
            self.spec.as_str().into(),
            None::<Uuid>.into(),
            self.wakes_at.into(),
        ]
    }

    pub(crate) fn of_row(row: &Row<'_>) -> Result<Self, DatabaseError> {
        Ok(Self {
            id: row.get("id")?,
            account_id: row.get("account_id")?,
            bucket_id: row.get("bucket_id")?,
            status: row.get("status")?,
            error: row.get("error")?,
            total: row.get("total")?,
            outputs: row.get("outputs")?,
            skipped: row.get("skipped")?,
            created_at: row.get("created_at")?,
            finished_at: row.get("finished_at")?,
            place: row.get("place")?,
            spec: row.get("spec")?,
            wakes_at: row.get("wakes_at")?,
        })
    }

    pub(crate) fn read(self) -> Result<Replay, Error> {
        let row = Place { table: "replay", id: self.id };
        let status = ReplayStatus::from_wire(&self.status).ok_or("no such status");
        let outputs: Result<Vec<String>, _> = serde_json::from_str(&self.outputs);
        let outputs = row.read("outputs", outputs)?;
        let outputs = outputs.iter().map(|id| FromStr::from_str(id)).collect::<Result<_, _>>();
        let spec: Result<ReplaySpec, _> = serde_json::from_str(&self.spec);
        Ok(Replay {
            id: ReplayId::from_uuid(self.id),
            account_id: AccountId::from_uuid(self.account_id),
            bucket_id: self.bucket_id.map(BucketId::from_uuid),
            status: row.read("status", status)?,
            error: self.error,
            total: self.total.map(i64::unsigned_abs),
            outputs: row.read("outputs", outputs)?,
            totals: ReplayTotals::default(),
            skipped: self.skipped.unsigned_abs(),
            created_at: moment(self.created_at),
            finished_at: self.finished_at.map(moment),
            cursor: self.place,
            spec: row.read("spec", spec)?,
        })
    }
}
