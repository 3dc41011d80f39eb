//! Buckets, without their inputs and outputs.

use std::time::Duration;

use sea_orm::entity::prelude::*;
use webhook_core::{
    AccountId, BucketId, CronId, Error,
    model::{Bucket, BucketAuth, BucketSpec, Extension, LogRetention},
};

use super::{millis, moment, name, named, nanos};
use crate::{
    fault::Row,
    secret::{Cell, Vault},
};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "bucket")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: Uuid,
    pub(crate) account_id: Uuid,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) suspended: bool,
    pub(crate) cron_id: Option<Uuid>,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) stream: bool,
    pub(crate) ephemeral: bool,
    pub(crate) large_webhooks: bool,
    pub(crate) static_ip: bool,
    pub(crate) auth_type: String,
    pub(crate) auth_username: String,
    pub(crate) auth_password_sealed: Option<Vec<u8>>,
    pub(crate) auth_token_sealed: Option<Vec<u8>>,
    /// In nanoseconds; null where the bucket does not say how long logs are kept.
    pub(crate) retention_logs: Option<i64>,
    pub(crate) retention_failed: Option<i64>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

const TABLE: &str = "bucket";

impl Model {
    pub(crate) fn seal(bucket: &Bucket, vault: &Vault) -> Result<Self, Error> {
        let Bucket {
            id,
            account_id,
            created_at,
            updated_at,
            suspended,
            cron_id,
            spec,
            inputs: _,
            outputs: _,
            service_connection_inputs: [],
            service_connection_outputs: [],
            integration_configurations: [],
        } = bucket;
        let BucketSpec { name: own_name, description, stream, ephemeral, large_webhooks, .. } =
            spec;
        let BucketSpec { static_ip, auth, retention, .. } = spec;
        // The other fields of `auth` are stamped from the bucket's own.
        let BucketAuth { id: _, created_at: _, updated_at: _, kind, username, password, token } =
            auth;
        let id = id.as_uuid();
        let seal = |column, secret| vault.seal_secret(Cell::new(TABLE, column, id), secret);
        Ok(Self {
            id,
            account_id: account_id.as_uuid(),
            created_at: millis(*created_at),
            updated_at: millis(*updated_at),
            suspended: *suspended,
            cron_id: cron_id.map(|id| id.as_uuid()),
            name: own_name.clone(),
            description: description.clone(),
            stream: *stream,
            ephemeral: *ephemeral,
            large_webhooks: *large_webhooks,
            static_ip: *static_ip,
            auth_type: name(kind)?,
            auth_username: username.clone(),
            auth_password_sealed: seal("auth_password_sealed", password)?,
            auth_token_sealed: seal("auth_token_sealed", token)?,
            retention_logs: retention.set().map(|it| nanos(it.logs)),
            retention_failed: retention.set().map(|it| nanos(it.failed)),
        })
    }

    pub(crate) fn open(self, vault: &Vault) -> Result<Bucket, Error> {
        let row = Row { table: TABLE, id: self.id };
        let open = |column, sealed: Option<Vec<u8>>| {
            vault.open_secret(Cell::new(TABLE, column, self.id), sealed.as_deref())
        };
        let mut spec = BucketSpec::new(self.name);
        spec.description = self.description;
        spec.stream = self.stream;
        spec.ephemeral = self.ephemeral;
        spec.large_webhooks = self.large_webhooks;
        spec.static_ip = self.static_ip;
        spec.auth = BucketAuth {
            kind: row.read("auth_type", named(self.auth_type))?,
            username: self.auth_username,
            password: open("auth_password_sealed", self.auth_password_sealed)?,
            token: open("auth_token_sealed", self.auth_token_sealed)?,
            ..BucketAuth::default()
        };
        spec.retention = retention(self.retention_logs, self.retention_failed);
        let (id, account) = (BucketId::from_uuid(self.id), AccountId::from_uuid(self.account_id));
        let mut bucket = Bucket::new(id, account, moment(self.created_at), spec);
        bucket.updated_at = moment(self.updated_at);
        bucket.suspended = self.suspended;
        bucket.cron_id = self.cron_id.map(CronId::from_uuid);
        bucket.stamp_auth();
        Ok(bucket)
    }
}

/// How long logs are kept, where the bucket says so.
pub(crate) fn retention(logs: Option<i64>, failed: Option<i64>) -> Extension<LogRetention> {
    let duration = |nanos: i64| Duration::from_nanos(nanos.max(0).unsigned_abs());
    logs.zip(failed).map_or(Extension::Absent, |(logs, failed)| {
        Extension::Set(LogRetention::new(duration(logs), duration(failed)))
    })
}
