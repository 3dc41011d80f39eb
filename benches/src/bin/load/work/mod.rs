//! One pass, one file for each kind.

mod backlog;
mod buckets;
pub(crate) mod commit;
mod crash;
pub(crate) mod dashboard;
pub(crate) mod generator;
mod growth;
mod idle;
mod listing;
pub(crate) mod load;
mod management;
mod nodes;
mod overload;
mod postgres;
mod replay;
pub(crate) mod search;
pub(crate) mod sink;
mod socket;
mod startup;

use crate::{Outcome, measured::Measured, options::Context, subject::Subject};

/// What is done in a pass.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Webhooks over HTTP, delivered to the sink.
    Load(load::Load),
    /// Durable commits of 1 KiB, without HTTP.
    Commit(commit::Commits),
    /// From the start of the process to its first answer, with nothing stored.
    Start,
    /// The same with a backlog, and then its delivery.
    Backlog,
    /// A bucket that works, during the deletion of an output of another bucket with a backlog.
    DeletedBacklog,
    /// The same next to a backlog whose destination refuses connections.
    BrokenBacklog,
    /// Nothing.
    Idle,
    /// More than the output takes, until senders are refused, and on.
    Overload,
    /// `kill -9` in the middle, and a restart.
    Crash,
    /// Lists, statistics and resends, alone and beside full ingest.
    Listing,
    /// Searches, alone and beside full ingest.
    Search,
    /// A replay at so many webhooks a second, beside fresh ones.
    Replay { rate: u32 },
    /// The management operations of an account with many buckets.
    Management,
    /// Buckets of one account, until there are many, and pages of them.
    Buckets,
    /// The dashboard's pages over many logs.
    Pages,
    /// From a sender to so many WebSocket clients.
    Socket { clients: usize },
    /// Memory of WebSocket clients that do nothing.
    IdleSockets,
    /// Webhooks over HTTP to so many servers on one PostgreSQL database.
    Nodes { nodes: usize },
    /// Lists of a log on PostgreSQL that grows, and days of it that go.
    Growth,
}

/// What came of a pass, or why it was left out.
pub(crate) enum Pass {
    Measured(Measured),
    Skipped(String),
}

/// Says how far a pass is.
pub(crate) type Progress<'a> = dyn Fn(&str) + 'a;

impl Work {
    pub(crate) fn measure(
        self,
        context: &Context,
        subject: Subject,
        progress: &Progress<'_>,
    ) -> Outcome<Pass> {
        let measured = match (self, subject) {
            (Self::Load(load), Subject::Bare | Subject::Store) => {
                let commits =
                    commit::Commits { callers: load.connections, ..commit::Commits::ORDINARY };
                commits.measure(context, subject, progress)?
            }
            (Self::Load(load), Subject::ByHand) => {
                return postgres::by_hand(context, load.connections);
            }
            (Self::Load(load), _) => return load.measure(context, subject, progress),
            (Self::Commit(commits), _) => commits.measure(context, subject, progress)?,
            (Self::Start, _) => startup::empty(context)?,
            (Self::Backlog, _) => startup::backlog(context, progress)?,
            (Self::DeletedBacklog, _) => backlog::deleted(context, progress)?,
            (Self::BrokenBacklog, _) => backlog::broken(context, progress)?,
            (Self::Idle, _) => idle::measure(context)?,
            (Self::Overload, _) => overload::measure(context, progress)?,
            (Self::Crash, _) => crash::measure(context, progress)?,
            (Self::Listing, _) => listing::measure(context, progress)?,
            (Self::Search, _) => search::measure(context, progress)?,
            (Self::Replay { rate }, _) => replay::measure(context, rate, progress)?,
            (Self::Management, _) => management::measure(context)?,
            (Self::Buckets, _) => buckets::measure(context, progress)?,
            (Self::Pages, _) => dashboard::measure(context, progress)?,
            (Self::Socket { clients }, _) => socket::measure(context, clients)?,
            (Self::IdleSockets, _) => socket::idle(context)?,
            (Self::Nodes { nodes }, _) => return nodes::measure(context, nodes, progress),
            (Self::Growth, _) => return growth::measure(context, subject, progress),
        };
        Ok(Pass::Measured(measured))
    }
}

/// Bytes as MiB.
fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Microseconds for each of `count`.
fn micros_each(time: std::time::Duration, count: u64) -> f64 {
    time.as_secs_f64() * 1e6 / count.max(1) as f64
}
