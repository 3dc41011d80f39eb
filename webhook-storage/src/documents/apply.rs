//! Creating and updating documents.

use sea_orm::prelude::Uuid;
use webhook_core::{
    Error,
    store::{
        ApplyError, Bounds, Change, Document, DocumentKey, DocumentKind, MAX_VERSIONS, Refusal,
    },
};

use super::{
    cancel,
    counts::Counts,
    remove,
    row::{INSERT, Raw, seal},
    state,
};
use crate::{
    entity::millis,
    fault::{DatabaseError, ErrorClass},
    secret::Vault,
    tx::{Param, Tx, with},
};

/// Changes in one transaction.
pub(crate) struct Applying<'t, T> {
    pub(super) tx: &'t T,
    pub(super) counts: Counts,
    /// Whether the tables of the version before exist, which may contain secrets.
    pub(super) has_old_tables: bool,
    vault: &'t Vault,
}

impl<'t, T: Tx> Applying<'t, T> {
    pub(crate) fn new(tx: &'t T, vault: &'t Vault, has_old_tables: bool) -> Self {
        Self { tx, counts: Counts::default(), has_old_tables, vault }
    }

    pub(crate) async fn all(&mut self, changes: &[Change]) -> Result<(), ApplyError> {
        for change in changes {
            self.one(change).await?;
        }
        let full = std::mem::take(&mut self.counts).write(self.tx).await?;
        let Some((parent, kind)) = full else { return Ok(()) };
        let is_account = changes.iter().any(|change| match change {
            Change::Create { document, .. } => document.account_id.as_uuid() == parent,
            _ => false,
        });
        let kind = DocumentKind::from_name(kind).unwrap_or(DocumentKind::Bucket);
        Err(match is_account {
            true => Refusal::AccountFull(kind),
            false => Refusal::BucketFull(kind),
        }
        .into())
    }

    async fn one(&mut self, change: &Change) -> Result<(), ApplyError> {
        match change {
            Change::Create { document, bounds } => self.create(document, *bounds).await,
            Change::Update { document, expected_version } => {
                self.update(document, *expected_version).await
            }
            Change::Delete { key, account_id, expected_version } => {
                let owner = account_id.as_uuid();
                remove::document(self, *key, owner, *expected_version).await
            }
            Change::Unused(key) => self.expect_unused(*key).await,
            Change::State(change) => state::change(self.tx, change).await,
            _ => Err(Error::internal("a change that this store does not know").into()),
        }
    }

    async fn create(&mut self, new: &Document, bounds: Bounds) -> Result<(), ApplyError> {
        let Document { key, account_id, bucket_id, .. } = new;
        let (kind, account) = (key.kind, account_id.as_uuid());
        if let Some(bucket) = bucket_id.filter(|_| kind != DocumentKind::Bucket) {
            let bucket = DocumentKey { kind: DocumentKind::Bucket, id: bucket.as_uuid() };
            self.hold(bucket, account).await?;
        }
        let row = Raw { version: 1, ..Raw::of(new, self.vault)? };
        let inserted = self.tx.insert(&INSERT, &[row], Raw::values).await;
        inserted.map_err(|error| taken(error, new))?;
        self.use_documents(new).await?;
        if kind == DocumentKind::Output {
            cancel::unmark(self.tx, key.id).await?;
        }
        state::create(self.tx, new).await?;
        self.counts.add(account, kind.as_str(), bounds.in_account);
        if let Some(bucket) = bucket_id.filter(|_| kind.is_counted_in_bucket()) {
            self.counts.add(bucket.as_uuid(), kind.as_str(), bounds.in_bucket);
        }
        Ok(())
    }

    async fn update(&mut self, new: &Document, expected: u64) -> Result<(), ApplyError> {
        let Document { key, account_id, bucket_id, .. } = new;
        let account = account_id.as_uuid();
        // Other transactions may still insert a use of the document.
        let tail = self.tx.on_postgres(" FOR NO KEY UPDATE");
        if self.version(*key, account, tail).await? != expected {
            return Err(Refusal::Stale.into());
        }
        if let Some(bucket) = bucket_id.filter(|_| key.kind == DocumentKind::Notification) {
            let bucket = DocumentKey { kind: DocumentKind::Bucket, id: bucket.as_uuid() };
            self.hold(bucket, account).await?;
        }
        let place = || [Param::from(key.kind.as_str()), key.id.into()];
        let keep = "INSERT INTO document_version (kind, id, version, schema, json, sealed, \
            updated_at) SELECT kind, id, version, schema, json, sealed, updated_at FROM document \
            WHERE kind = ? AND id = ?";
        self.tx.execute(with(keep, place())).await?;
        let kept = MAX_VERSIONS as u64 - 1;
        if let Some(oldest) = expected.checked_sub(kept).filter(|oldest| *oldest > 0) {
            let forget = "DELETE FROM document_version WHERE kind = ? AND id = ? AND version <= ?";
            let oldest = Param::count(oldest);
            let forget = with(forget, place().into_iter().chain([oldest]));
            self.tx.execute(forget).await?;
        }
        let update = "UPDATE document SET parent_id = ?, name = ?, route = ?, watched = ?, \
            version = version + 1, schema = ?, json = ?, sealed = ?, updated_at = ? \
            WHERE kind = ? AND id = ? AND (kind = 'notification' OR parent_id IS NOT DISTINCT FROM ?)";
        let parent = bucket_id.map(|id| id.as_uuid());
        let values = [
            bucket_id.map(|id| id.as_uuid()).into(),
            new.name.as_str().into(),
            new.route.as_str().into(),
            new.is_watched.into(),
            i64::from(new.schema).into(),
            new.json.as_str().into(),
            seal(new, self.vault)?.into(),
            millis(new.updated_at).into(),
        ];
        let update = with(update, values.into_iter().chain(place()).chain([parent.into()]));
        if self.tx.execute(update).await.map_err(|error| taken(error, new))? == 0 {
            // It is in another bucket.
            return Err(Refusal::Missing(key.kind).into());
        }
        if self.has_old_tables {
            remove::old_row(self.tx, *key).await?;
        }
        self.change_uses(new).await
    }

