use crate::{
    Storage,
    writer::tests::{Tested, found_in, options_in},
};

#[tokio::test]
async fn what_an_earlier_version_removed_is_overwritten_once() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = options_in(&folder)?;
    Storage::connect(&options).await?.close().await;
    let path = folder.path().join("webhooks.db");
    let former = rusqlite::Connection::open(&path)?;
    former.execute_batch(
        "PRAGMA secure_delete = FAST; DELETE FROM meta WHERE name = 'free_pages_overwritten'; \
         CREATE TABLE removed (body BLOB); \
         WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 300) \
         INSERT INTO removed SELECT CAST('removed' || hex(zeroblob(n * 40)) || 'removed' AS BLOB) \
         FROM n; DROP TABLE removed;",
    )?;
    former.close().map_err(|(_, error)| error)?;
    let before = path.metadata()?.len();
    assert!(found_in(&folder, b"removed")? > 100, "as an earlier version left it");

    Storage::connect(&options).await?.close().await;
    assert_eq!(found_in(&folder, b"removed")?, 0);
    let pages = (path.metadata()?.len() - before) / 4096;
    assert!(pages <= 4, "the file has grown by {pages} pages");
    let again = rusqlite::Connection::open(&path)?;
    let left = "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'free_page'";
    assert_eq!(again.query_row(left, [], |row| row.get::<_, i64>(0))?, 0);
    Ok(())
}
