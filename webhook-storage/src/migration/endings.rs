//! What came to an end, listed at less cost.

use sea_orm_migration::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

/// `delivery_ended` as before, said so that SQLite compares: for a list of more
/// than two values it fills a temporary table each time, twice for an outcome.
const SCHEMA: &str = r#"
DROP INDEX delivery_ended;
CREATE INDEX delivery_ended ON delivery (account_id, bucket_id, status, created_at, id)
    WHERE due_at IS NULL AND status NOT IN (0, 4);
"#;

#[derive(Debug)]
pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0011_endings"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::run(manager, SCHEMA).await
    }
}
