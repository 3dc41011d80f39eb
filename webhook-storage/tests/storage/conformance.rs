//! The suites of webhook-core on both databases.

use webhook_conformance::Fixture;

use crate::{
    databases,
    objects::{Objects, with_objects},
    schemas::Schemas,
};

async fn sqlite() -> Fixture {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let storage = databases::open(&databases::migrated(folder.path()).await).await;
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
    let options =
        with_objects(databases::migrated(folder.path()).await, &Objects::new(), min_bytes);
    let storage = databases::open(&options).await;
    Fixture::new(storage.clone()).keep(folder).teardown(async move { storage.close().await })
}

async fn postgres() -> Fixture {
    static SCHEMAS: Schemas = Schemas::new(false);
    in_one_of(&SCHEMAS).await
}

/// PostgreSQL with tables for each day.
async fn postgres_by_day() -> Fixture {
    static SCHEMAS: Schemas = Schemas::new(true);
    in_one_of(&SCHEMAS).await
}

async fn in_one_of(schemas: &'static Schemas) -> Fixture {
    let Some((options, give_back)) = schemas.take().await else {
        return Fixture::skip("TEST_POSTGRES_URL is not set");
    };
    let storage = databases::open(&options).await;
    Fixture::new(storage.clone()).teardown(async move {
        storage.close().await;
        give_back.await;
    })
}

/// The suites of the tables that days divide.
macro_rules! suites_of_days {
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
        mod erasures {
            webhook_conformance::erasure_store_conformance!(crate::conformance::$database);
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
            mod documents {
                webhook_conformance::document_store_conformance!(crate::conformance::$database);
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
            mod sessions {
                webhook_conformance::session_store_conformance!(crate::conformance::$database);
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
            suites_of_days!($database);
        }
    };
}

suites!(sqlite);
suites!(postgres);

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

/// The other tables are the same as without days.
mod postgres_by_day {
    suites_of_days!(postgres_by_day);
}
