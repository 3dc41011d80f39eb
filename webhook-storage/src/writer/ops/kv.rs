//! Changing what functions remember.

use webhook_core::{
    Error, Timestamp,
    store::{KvChange, KvEntry, KvKey, KvValue, KvWrite, too_many_keys},
};

use super::super::job::{Context, Failure, Op};
use crate::{
    entity::{millis, moment},
    fault::{DatabaseError, ErrorClass},
    tx::{Param, Read, Row, Tx, with},
};

impl Op for KvWrite {
    type Answer = Option<KvValue>;

    fn size_bytes(&self) -> usize {
        let value = match &self.change {
            KvChange::Set(KvEntry { value: KvValue::Bytes(bytes), .. }) => bytes.len(),
            _ => 8,
        };
        128 + self.key.key.len() + value
    }

    fn error_subject(_class: ErrorClass) -> &'static str {
        "function"
    }

    /// Each key is looked at, with its row locked, before it is changed. They are taken in
    /// the order of the keys, so that two nodes do not wait for each other crosswise.
    async fn apply(
        tx: &impl Tx,
        writes: &[Self],
        _context: &mut Context,
    ) -> Result<Vec<Result<Option<KvValue>, Error>>, Failure> {
        let mut replies: Vec<_> = writes.iter().map(|_| Ok(None)).collect();
        let mut ordered: Vec<_> = writes.iter().zip(&mut replies).collect();
        ordered.sort_by(|(a, _), (b, _)| a.key.cmp(&b.key));
        for (write, reply) in ordered {
            *reply = change(tx, write).await?;
        }
        Ok(replies)
    }
}

async fn change(
    tx: &impl Tx,
    write: &KvWrite,
) -> Result<Result<Option<KvValue>, Error>, DatabaseError> {
    let KvWrite { key, change, now, max_keys } = write;
    // A function stays until its key is written.
    let held = tx.on_postgres(" FOR KEY SHARE");
    let owner = format!(
        "SELECT id FROM document WHERE kind = 'function' AND id = ? AND account_id = ? \
         AND deleted_at IS NULL{held}"
    );
    let owner = with(owner, [id(key), key.account_id.as_uuid().into()]);
    if !tx.has_rows(owner).await? {
        return Ok(Err(Error::not_found("function")));
    }
    let find = format!(
        "SELECT value, number, expires_at FROM function_key WHERE function_id = ? AND key = ?{}",
        tx.on_postgres(" FOR UPDATE")
    );
    let current = tx.query_one(with(find, place(key)), entry).await?;
    let is_there = current.is_some();
    let next = match change.apply(current, *now) {
        Ok(next) => next,
        Err(error) => return Ok(Err(error)),
    };
    let Some(next) = next else {
        let remove = "DELETE FROM function_key WHERE function_id = ? AND key = ?";
        tx.execute(with(remove, place(key))).await?;
        return Ok(Ok(None));
    };
    if is_there {
        let update = "UPDATE function_key SET value = ?, number = ?, expires_at = ? \
            WHERE function_id = ? AND key = ?";
        tx.execute(with(update, values(&next).into_iter().chain(place(key)))).await?;
        return Ok(Ok(Some(next.value)));
    }
    if !has_room(tx, key, *now, *max_keys).await? {
        return Ok(Err(too_many_keys(*max_keys)));
    }
    // Another node may have made it since: it counts on.
    let insert = "INSERT INTO function_key (function_id, key, value, number, expires_at) \
        VALUES (?, ?, ?, ?, ?) ON CONFLICT (function_id, key) DO UPDATE SET \
        value = excluded.value, number = CASE WHEN excluded.number IS NULL THEN NULL \
        ELSE excluded.number + COALESCE(function_key.number, 0) END \
        RETURNING value, number, expires_at";
    let put = match change {
        KvChange::Increment { .. } => insert.to_owned(),
        _ => insert.replace("COALESCE(function_key.number, 0)", "0"),
    };
    let put = with(put, place(key).into_iter().chain(values(&next)));
    Ok(Ok(tx.query_one(put, entry).await?.map(|entry| entry.value)))
}

/// Whether there is room for a key more, if need be where others have expired.
async fn has_room(
    tx: &impl Tx,
    key: &KvKey,
    now: Timestamp,
    max_keys: usize,
) -> Result<bool, DatabaseError> {
    let count = async || {
        let count = "SELECT COUNT(*) AS keys FROM function_key WHERE function_id = ?";
        let keys = tx.query_one(with(count, [id(key)]), |row| row.get::<i64>("keys")).await?;
        let keys = usize::try_from(keys.unwrap_or_default()).unwrap_or(usize::MAX);
        Ok::<_, DatabaseError>(keys < max_keys)
    };
    if count().await? {
        return Ok(true);
    }
    let forget = "DELETE FROM function_key WHERE function_id = ? AND expires_at <= ?";
    tx.execute(with(forget, [id(key), millis(now).into()])).await?;
    count().await
}

/// The value of a key.
pub(crate) async fn read(
    tx: &impl Read,
    key: &KvKey,
    now: Timestamp,
) -> Result<Option<KvValue>, DatabaseError> {
    let find = "SELECT value, number, expires_at FROM function_key \
        WHERE function_id = ? AND key = ? AND EXISTS \
        (SELECT 1 FROM document WHERE kind = 'function' AND id = function_key.function_id \
        AND account_id = ?)";
    let account = Param::from(key.account_id.as_uuid());
    let found = tx.query_one(with(find, place(key).into_iter().chain([account])), entry).await?;
    Ok(found.filter(|entry| entry.is_live(now)).map(|entry| entry.value))
}

fn id(key: &KvKey) -> Param<'static> {
    key.function_id.as_uuid().into()
}

fn place(key: &KvKey) -> [Param<'_>; 2] {
    [id(key), key.key.as_str().into()]
}

/// `value`, `number` and `expires_at`.
fn values(entry: &KvEntry) -> [Param<'_>; 3] {
    let (value, number) = match &entry.value {
        KvValue::Bytes(bytes) => (Param::from(Some(&bytes[..])), None),
        KvValue::Number(number) => (Param::Bytes(None), Some(*number)),
    };
    [value, number.into(), entry.expires_at.map(millis).into()]
}

fn entry(row: &Row<'_>) -> Result<KvEntry, DatabaseError> {
    let value = match row.get::<Option<i64>>("number")? {
        Some(number) => KvValue::Number(number),
        None => KvValue::Bytes(row.get::<Option<Vec<u8>>>("value")?.unwrap_or_default().into()),
    };
    Ok(KvEntry { value, expires_at: row.get::<Option<i64>>("expires_at")?.map(moment) })
}
