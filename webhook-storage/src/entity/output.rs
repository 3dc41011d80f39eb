//! Outputs. Their headers carry credentials and their rules signing secrets, and so do
//! their extension fields, so all are sealed.

use std::{num::TryFromIntError, time::Duration};

use sea_orm::entity::prelude::*;
use webhook_core::{
    BucketId, CronId, Error, FunctionId, OutputId, Rules,
    model::{
        Extension, Headers, Output, OutputSpec, Pauses, StoredDisabling, StoredFailing,
        StoredPauses,
    },
};

use super::{json, millis, moment};
use crate::{
    codec,
    entity::extensions::{self, Extensions},
    fault::Row,
    secret::{Cell, Vault},
};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "output")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: Uuid,
    pub(crate) bucket_id: Uuid,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) created_by: String,
    pub(crate) cron_id: Option<Uuid>,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) destination: String,
    pub(crate) function_id: Option<Uuid>,
    pub(crate) response_function_id: Option<Uuid>,
    pub(crate) headers_sealed: Option<Vec<u8>>,
    pub(crate) rules_sealed: Option<Vec<u8>>,
    pub(crate) internal: bool,
    pub(crate) disabled: bool,
    pub(crate) lock_path: bool,
    pub(crate) retries: i64,
    pub(crate) timeout_secs: i64,
    pub(crate) tls_verification: bool,
    pub(crate) throttle: String,
    pub(crate) durability: String,
    pub(crate) replay_missing: String,
    pub(crate) extensions_sealed: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

const TABLE: &str = "output";
const HEADERS: &str = "headers_sealed";
const RULES: &str = "rules_sealed";

impl Model {
    pub(crate) fn seal(output: &Output, vault: &Vault) -> Result<Self, Error> {
        let Output {
            id,
            bucket_id,
            created_at,
            updated_at,
            created_by,
            cron_id,
            failing_since,
            pauses,
            spec,
        } = output.clone();
        let OutputSpec {
            name,
            description,
            destination,
            function_id,
            response_function_id,
            headers,
            rules,
            internal,
            disabled,
            lock_path,
            retries,
            timeout,
            tls_verification,
            throttle,
            durability,
            replay_missing,
            signing,
            auth,
            health,
            on_disabled,
            ..
        } = spec;
        let id = id.as_uuid();
        let headers = codec::encode_headers(&headers.0);
        let rules = match rules == Rules::default() {
            true => Vec::new(),
            false => json(&rules)?.into_bytes(),
        };
        let mut extensions = Extensions::default();
        extensions.put("signing", &signing)?;
        extensions.put("auth", &auth)?;
        extensions.put("health", &health)?;
        if let Some(on_disabled) = on_disabled {
            extensions.put("disabling", &Extension::Set(StoredDisabling { on_disabled }))?;
        }
        if !pauses.is_empty() {
            extensions.put("pauses", &Extension::Set(StoredPauses::from(&pauses)))?;
        }
        if let Some(since) = failing_since.map(millis) {
            extensions.put("failing", &Extension::Set(StoredFailing { since }))?;
        }
        let cell = Cell::new(TABLE, extensions::COLUMN, id);
        let seal = |column, plain: Vec<u8>| match plain.is_empty() {
            true => Ok(None),
            false => vault.seal(Cell::new(TABLE, column, id), &plain).map(Some),
        };
        Ok(Self {
            id,
            bucket_id: bucket_id.as_uuid(),
            created_at: millis(created_at),
            updated_at: millis(updated_at),
            created_by,
            cron_id: cron_id.map(|id| id.as_uuid()),
            name,
            description,
            destination,
            function_id: function_id.map(|id| id.as_uuid()),
            response_function_id: response_function_id.map(|id| id.as_uuid()),
            headers_sealed: seal(HEADERS, headers)?,
            rules_sealed: seal(RULES, rules)?,
            internal,
            disabled,
            lock_path,
            retries: retries.into(),
            timeout_secs: seconds(timeout),
            tls_verification,
            throttle: json(&throttle)?,
            durability: json(&durability)?,
            replay_missing: json(&replay_missing)?,
            extensions_sealed: extensions.seal(vault, cell)?,
        })
    }

    pub(crate) fn open(self, vault: &Vault) -> Result<Output, Error> {
        let row = Row { table: TABLE, id: self.id };
        let mut extensions = Extensions::open(vault, row, self.extensions_sealed.as_deref())?;
        let open = |column, sealed: Option<Vec<u8>>| match sealed {
            Some(sealed) => vault.open(Cell::new(TABLE, column, self.id), &sealed).map(Some),
            None => Ok(None),
        };
        let headers = open(HEADERS, self.headers_sealed)?.unwrap_or_default();
        let rules = match open(RULES, self.rules_sealed)? {
            Some(json) => row.read(RULES, serde_json::from_slice(&json))?,
            None => Rules::default(),
        };
        let mut spec = OutputSpec::new(self.name, self.destination);
        spec.description = self.description;
        spec.function_id = self.function_id.map(FunctionId::from_uuid);
        spec.response_function_id = self.response_function_id.map(FunctionId::from_uuid);
        spec.headers = Headers(row.read(HEADERS, codec::decode_headers(&headers))?);
        spec.rules = rules;
        spec.internal = self.internal;
        spec.disabled = self.disabled;
        spec.lock_path = self.lock_path;
        spec.retries = row.read("retries", self.retries.try_into())?;
        spec.timeout = row.read("timeout_secs", duration(self.timeout_secs))?;
        spec.tls_verification = self.tls_verification;
        spec.throttle = row.read("throttle", serde_json::from_str(&self.throttle))?;
        spec.durability = row.read("durability", serde_json::from_str(&self.durability))?;
        spec.replay_missing =
            row.read("replay_missing", serde_json::from_str(&self.replay_missing))?;
        spec.signing = extensions.take(row, "signing")?;
        spec.auth = extensions.take(row, "auth")?;
        spec.health = extensions.take(row, "health")?;
        let disabling = extensions.take::<StoredDisabling>(row, "disabling")?;
        spec.on_disabled = disabling.set().map(|it| it.on_disabled);
        let pauses = extensions.take::<StoredPauses>(row, "pauses")?.set().cloned();
        let failing = extensions.take::<StoredFailing>(row, "failing")?.set().copied();
        extensions.finish(row)?;
        Ok(Output {
            id: OutputId::from_uuid(self.id),
            bucket_id: BucketId::from_uuid(self.bucket_id),
            created_at: moment(self.created_at),
            updated_at: moment(self.updated_at),
            created_by: self.created_by,
            cron_id: self.cron_id.map(CronId::from_uuid),
            failing_since: failing.map(|failing| moment(failing.since)),
            pauses: pauses.map(Pauses::from).unwrap_or_default(),
            spec,
        })
    }
}

/// None is 0.
fn seconds(duration: Option<Duration>) -> i64 {
    duration.map_or(0, |duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX))
}

fn duration(secs: i64) -> Result<Option<Duration>, TryFromIntError> {
    let secs = u64::try_from(secs)?;
    Ok((secs > 0).then(|| Duration::from_secs(secs)))
}
