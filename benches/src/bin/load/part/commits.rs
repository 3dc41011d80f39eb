//! Durable commits without HTTP and without deliveries: what the server's own
//! store takes in, and what bare SQLite takes in that shares commits as the
//! store does, with a table for webhooks, one for deliveries, and nothing else.

mod bare;
mod store;

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

use super::{Said, event, generator::Answered, latency::Stopwatch};
use crate::{Outcome, ledger::now_micros, seed::Sender};

/// Which program commits.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Engine {
    /// rusqlite on a thread of its own.
    Bare,
    /// `webhook-storage`.
    Store,
}

/// What to commit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct CommitPlan {
    /// How many wait for their commit at once.
    pub(crate) callers: usize,
    pub(crate) lasts: Duration,
    pub(crate) body_bytes: usize,
}

/// Returns when the event is durable.
trait Commit: Send + Sync + 'static {
    fn commit(&self, sender: &Sender, body: Vec<u8>) -> impl Future<Output = Outcome<()>> + Send;
}

pub(super) fn run(engine: Engine, folder: &Path) -> Outcome<()> {
    let runtime = super::multi_threaded()?;
    match engine {
        Engine::Bare => runtime.block_on(obey(bare::Bare::open(folder)?)),
        Engine::Store => runtime.block_on(async { obey(store::Store::open(folder).await?).await }),
    }
}

async fn obey(engine: impl Commit) -> Outcome<()> {
    let engine = Arc::new(engine);
    while let Some(plan) = super::order()? {
        let answered = follow(&engine, plan).await?;
        super::say(&Said::Done(answered))?;
    }
    Ok(())
}

async fn follow(engine: &Arc<impl Commit>, plan: CommitPlan) -> Outcome<Answered> {
    let began = Instant::now();
    let sender = Arc::new(Sender::new());
    let mut answered = Answered { began: now_micros(), ..Answered::default() };
    let callers = (0..plan.callers).map(|caller| {
        let (engine, sender) = (Arc::clone(engine), Arc::clone(&sender));
        tokio::spawn(async move {
            let mut watch = Stopwatch::new()?;
            let mut body = event::body(plan.body_bytes);
            let mut count = 0;
            while began.elapsed() < plan.lasts {
                event::number(&mut body, 0, count * plan.callers as u64 + caller as u64);
                let asked = Instant::now();
                engine.commit(&sender, body.clone()).await?;
                watch.record(asked.elapsed());
                count += 1;
            }
            Outcome::Ok((count, watch))
        })
    });
    let mut all = Stopwatch::new()?;
    for ended in try_join_all(callers).await? {
        let (count, watch) = ended?;
        answered.acknowledged += count;
        all.add(&watch)?;
    }
    answered.took = began.elapsed();
    answered.latency = all.latency();
    Ok(answered)
}
