//! Pages of a SQLite file that nothing uses, and that have yet what was removed from them.
//!
//! Versions up to this one left them so. From now on a page is overwritten when it becomes free.

use webhook_core::Error;

use super::Database;
use crate::{
    entity::meta,
    fault::{About, DatabaseError},
    tx::{Read, Tx, with},
};

/// In the table `meta`: that it was done.
const NAME: &str = "free_pages_overwritten";

/// How many pages are overwritten with one commit.
const AT_ONCE: i64 = 8_192;

/// Overwrites all free pages of a file that an earlier version wrote, once. They are used for a
/// table of zeros. When this ends early, the next start continues.
pub(crate) async fn overwrite_free_pages(database: &Database) -> Result<(), Error> {
    if meta::get(&database.write, NAME).await.about("database")?.is_none() {
        overwrite(database).await.about("database")?;
        meta::set(&database.write, NAME, Vec::new()).await.about("database")?;
    }
    Ok(())
}

async fn overwrite(database: &Database) -> Result<(), DatabaseError> {
    let write = &database.write;
    let page = with("PRAGMA page_size", []);
    let page = write.query_one(page, |row| row.get::<i64>("page_size")).await?.unwrap_or(4096);
    write.run("CREATE TABLE IF NOT EXISTS free_page (zeros BLOB)").await?;
    loop {
        let free = free_pages(write).await?;
        if free == 0 {
            break;
        }
        tracing::info!(free, "overwriting pages of the file that nothing uses");
        let zeros = free.min(AT_ONCE).saturating_mul(page);
        write.execute(with("INSERT INTO free_page VALUES (zeroblob(?))", [zeros.into()])).await?;
    }
    // They are zero already.
    write.run("PRAGMA secure_delete = OFF").await?;
    let dropped = write.run("DROP TABLE free_page").await;
    write.run("PRAGMA secure_delete = ON").await?;
    dropped
}

async fn free_pages(write: &impl Read) -> Result<i64, DatabaseError> {
    let count = with("PRAGMA freelist_count", []);
    Ok(write.query_one(count, |row| row.get::<i64>("freelist_count")).await?.unwrap_or(0))
}

#[cfg(test)]
mod tests;
