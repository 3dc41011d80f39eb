//! Replays.

use std::str::FromStr;

use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, BucketId, Error, ReplayId,
    model::{Replay, ReplaySpec, ReplayStatus, ReplayTotals},
};

use super::{json, millis, moment, table};
use crate::fault::Row as Place;

table! {
    /// A row of the table.
    Model in "replay" {
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
