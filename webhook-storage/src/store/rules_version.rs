//! Versions of the rules of outputs, which are sealed as the outputs' own are.

use std::fmt::Write;

use sea_orm::{
    ActiveModelTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
    prelude::Uuid,
};
use webhook_core::{
    AccountId, BucketId, Error, OutputId, Timestamp, model::Output, rule::Rules,
    store::RulesVersion,
};

use super::{
    output::place,
    read_error,
    version::{Content, Kind},
};
use crate::{
    Storage,
    entity::{json, output},
    fault::{self, Row},
    secret::{Cell, Vault},
    tx::{Read, Tx, with},
};

const VERSIONS: Kind = Kind {
    what: "output",
    versions: "output_version",
    contents: "output_rules",
    owner: "output_id",
};

impl Storage {
    /// Replaces an output; if its rules are others, what they were and what they are are kept.
    pub(super) async fn replace_output(
        &self,
        tx: &DatabaseTransaction,
        account: AccountId,
        new: &Output,
    ) -> Result<(), Error> {
        let here = place(account, new.bucket_id, new.id);
        let find = output::Entity::find().filter(here.clone());
        let find = match tx.backend() {
            // SQLite has one writer, which is this transaction.
            sea_orm::DbBackend::Sqlite => find,
            _ => find.lock(sea_orm::sea_query::LockType::Update),
        };
        let before = find.one(tx).await.map_err(read_error)?;
        let before = before.ok_or_else(|| Error::not_found("output"))?.open(self.vault())?;
        let row = output::Model::seal(new, self.vault())?.into_active_model().reset_all();
        let update = output::Entity::update_many().set(row).filter(here).exec(tx);
        update.await.map_err(|error| fault::error(error, "output"))?;
        if before.spec.rules == new.spec.rules {
            return Ok(());
        }
        let id = new.id.as_uuid();
        let hash = put(tx, self.vault(), id, &before.spec.rules).await?;
        let before = Content { since: before.created_at, hash };
        let hash = put(tx, self.vault(), id, &new.spec.rules).await?;
        VERSIONS.change(tx, id, before, Content { since: new.updated_at, hash }).await
    }

    /// The rules that an output had at a moment, if that is known.
    pub(super) async fn rules_of(
        &self,
        snapshot: &DatabaseTransaction,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
        at: Timestamp,
    ) -> Result<Option<RulesVersion>, Error> {
        let find = output::Entity::find().filter(place(account, bucket, id));
        let Some(row) = find.one(snapshot).await.map_err(read_error)? else { return Ok(None) };
        let output = row.open(self.vault())?;
        let id = id.as_uuid();
        let kept = VERSIONS.list(snapshot, id).await?;
        let Some(newest) = kept.first() else {
            let is_known = output.created_at <= at;
            return Ok(is_known.then(|| RulesVersion::new(1, output.spec.rules)));
        };
        let Some(found) = kept.iter().find(|version| version.created <= at) else {
            return Ok(None);
        };
        if found.number == newest.number {
            return Ok(Some(RulesVersion::new(found.number, output.spec.rules)));
        }
        let Some(hash) = &found.hash else { return Ok(None) };
        let sealed = "SELECT rules_sealed FROM output_rules WHERE output_id = ? AND hash = ?";
        let sealed = with(sealed, [id.into(), hash.as_slice().into()]);
        let sealed = snapshot.query_one(sealed, |row| row.get::<Vec<u8>>("rules_sealed"));
        let Some(sealed) = sealed.await.map_err(read_error)? else { return Ok(None) };
        let text = self.vault().open(cell(id, &hex(hash)), &sealed)?;
        let row = Row { table: "output_rules", id };
        let rules = row.read("rules_sealed", serde_json::from_slice(&text))?;
        Ok(Some(RulesVersion::new(found.number, rules)))
    }
}

/// Keeps rules, unless they are kept already; their hash.
async fn put(tx: &impl Tx, vault: &Vault, id: Uuid, rules: &Rules) -> Result<Vec<u8>, Error> {
    let text = json(rules)?;
    // With a key: rules may have secrets in them that a plain hash would give away.
    let hash = vault.lookup_hash(&text);
    let sealed = vault.seal(cell(id, &hex(&hash)), text.as_bytes())?;
    let insert = "INSERT INTO output_rules (output_id, hash, rules_sealed) VALUES (?, ?, ?) \
        ON CONFLICT DO NOTHING";
    let values = [id.into(), hash.as_slice().into(), sealed.into()];
    let put = tx.execute(with(insert, values)).await;
    put.map_err(|error| fault::error(error, "output"))?;
    Ok(hash)
}

const fn cell(id: Uuid, hash: &str) -> Cell<'_> {
    Cell { table: "output_rules", column: "rules_sealed", row: id, key: hash }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
