//! Several nodes on one PostgreSQL database.

use std::{collections::HashSet, time::Duration};

use futures_util::future::join_all;
use sea_orm::{ConnectionTrait, Database, DbBackend, Statement};
use webhook_core::{
    ErrorKind, NodeId, OutputId,
    store::{DeliveryStore, Lease, Origin, RouteStore},
};
use webhook_storage::{DatabaseUrl, SecretKey, Storage};

use crate::{
    databases::{Tested, open, postgres},
    sample::{NOW, accept, claim, sent, sweep, with},
};

#[tokio::test(flavor = "multi_thread")]
async fn nodes_that_start_at_once_agree_on_schema_and_key() -> Tested {
    let Some((options, remove)) = postgres().await else { return Ok(()) };
    let nodes = join_all((0..4).map(|_| Storage::connect(&options))).await;
    let nodes = nodes.into_iter().collect::<Result<Vec<_>, _>>()?;

    let mut other = options.clone();
    other.secret_key = SecretKey::generate()?;
    let error = Storage::connect(&other).await.expect_err("another key");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    for node in nodes {
        node.close().await;
    }
    remove.await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_share_the_queue_without_sharing_a_delivery() -> Tested {
    const DELIVERIES: usize = 400;
    let Some((options, remove)) = postgres().await else { return Ok(()) };
    let stores = [open(&options).await, open(&options).await];
    let output = OutputId::generate();
    join_all((0..DELIVERIES).map(|number| stores[number % 2].accept(accept(output))))
        .await
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;

    let workers = (0..8).map(|number| {
        let (store, node) = (stores[number % 2].clone(), NodeId::generate());
        tokio::spawn(async move {
            store.extend_lease(Lease::new(node, 0, NOW + Duration::from_secs(60))).await?;
            let mut mine = Vec::new();
            loop {
                let claimed = store.claim(with(claim(node, output), |claim| claim.limit = 7));
                let claimed = claimed.await?;
                let settled = claimed
                    .deliveries
                    .iter()
                    .map(|held| store.settle(sent(held.id, Origin::of(held), node)));
                join_all(settled).await.into_iter().collect::<Result<(), _>>()?;
                mine.extend(claimed.deliveries.iter().map(|pending| pending.id));
                if claimed.deliveries.is_empty() && claimed.next_due_at.is_none() {
                    return Ok::<_, webhook_core::Error>(mine);
                }
            }
        })
    });
    let mut all = Vec::new();
    for worker in join_all(workers).await {
        all.extend(worker??);
    }
    assert_eq!(all.len(), DELIVERIES, "none was claimed twice");
    assert_eq!(all.into_iter().collect::<HashSet<_>>().len(), DELIVERIES);
    for store in stores {
        store.close().await;
    }
    remove.await;
    Ok(())
}

/// When each connection of the application `name` last ran a query.
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
async fn last_queries(name: &str) -> Result<HashSet<String>, sea_orm::DbErr> {
    let server = std::env::var("TEST_POSTGRES_URL").expect("it was set before");
    let watch = Database::connect(server).await?;
    let sql = "SELECT pid || ' ' || query_start AS last FROM pg_stat_activity \
        WHERE application_name = $1";
    let query = Statement::from_sql_and_values(DbBackend::Postgres, sql, [name.into()]);
    let rows = watch.query_all_raw(query).await?;
    watch.close().await?;
    rows.iter().map(|row| row.try_get_by("last")).collect()
}

#[tokio::test]
async fn an_idle_storage_runs_no_queries() -> Tested {
    let Some((mut options, remove)) = postgres().await else { return Ok(()) };
    let DatabaseUrl::Postgres(url) = &options.database_url else {
        unreachable!("it is PostgreSQL")
    };
    let name = format!("idle-{}", NodeId::generate());
    options.database_url = format!("{url}&application_name={name}").parse()?;
    let storage = open(&options).await;
    let (node, output) = (NodeId::generate(), OutputId::generate());
    storage.accept(accept(output)).await?;
    storage.claim(claim(node, output)).await?;
    assert_eq!(storage.backlogs(sweep()).await?.len(), 1);
    assert!(storage.bucket_of_output(output).await?.is_none(), "nobody made the output");
    let before = last_queries(&name).await?;
    assert!(!before.is_empty(), "its connections are there");

    // Every timer of that day fires.
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(86_400)).await;
    tokio::time::resume();
    let after = last_queries(&name).await?;
    assert!(after.is_subset(&before), "before {before:?}, after {after:?}");
    storage.close().await;
    remove.await;
    Ok(())
}
