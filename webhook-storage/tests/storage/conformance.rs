//! The suites of webhook-core on both databases.

use webhook_conformance::Fixture;

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
            mod deliveries {
                webhook_conformance::delivery_store_conformance!(crate::conformance::$database);
            }
            mod logs {
                webhook_conformance::log_store_conformance!(crate::conformance::$database);
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
            mod billing {
                webhook_conformance::billing_store_conformance!(crate::conformance::$database);
            }
            mod deletion {
                webhook_conformance::deletion_conformance!(crate::conformance::$database);
            }
        }
    };
}

suites!(sqlite);
suites!(postgres);
