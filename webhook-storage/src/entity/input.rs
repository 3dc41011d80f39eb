//! Inputs. Their extension fields have secrets in them, so they are sealed.

use sea_orm::entity::prelude::*;
use webhook_core::{
    BucketId, Error, FunctionId, InputId,
    model::{Headers, Input, InputSpec, MinTls},
};

use super::{millis, moment, name, named};
use crate::{
    codec,
    entity::extensions::{self, Extensions},
    fault::Row,
    secret::{Cell, Vault},
};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "input")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: Uuid,
    pub(crate) bucket_id: Uuid,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) created_by: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) function_id: Option<Uuid>,
    pub(crate) status_code: i64,
    pub(crate) headers: Vec<u8>,
    pub(crate) body: Vec<u8>,
    pub(crate) response_from_output: String,
    pub(crate) custom_domain: String,
    pub(crate) path_prefix: String,
    pub(crate) strip_path_prefix: bool,
    pub(crate) tls_version: String,
    pub(crate) legacy_tls: bool,
    pub(crate) extensions_sealed: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

const TABLE: &str = "input";

impl Model {
    pub(crate) fn seal(input: &Input, vault: &Vault) -> Result<Self, Error> {
        let Input { id, bucket_id, created_at, updated_at, created_by, spec } = input.clone();
        let InputSpec {
            name: own_name,
            description,
            function_id,
            status_code,
            headers,
            body,
            response_from_output,
            custom_domain,
            path_prefix,
            strip_path_prefix,
            tls_version,
            legacy_tls,
            signature,
            deduplication,
            ..
        } = spec;
        let mut extensions = Extensions::default();
        extensions.put("signature", &signature)?;
        extensions.put("deduplication", &deduplication)?;
        let cell = Cell::new(TABLE, extensions::COLUMN, id.as_uuid());
        Ok(Self {
            id: id.as_uuid(),
            bucket_id: bucket_id.as_uuid(),
            created_at: millis(created_at),
            updated_at: millis(updated_at),
            created_by,
            name: own_name,
            description,
            function_id: function_id.map(|id| id.as_uuid()),
            status_code: status_code.into(),
            headers: codec::encode_headers(&headers.0),
            body: body.into_bytes(),
            response_from_output: name(&response_from_output)?,
            custom_domain,
            path_prefix,
            strip_path_prefix,
            tls_version: tls_version.map_or("", MinTls::as_str).to_owned(),
            legacy_tls,
            extensions_sealed: extensions.seal(vault, cell)?,
        })
    }

    pub(crate) fn open(self, vault: &Vault) -> Result<Input, Error> {
        let row = Row { table: TABLE, id: self.id };
        let mut extensions = Extensions::open(vault, row, self.extensions_sealed.as_deref())?;
        let from_output = named(self.response_from_output);
        let tls_version = match &*self.tls_version {
            "" => None,
            name => {
                Some(row.read("tls_version", MinTls::from_wire(name).ok_or("unknown version"))?)
            }
        };
        let mut spec = InputSpec::new(self.name);
        spec.description = self.description;
        spec.function_id = self.function_id.map(FunctionId::from_uuid);
        spec.status_code = row.read("status_code", self.status_code.try_into())?;
        spec.headers = Headers(row.read("headers", codec::decode_headers(&self.headers))?);
        spec.body = row.read("body", String::from_utf8(self.body))?;
        spec.response_from_output = row.read("response_from_output", from_output)?;
        spec.custom_domain = self.custom_domain;
        spec.path_prefix = self.path_prefix;
        spec.strip_path_prefix = self.strip_path_prefix;
        spec.tls_version = tls_version;
        spec.legacy_tls = self.legacy_tls;
        spec.signature = extensions.take(row, "signature")?;
        spec.deduplication = extensions.take(row, "deduplication")?;
        extensions.finish(row)?;
        Ok(Input {
            id: InputId::from_uuid(self.id),
            bucket_id: BucketId::from_uuid(self.bucket_id),
            created_at: moment(self.created_at),
            updated_at: moment(self.updated_at),
            created_by: self.created_by,
            spec,
        })
    }
}
