//! The host that is connected to, which may stop to be the one that is wanted.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use sea_orm::sqlx::{PgConnection, PgPool};
use tokio::{
    sync::Notify,
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::hosts::{HOST_TIMEOUT, Hosts, SILENT, reason};
use crate::locked::locked;

/// How often the server is asked whether it is still the one that is wanted.
const LOOK: Duration = Duration::from_secs(1);

/// How long after nothing was found hosts are asked again.
pub(super) const PAUSE: Duration = Duration::from_millis(250);

/// When connections moved to another host.
#[derive(Debug, Default)]
pub(super) struct Moves {
    last: Mutex<Option<Instant>>,
    look: Notify,
}

impl Moves {
    /// Whether a connection of this age leads to a host that was left.
    pub(super) fn left_behind(&self, age: Duration) -> bool {
        locked(&self.last).is_some_and(|last| age > last.elapsed())
    }

    /// Lets the watch ask the server immediately.
    pub(super) fn look(&self) {
        self.look.notify_one();
    }
}

/// Leads pools to the host that is wanted until it is dropped.
///
/// A pool connects to one host. Only a connection that is not opened by a pool can tell why
/// nothing answers, so there is one for that.
#[derive(Debug)]
pub(crate) struct Watch {
    task: JoinHandle<()>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Watch {
    pub(super) fn stop(&self) {
        self.task.abort();
    }

    pub(super) fn start(
        hosts: Arc<Hosts>,
        host: usize,
        connection: PgConnection,
        moves: Arc<Moves>,
        pools: Vec<PgPool>,
    ) -> Self {
        Self { task: tokio::spawn(watch(hosts, host, connection, moves, pools)) }
    }
}

async fn watch(
    hosts: Arc<Hosts>,
    mut host: usize,
    mut connection: PgConnection,
    moves: Arc<Moves>,
    pools: Vec<PgPool>,
) {
    loop {
        // Either is a reason to look.
        let _ = timeout(LOOK, moves.look.notified()).await;
        let why = match timeout(HOST_TIMEOUT, hosts.expect_wanted(&mut connection)).await {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => reason(&error),
            Err(_) => SILENT.to_owned(),
        };
        tracing::warn!(host = hosts.name(host), why, "another host of the database is looked for");
        let found = loop {
            match hosts.find().await {
                Ok(found) => break found,
                Err(none) => {
                    tracing::debug!(%none, "the database is not there");
                    sleep(PAUSE).await;
                }
            }
        };
        let is_another = found.0 != host;
        (host, connection) = found;
        if is_another && let Some(options) = hosts.get(host) {
            for pool in &pools {
                pool.set_connect_options(options.clone());
            }
            *locked(&moves.last) = Some(Instant::now());
        }
        tracing::info!(host = hosts.name(host), "this host of the database is used");
    }
}
