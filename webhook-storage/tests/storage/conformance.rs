//! The suites of webhook-core on both databases.

use webhook_core::conformance::Fixture;

use crate::databases;

async fn sqlite() -> Fixture {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let storage = databases::open(&databases::sqlite(folder.path())).await;
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

macro_rules! suites {
    ($database:ident) => {
        mod $database {
            mod accounts {
                webhook_core::account_store_conformance!(crate::conformance::$database);
            }
            mod buckets {
                webhook_core::bucket_store_conformance!(crate::conformance::$database);
            }
            mod inputs {
                webhook_core::input_store_conformance!(crate::conformance::$database);
            }
            mod outputs {
                webhook_core::output_store_conformance!(crate::conformance::$database);
            }
            mod functions {
                webhook_core::function_store_conformance!(crate::conformance::$database);
            }
            mod deliveries {
                webhook_core::delivery_store_conformance!(crate::conformance::$database);
            }
            mod logs {
                webhook_core::log_store_conformance!(crate::conformance::$database);
            }
            mod tokens {
                webhook_core::token_store_conformance!(crate::conformance::$database);
            }
            mod domains {
                webhook_core::domain_store_conformance!(crate::conformance::$database);
            }
            mod crons {
                webhook_core::cron_store_conformance!(crate::conformance::$database);
            }
            mod billing {
                webhook_core::billing_store_conformance!(crate::conformance::$database);
            }
            mod deletion {
                webhook_core::deletion_conformance!(crate::conformance::$database);
            }
        }
    };
}

suites!(sqlite);
suites!(postgres);
