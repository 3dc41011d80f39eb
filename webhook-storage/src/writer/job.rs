//! Operations, and the callers who wait for them.

use sea_orm::prelude::Uuid;
use tokio::sync::oneshot;
use webhook_core::{Error, store::tally::LogCounters};

use super::queue::Reserved;
use crate::{
    fault::{DatabaseError, ErrorClass},
    tx::Tx,
};

/// What an operation came to.
pub(crate) type Reply<O> = Result<<O as Op>::Answer, Error>;

/// One kind of operation that goes through the queue.
pub(crate) trait Op: Send + Sync + Sized + 'static {
    /// What the caller gets when it is written.
    type Answer: std::fmt::Debug + Send + 'static;

    /// Whether it is undone when the caller is gone before the answer; others stand,
    /// whoever asked for them.
    const IS_TAKEN_BACK: bool = false;

    /// About how much memory it holds.
    fn size_bytes(&self) -> usize;

    /// What an error of this class says that it is about.
    fn error_subject(_class: ErrorClass) -> &'static str {
        "delivery"
    }

    /// Writes `ops`, all of one batch, and returns their replies in the same order. An error
    /// takes back the whole batch; what concerns one operation alone is its reply. Without an
    /// implementation of its own it writes one after the other with [`write`](Self::write).
    async fn apply(
        tx: &impl Tx,
        ops: &[Self],
        context: &mut Context,
    ) -> Result<Vec<Reply<Self>>, Failure> {
        let mut replies = Vec::with_capacity(ops.len());
        for op in ops {
            replies.push(op.write(tx, context).await?);
        }
        Ok(replies)
    }

    /// Writes one operation. An implementation has this or [`apply`](Self::apply).
    async fn write(&self, tx: &impl Tx, context: &mut Context) -> Result<Reply<Self>, Failure> {
        let mut replies = Self::apply(tx, std::slice::from_ref(self), context).await?;
        replies.pop().ok_or(Failure::Split)
    }

    /// Undoes what was answered to a caller who is gone.
    async fn take_back(
        &self,
        _tx: &impl Tx,
        _answer: Self::Answer,
        _context: &mut Context,
    ) -> Result<(), DatabaseError> {
        Ok(())
    }
}

/// What the operations of one transaction share.
#[derive(Debug)]
pub(crate) struct Context {
    /// What they change of the running counts, which are written last.
    pub(crate) counters: LogCounters,
    /// How many bytes of webhooks one of them returns.
    pub(crate) claim_bytes: usize,
}

/// Why a batch was not written.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A statement failed.
    Database(DatabaseError),
    /// One operation has to be seen apart from the others.
    Split,
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl Failure {
    /// What the caller of an operation gets that failed alone.
    pub(super) fn into_error<O: Op>(self) -> Error {
        match self {
            Self::Database(error) => refusal::<O>(error),
            Self::Split => Error::internal(std::io::Error::other("an operation cannot be split")),
        }
    }
}

/// What the caller of an operation gets whose statement failed.
pub(super) fn refusal<O: Op>(error: DatabaseError) -> Error {
    let class = error.class();
    class.error(error, O::error_subject(class))
}

/// An operation and the caller who waits for it.
#[derive(Debug)]
pub(crate) struct Job<O: Op> {
    /// What is to be written.
    pub(super) op: O,
    /// Where the caller waits, if it still does.
    pub(super) reply: oneshot::Sender<Reply<O>>,
    /// Its room in the queue.
    pub(super) reserved: Reserved,
}

/// An operation on what belongs to an account.
#[derive(Clone, Debug)]
pub(crate) struct InAccount<T> {
    /// Whose it is.
    pub(crate) account: Uuid,
    /// What is asked for.
    pub(crate) what: T,
}
