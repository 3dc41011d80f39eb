//! What functions and outputs had before: the same for both.

use sea_orm::prelude::Uuid;
use webhook_core::{Error, Timestamp, store::MAX_VERSIONS};

use super::read_error;
use crate::{
    entity::{millis, moment},
    fault::{self, DatabaseError},
    tx::{Param, Read, Tx, with},
};

/// Whose versions they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// For errors.
    pub(super) what: &'static str,
    /// The table with a row for each version.
    pub(super) versions: &'static str,
    /// The table with a row for each content.
    pub(super) contents: &'static str,
    /// The column of both that says whose they are.
    pub(super) owner: &'static str,
}

/// A version that is kept.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) number: u32,
    pub(super) created: Timestamp,
    /// None of the first version of what changed before there were versions.
    pub(super) hash: Option<Vec<u8>>,
}

/// What there was, or is: since when, and by which hash its content is found.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub(super) since: Timestamp,
    pub(super) hash: Vec<u8>,
}

impl Kind {
    /// The versions of an owner that are kept, the newest first; none as long as nothing of it
    /// has changed.
    pub(super) async fn list(self, tx: &impl Read, owner: Uuid) -> Result<Vec<Version>, Error> {
        let Self { versions, owner: column, .. } = self;
        let list = format!(
            "SELECT number, created, hash FROM {versions} WHERE {column} = ? ORDER BY number DESC"
        );
        let rows = tx.query(with(list, [owner.into()]), |row| {
            let number = u32::try_from(row.get::<i64>("number")?).unwrap_or(u32::MAX);
            let created = moment(row.get("created")?);
            Ok(Version { number, created, hash: row.get("hash")? })
        });
        rows.await.map_err(read_error)
    }

    /// Adds a version, and the one before it if that was not kept yet. Their contents are put
    /// in before, and what is no longer kept goes after that.
    pub(super) async fn change(
        self,
        tx: &impl Tx,
        owner: Uuid,
        before: Content,
        new: Content,
    ) -> Result<(), Error> {
        let newest = self.list(tx, owner).await?.into_iter().next();
        self.add(tx, owner, newest, before, new)
            .await
            .map_err(|error| fault::error(error, self.what))
    }

    async fn add(
        self,
        tx: &impl Tx,
        owner: Uuid,
        newest: Option<Version>,
        before: Content,
        new: Content,
    ) -> Result<(), DatabaseError> {
        let Self { versions, contents, owner: column, .. } = self;
        let insert =
            format!("INSERT INTO {versions} ({column}, number, created, hash) VALUES (?, ?, ?, ?)");
        let row = |number: u32, Content { since, hash }: Content| {
            let values =
                [owner.into(), i64::from(number).into(), millis(since).into(), hash.into()];
            with(insert.clone(), values)
        };
        let number = match newest {
            None => {
                tx.execute(row(1, before)).await?;
                2
            }
            Some(Version { number, hash, .. }) => {
                if hash.is_none() {
                    let known =
                        format!("UPDATE {versions} SET hash = ? WHERE {column} = ? AND number = ?");
                    let values = [before.hash.into(), owner.into(), i64::from(number).into()];
                    tx.execute(with(known, values)).await?;
                }
                number.saturating_add(1)
            }
        };
        tx.execute(row(number, new)).await?;
        let kept = i64::try_from(MAX_VERSIONS).unwrap_or(i64::MAX);
        let oldest = i64::from(number).saturating_sub(kept);
        let forget = format!("DELETE FROM {versions} WHERE {column} = ? AND number <= ?");
        if tx.execute(with(forget, [owner.into(), oldest.into()])).await? > 0 {
            let unused = format!(
                "DELETE FROM {contents} WHERE {column} = ? AND hash NOT IN \
                 (SELECT hash FROM {versions} WHERE {column} = ? AND hash IS NOT NULL)"
            );
            tx.execute(with(unused, [Param::from(owner), owner.into()])).await?;
        }
        Ok(())
    }
}