    /// Writes what a document uses, if it is something else than before.
    async fn change_uses(&self, new: &Document) -> Result<(), ApplyError> {
        let DocumentKey { kind, id } = new.key;
        if matches!(kind, DocumentKind::Bucket | DocumentKind::Function | DocumentKind::Domain) {
            return Ok(());
        }
        let place = || [Param::from(kind.as_str()), id.into()];
        let stored = "SELECT used_id FROM document_use WHERE user_kind = ? AND user_id = ?";
        let stored = self.tx.query(with(stored, place()), |row| row.get::<Uuid>("used_id"));
        let mut stored = stored.await?;
        let mut wanted: Vec<_> = new.uses.iter().map(|used| used.id).collect();
        for ids in [&mut stored, &mut wanted] {
            ids.sort_unstable();
            ids.dedup();
        }
        if stored == wanted {
            return Ok(());
        }
        let forget = "DELETE FROM document_use WHERE user_kind = ? AND user_id = ?";
        self.tx.execute(with(forget, place())).await?;
        self.use_documents(new).await
    }

    async fn use_documents(&self, new: &Document) -> Result<(), ApplyError> {
        let mut uses = new.uses.clone();
        // In an order that is the same for all transactions.
        uses.sort_unstable();
        uses.dedup();
        for used in uses {
            self.hold(used, new.account_id.as_uuid()).await?;
            let sql = "INSERT INTO document_use (user_kind, user_id, used_kind, used_id) \
                VALUES (?, ?, ?, ?)";
            let values = [
                new.key.kind.as_str().into(),
                new.key.id.into(),
                used.kind.as_str().into(),
                used.id.into(),
            ];
            self.tx.execute(with(sql, values)).await?;
        }
        Ok(())
    }

    /// A document of the account stays until the transaction ends.
    async fn hold(&self, key: DocumentKey, account: Uuid) -> Result<(), ApplyError> {
        let tail = self.tx.on_postgres(" FOR KEY SHARE");
        self.version(key, account, tail).await.map(|_| ())
    }

    /// A document of the account stays as it is until the transaction ends; its version.
    pub(super) async fn lock(&self, key: DocumentKey, account: Uuid) -> Result<u64, ApplyError> {
        self.version(key, account, self.tx.on_postgres(" FOR UPDATE")).await
    }

    async fn version(
        &self,
        key: DocumentKey,
        account: Uuid,
        tail: &str,
    ) -> Result<u64, ApplyError> {
        let sql = format!(
            "SELECT version FROM document WHERE kind = ? AND id = ? AND account_id = ? \
             AND deleted_at IS NULL{tail}"
        );
        let values = [key.kind.as_str().into(), key.id.into(), account.into()];
        let found = self.tx.query_one(with(sql, values), |row| row.get::<i64>("version"));
        let found = found.await?.ok_or(Refusal::Missing(key.kind))?;
        Ok(found.unsigned_abs())
    }

    async fn expect_unused(&self, key: DocumentKey) -> Result<(), ApplyError> {
        let lock = format!(
            "SELECT id FROM document WHERE kind = ? AND id = ?{}",
            self.tx.on_postgres(" FOR UPDATE")
        );
        let place = || [Param::from(key.kind.as_str()), key.id.into()];
        self.tx.has_rows(with(lock, place())).await?;
        let users = "SELECT user_id FROM document_use WHERE used_kind = ? AND used_id = ? LIMIT 1";
        let mut is_used = self.tx.has_rows(with(users, place())).await?;
        if key.kind == DocumentKind::Bucket {
            let inside = "SELECT id FROM document WHERE parent_id = ? \
                AND kind IN ('input', 'output') AND deleted_at IS NULL LIMIT 1";
            is_used |= self.tx.has_rows(with(inside, [key.id.into()])).await?;
        }
        match is_used {
            true => Err(Refusal::Used.into()),
            false => Ok(()),
        }
    }
}

/// What it means that a document could not be written.
fn taken(error: DatabaseError, document: &Document) -> ApplyError {
    let kind = document.key.kind;
    match error.class() {
        ErrorClass::TakenId => Refusal::Exists(kind).into(),
        ErrorClass::TakenName if error.to_string().contains("route") => Refusal::RouteTaken.into(),
        ErrorClass::TakenName => Refusal::NameTaken(kind).into(),
        ErrorClass::BadText => ErrorClass::BadText.error(error, kind.as_str()).into(),
        _ => error.into(),
    }
}
