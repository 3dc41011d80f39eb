//! Crons.

use http::Method;
use sea_orm::entity::prelude::*;
use webhook_core::{
    AccountId, BucketId, CronId, Error, FunctionId, InputId, OutputId,
    model::{Cron, CronSpec, Headers},
};

use super::{millis, moment};
use crate::{
    codec,
    fault::Row,
    secret::{Cell, Vault},
};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "cron")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: Uuid,
    pub(crate) account_id: Uuid,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) next_run: Option<i64>,
    pub(crate) wakes_at: Option<i64>,
    pub(crate) held_by: Option<Uuid>,
    pub(crate) bucket_id: Uuid,
    pub(crate) input_id: Uuid,
    pub(crate) output_id: Uuid,
    pub(crate) name: String,
    pub(crate) enabled: bool,
    pub(crate) recurring: bool,
    pub(crate) schedule: String,
    pub(crate) timezone: String,
    pub(crate) method: String,
    pub(crate) destination: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) headers_sealed: Option<Vec<u8>>,
    pub(crate) function_id: Option<Uuid>,
    pub(crate) starts_at: Option<i64>,
    pub(crate) ends_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

const TABLE: &str = "cron";
const HEADERS: &str = "headers_sealed";

impl Model {
    /// The row of a cron that nobody holds.
    pub(crate) fn seal(cron: &Cron, vault: &Vault) -> Result<Self, Error> {
        let Cron {
            id,
            account_id,
            created_at,
            updated_at,
            next_run,
            bucket_id,
            input_id,
            output_id,
            spec,
        } = cron.clone();
        let CronSpec {
            name,
            enabled,
            recurring,
            schedule,
            timezone,
            method,
            destination,
            payload,
            headers,
            function_id,
            starts_at,
            ends_at,
            ..
        } = spec;
        let id = id.as_uuid();
        let headers = codec::encode_headers(&headers.0);
        let headers_sealed = match headers.is_empty() {
            true => None,
            false => Some(vault.seal(Cell::new(TABLE, HEADERS, id), &headers)?),
        };
        Ok(Self {
            id,
            account_id: account_id.as_uuid(),
            created_at: millis(created_at),
            updated_at: millis(updated_at),
            next_run: next_run.map(millis),
            wakes_at: next_run.map(millis),
            held_by: None,
            bucket_id: bucket_id.as_uuid(),
            input_id: input_id.as_uuid(),
            output_id: output_id.as_uuid(),
            name,
            enabled,
            recurring,
            schedule,
            timezone,
            method: method.as_str().to_owned(),
            destination,
            payload: payload.into_bytes(),
            headers_sealed,
            function_id: function_id.map(|id| id.as_uuid()),
            starts_at: starts_at.map(millis),
            ends_at: ends_at.map(millis),
        })
    }

    pub(crate) fn open(self, vault: &Vault) -> Result<Cron, Error> {
        let row = Row { table: TABLE, id: self.id };
        let headers = match self.headers_sealed {
            Some(sealed) => vault.open(Cell::new(TABLE, HEADERS, self.id), &sealed)?,
            None => Vec::new(),
        };
        let mut spec = CronSpec::new(self.schedule, self.destination);
        spec.name = self.name;
        spec.enabled = self.enabled;
        spec.recurring = self.recurring;
        spec.timezone = self.timezone;
        spec.method = row.read("method", Method::from_bytes(self.method.as_bytes()))?;
        spec.payload = row.read("payload", String::from_utf8(self.payload))?;
        spec.headers = Headers(row.read(HEADERS, codec::decode_headers(&headers))?);
        spec.function_id = self.function_id.map(FunctionId::from_uuid);
        spec.starts_at = self.starts_at.map(moment);
        spec.ends_at = self.ends_at.map(moment);
        Ok(Cron {
            id: CronId::from_uuid(self.id),
            account_id: AccountId::from_uuid(self.account_id),
            created_at: moment(self.created_at),
            updated_at: moment(self.updated_at),
            next_run: self.next_run.map(moment),
            bucket_id: BucketId::from_uuid(self.bucket_id),
            input_id: InputId::from_uuid(self.input_id),
            output_id: OutputId::from_uuid(self.output_id),
            spec,
        })
    }
}
