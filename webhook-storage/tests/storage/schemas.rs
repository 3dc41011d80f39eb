//! Schemas of PostgreSQL that one case after another uses. To make one takes 0.3 s, to empty
//! it a twentieth of that.

use std::pin::Pin;

use sea_orm::{ConnectionTrait, Database, DatabaseConnection};
use tokio::sync::Mutex;
use webhook_storage::{DatabaseUrl, Storage, StorageOptions};

use crate::databases;

/// As many schemas as cases run at the same time. The last case to end removes them.
pub(crate) struct Schemas {
    is_by_day: bool,
    state: Mutex<State>,
}

struct State {
    in_use: usize,
    free: Vec<Schema>,
}

struct Schema {
    options: StorageOptions,
    remove: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// What there was before the first case.
    empty: Vec<Table>,
}

/// A table, the triggers on it, and its rows as XML; without the rows of a part of a table,
/// because the whole table has them.
#[derive(PartialEq)]
struct Table {
    name: String,
    triggers: String,
    rows: Option<String>,
}

const TABLES: &str = "SELECT c.relname::text AS name, \
    coalesce((SELECT string_agg(t.tgname::text, ',' ORDER BY t.tgname) FROM pg_trigger t \
        WHERE t.tgrelid = c.oid AND NOT t.tgisinternal), '') AS triggers, \
    CASE WHEN NOT c.relispartition THEN \
        query_to_xml(format('SELECT * FROM %I', c.relname), true, true, '')::text END AS rows \
    FROM pg_class c \
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1";

async fn tables(database: &DatabaseConnection) -> Vec<Table> {
    let rows = database
        .query_all_raw(sea_orm::Statement::from_string(sea_orm::DatabaseBackend::Postgres, TABLES));
    let rows = rows.await.expect("the tables are listed");
    let table = |row: &sea_orm::QueryResult| Table {
        name: row.try_get("", "name").expect("a name"),
        triggers: row.try_get("", "triggers").expect("names"),
        rows: row.try_get("", "rows").expect("rows"),
    };
    rows.iter().map(table).collect()
}

impl Schemas {
    /// `is_by_day`: with tables for each day.
    pub(crate) const fn new(is_by_day: bool) -> Self {
        Self { is_by_day, state: Mutex::const_new(State { in_use: 0, free: Vec::new() }) }
    }

    /// A schema without accounts, and what gives it back. None, and a line that says so, when
    /// `TEST_POSTGRES_URL` is not set.
    pub(crate) async fn take(
        &'static self,
    ) -> Option<(StorageOptions, impl Future<Output = ()> + Send + 'static)> {
        let free = self.state.lock().await.free.pop();
        let schema = match free {
            Some(schema) => schema,
            None => self.make().await?,
        };
        self.state.lock().await.in_use += 1;
        Some((schema.options.clone(), self.give_back(schema)))
    }

    async fn make(&self) -> Option<Schema> {
        let (options, remove) = databases::postgres().await?;
        if self.is_by_day {
            Storage::divide_by_day(&options).await.expect("it can be divided");
        }
        databases::open(&options).await.close().await;
        let database = connect(&options).await;
        let empty = tables(&database).await;
        database.close().await.expect("the connection can be closed");
        Some(Schema { options, remove: Box::pin(remove), empty })
    }

    async fn give_back(&self, schema: Schema) {
        let schema = schema.emptied().await;
        let unused = {
            let mut state = self.state.lock().await;
            state.in_use -= 1;
            state.free.extend(schema);
            if state.in_use == 0 { std::mem::take(&mut state.free) } else { Vec::new() }
        };
        for schema in unused {
            schema.remove.await;
        }
    }
}

impl Schema {
    /// The schema as it was before the first case. A case that changed more than rows of
    /// accounts, such as the tables of a day, takes it along.
    async fn emptied(self) -> Option<Self> {
        let database = connect(&self.options).await;
        let was_empty = |table: &&Table| table.rows.as_ref().is_some_and(String::is_empty);
        let deletes = self.empty.iter().filter(was_empty);
        let deletes: String = deletes.map(|table| format!("DELETE FROM {};", table.name)).collect();
        // Each sweep writes when the next one is due.
        let empty = format!("{deletes}UPDATE sweep_turn SET next_at = 0");
        let emptied = database.execute_unprepared(&empty).await.is_ok()
            && tables(&database).await == self.empty;
        database.close().await.expect("the connection can be closed");
        if emptied {
            return Some(self);
        }
        self.remove.await;
        None
    }
}

async fn connect(options: &StorageOptions) -> DatabaseConnection {
    let DatabaseUrl::Postgres(url) = &options.database_url else { panic!("it is PostgreSQL's") };
    Database::connect(url).await.expect("the server can be reached")
}
