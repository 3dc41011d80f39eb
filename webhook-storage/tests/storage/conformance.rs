//! The suites of webhook-core on both databases.

use webhook_conformance::Fixture;
use webhook_storage::ShardedStorage;

use crate::{
    databases,
    objects::{Objects, with_objects},
};

async fn sqlite() -> Fixture {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let storage = databases::open(&databases::sqlite(folder.path())).await;
    Fixture::new(storage.clone()).keep(folder).teardown(async move { storage.close().await })
}

/// Every body is an object.
async fn sqlite_objects() -> Fixture {
    with_objects_above(0).await
}

/// Those are objects that no suite searches in.
async fn sqlite_large_objects() -> Fixture {
    with_objects_above(2_500).await
}

async fn with_objects_above(min_bytes: usize) -> Fixture {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = with_objects(databases::sqlite(folder.path()), &Objects::new(), min_bytes);
    let storage = databases::open(&options).await;
    Fixture::new(storage.clone()).keep(folder).teardown(async move { storage.close().await })
}

async fn postgres() -> Fixture {
    let Some((options, remove)) = databases::postgres().await else {
        return Fixture::skip("TEST_POSTGRES_URL is not set");
    };
    let storage = databases::open(&options).await;
    Fixture::new(storage.clone()).teardown(async move {
        storage.close().await;
        remove.await;
    })
}

/// Two databases, of which the first one has the configuration as well.
async fn sharded_sqlite() -> Fixture {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let control = databases::sqlite(folder.path());
    let shards = [control.database_url.clone(), databases::file(folder.path(), "second.db")];
    let storage = ShardedStorage::connect(&control, &shards).await.expect("they can be opened");
    let close = storage.clone();
    Fixture::of(storage.stores()).keep(folder).teardown(async move { close.close().await })
}

/// The same with two schemas, both with tables for each day.
async fn sharded_postgres() -> Fixture {
    let one = databases::postgres().await;
    let Some(((control, remove), (second, remove_second))) = one.zip(databases::postgres().await)
    else {
        return Fixture::skip("TEST_POSTGRES_URL is not set");
    };
    let shards = [control.database_url.clone(), second.database_url.clone()];
    ShardedStorage::divide_by_day(&control, &shards).await.expect("they can be divided");
    let storage = ShardedStorage::connect(&control, &shards).await.expect("they can be opened");
    let close = storage.clone();
    Fixture::of(storage.stores()).teardown(async move {
        close.close().await;
        remove.await;
        remove_second.await;
    })
}

/// The suites of what is divided among shards.
macro_rules! suites_of_shards {
    ($database:ident) => {
        mod deliveries {
            webhook_conformance::delivery_store_conformance!(crate::conformance::$database);
        }
        mod logs {
            webhook_conformance::log_store_conformance!(crate::conformance::$database);
        }
        mod replays {
            webhook_conformance::replay_store_conformance!(crate::conformance::$database);
        }
        mod queues {
            webhook_conformance::queue_store_conformance!(crate::conformance::$database);
        }
        mod deletion {
            webhook_conformance::deletion_conformance!(crate::conformance::$database);
        }
    };
}

macro_rules! suites {
    ($database:ident) => {
        mod $database {
            mod accounts {
                webhook_conformance::account_store_conformance!(crate::conformance::$database);
            }
            mod buckets {
                webhook_conformance::bucket_store_conformance!(crate::conformance::$database);
            }
            mod inputs {
                webhook_conformance::input_store_conformance!(crate::conformance::$database);
            }
            mod outputs {
                webhook_conformance::output_store_conformance!(crate::conformance::$database);
            }
            mod functions {
                webhook_conformance::function_store_conformance!(crate::conformance::$database);
            }
            mod tokens {
                webhook_conformance::token_store_conformance!(crate::conformance::$database);
            }
            mod domains {
                webhook_conformance::domain_store_conformance!(crate::conformance::$database);
            }
            mod crons {
                webhook_conformance::cron_store_conformance!(crate::conformance::$database);
            }
            mod notifications {
                webhook_conformance::notification_store_conformance!(crate::conformance::$database);
            }
            mod billing {
                webhook_conformance::billing_store_conformance!(crate::conformance::$database);
            }
            suites_of_shards!($database);
        }
    };
}

suites!(sqlite);
suites!(postgres);
suites!(sharded_sqlite);

/// What has bodies.
mod sqlite_objects {
    mod deliveries {
        webhook_conformance::delivery_store_conformance!(crate::conformance::sqlite_objects);
    }
    mod logs {
        webhook_conformance::log_store_conformance!(crate::conformance::sqlite_large_objects);
    }
    mod replays {
        webhook_conformance::replay_store_conformance!(crate::conformance::sqlite_objects);
    }
    mod queues {
        webhook_conformance::queue_store_conformance!(crate::conformance::sqlite_objects);
    }
    mod deletion {
        webhook_conformance::deletion_conformance!(crate::conformance::sqlite_objects);
    }
}

/// What neither shards nor days divide is as in a database that is alone, and a schema takes
/// PostgreSQL a second.
mod sharded_postgres {
    suites_of_shards!(sharded_postgres);
}
