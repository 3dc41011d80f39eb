//! How many documents, and access tokens, a bucket or an account has: a row for each kind.

use std::collections::BTreeMap;

use sea_orm::prelude::Uuid;

use crate::{
    fault::DatabaseError,
    tx::{Tx, with},
};

/// The parent, and the kind of its documents.
type Counted = (Uuid, &'static str);

/// How the counts change in one transaction.
#[derive(Debug, Default)]
pub(crate) struct Counts(BTreeMap<Counted, (i64, u64)>);

impl Counts {
    /// One more, of at most `bound`.
    pub(crate) fn add(&mut self, parent: Uuid, kind: &'static str, bound: u64) {
        let (by, least) = self.0.entry((parent, kind)).or_insert((0, u64::MAX));
        *by += 1;
        *least = bound.min(*least);
    }

    /// `number` fewer.
    pub(crate) fn take(&mut self, parent: Uuid, kind: &'static str, number: i64) {
        self.0.entry((parent, kind)).or_insert((0, u64::MAX)).0 -= number;
    }

    /// Writes all of them, each with one statement that locks its row until the transaction
    /// ends, in an order that is the same for all; the first that would go beyond its bound.
    pub(crate) async fn write(self, tx: &impl Tx) -> Result<Option<Counted>, DatabaseError> {
        const ADD: &str = "INSERT INTO child_count (parent_id, kind, count) VALUES (?, ?, ?) \
            ON CONFLICT (parent_id, kind) DO UPDATE SET count = child_count.count + excluded.count \
            WHERE child_count.count + excluded.count <= ?";
        const TAKE: &str =
            "UPDATE child_count SET count = count + ? WHERE parent_id = ? AND kind = ?";
        for ((parent, kind), (by, bound)) in self.0 {
            let bound = i64::try_from(bound).unwrap_or(i64::MAX);
            if by > 0 {
                let add = [parent.into(), kind.into(), by.into(), bound.into()];
                if by > bound || tx.execute(with(ADD, add)).await? == 0 {
                    return Ok(Some((parent, kind)));
                }
            } else if by < 0 {
                tx.execute(with(TAKE, [by.into(), parent.into(), kind.into()])).await?;
            }
        }
        Ok(None)
    }
}
