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

use futures_util::future::{try_join, try_join_all};
use serde::{Deserialize, Serialize};
use webhook_core::{
    NodeId,
    model::{Attempt, DeliveryStatus},
    store::{Accept, Origin, Settle},
};

use super::{Said, event, generator::Answered, latency::Stopwatch};
use crate::{
    Outcome,
    ledger::now_micros,
    seed::{Sender, now},
};

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
    /// Whose webhooks they are, in turn.
    pub(crate) buckets: usize,
    /// Each webhook's outcome is stored beside the next webhook.
    pub(crate) outcomes: bool,
    pub(crate) lasts: Duration,
    pub(crate) body_bytes: usize,
}

/// Returns when the event, or the outcome, is durable.
trait Commit: Send + Sync + 'static {
    fn commit(&self, accept: Accept) -> impl Future<Output = Outcome<()>> + Send;

    fn settle(&self, settle: Settle) -> impl Future<Output = Outcome<()>> + Send;
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

/// The success of a webhook's delivery at its first attempt.
fn sent(Accept { webhook, deliveries, .. }: &Accept, node: NodeId) -> Settle {
    let delivery = &deliveries[0];
    let attempt = Attempt {
        status_code: 200,
        response_body: "ok".into(),
        duration: Duration::from_millis(1),
        ..Attempt::default()
    };
    let mut settle = Settle::new(
        delivery.id,
        Origin::new(webhook, delivery.output_id, webhook.received_at),
        node,
        now(),
        DeliveryStatus::Sent,
    );
    settle.attempts = 1;
    settle.attempt = attempt.into();
    settle
}

async fn follow(engine: &Arc<impl Commit>, plan: CommitPlan) -> Outcome<Answered> {
    let began = Instant::now();
    let senders = Arc::new(Sender::buckets(plan.buckets));
    let node = NodeId::generate();
    let mut answered = Answered { began: now_micros(), ..Answered::default() };
    let callers = (0..plan.callers).map(|caller| {
        let (engine, senders) = (Arc::clone(engine), Arc::clone(&senders));
        tokio::spawn(async move {
            let mut watch = Stopwatch::new()?;
            let mut body = event::body(plan.body_bytes);
            let mut count = 0;
            let mut last = None;
            while began.elapsed() < plan.lasts {
                let number = count * plan.callers as u64 + caller as u64;
                event::number(&mut body, 0, number);
                let sender = &senders[number as usize % senders.len()];
                let accept = match plan.outcomes {
                    true => sender.held(body.clone(), node),
                    // Nothing delivers here; that it is nobody's yet costs more than if it were.
                    false => sender.pending(body.clone()),
                };
                let outcome = plan.outcomes.then(|| sent(&accept, node));
                let commit = async {
                    let asked = Instant::now();
                    engine.commit(accept).await?;
                    watch.record(asked.elapsed());
                    Outcome::Ok(())
                };
                let settle = async {
                    match last.take() {
                        Some(outcome) => engine.settle(outcome).await,
                        None => Ok(()),
                    }
                };
                try_join(commit, settle).await?;
                last = outcome;
                count += 1;
            }
            if let Some(outcome) = last {
                engine.settle(outcome).await?;
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
