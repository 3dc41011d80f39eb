//! What is written in one transaction.

use tokio::sync::oneshot;
use webhook_core::store::{Claim, ClientReport, Drain, KvWrite, Redeliver, Settle};

use super::{
    job::{Context, Failure, InAccount, Job, Op, Reply, refusal},
    ops::{ChangeReplay, FeedOp, Incoming, Purge, Record, WithRuns},
    queue::Reserved,
};
use crate::{
    fault::{self, DatabaseError},
    fold,
    tx::Tx,
};

/// The operations of one kind in a batch.
#[derive(Debug)]
pub(super) struct Group<O: Op> {
    /// What is to be written.
    ops: Vec<O>,
    /// Who waits for each of them.
    callers: Vec<(oneshot::Sender<Reply<O>>, Reserved)>,
    /// What each of them came to, once the batch was tried.
    replies: Vec<Reply<O>>,
    /// Answers that nobody was told, by the number of the operation.
    unheard: Vec<(usize, O::Answer)>,
}

impl<O: Op> Default for Group<O> {
    fn default() -> Self {
        Self { ops: Vec::new(), callers: Vec::new(), replies: Vec::new(), unheard: Vec::new() }
    }
}

impl<O: Op> Group<O> {
    fn push(&mut self, Job { op, reply, reserved }: Job<O>) {
        self.ops.push(op);
        self.callers.push((reply, reserved));
    }

    /// What the operations came to.
    pub(super) fn replies(&self) -> &[Reply<O>] {
        &self.replies
    }

    /// Writes all of them.
    async fn apply(&mut self, tx: &impl Tx, context: &mut Context) -> Result<(), Failure> {
        if !self.ops.is_empty() {
            self.replies = O::apply(tx, &self.ops, context).await?;
        }
        Ok(())
    }

    /// Writes each of them so that it leaves nothing if it fails.
    async fn apply_one_by_one(
        &mut self,
        tx: &impl Tx,
        claim_bytes: usize,
    ) -> Result<(), DatabaseError> {
        self.replies.clear();
        for op in &self.ops {
            tx.run("SAVEPOINT alone").await?;
            match alone(tx, op, claim_bytes).await {
                Ok(replies) => self.replies.extend(replies),
                Err(Failure::Database(error)) if error.class().is_of_the_database() => {
                    return Err(error);
                }
                Err(failure) => {
                    tx.run("ROLLBACK TO SAVEPOINT alone").await?;
                    self.replies.push(Err(failure.into_error::<O>()));
                }
            }
            tx.run("RELEASE SAVEPOINT alone").await?;
        }
        Ok(())
    }

    /// Nothing was written, because of this error.
    fn refuse(&mut self, error: &DatabaseError) {
        self.replies = self.ops.iter().map(|_| Err(refusal::<O>(error.clone()))).collect();
    }

    /// Sets aside what there is nobody to tell, where that has to be taken back.
    fn set_aside(&mut self) {
        if !O::IS_TAKEN_BACK {
            return;
        }
        let gone = self.callers.iter().map(|(caller, _)| caller.is_closed());
        for (number, (is_gone, reply)) in gone.zip(&mut self.replies).enumerate() {
            if is_gone && let Ok(answer) = std::mem::replace(reply, Err(fault::closed())) {
                self.unheard.push((number, answer));
            }
        }
    }

    /// Tells the callers, if answers of this kind can be taken back, or if they cannot.
    fn answer(&mut self, taken_back: bool) {
        if O::IS_TAKEN_BACK != taken_back {
            return;
        }
        let answers = self.callers.drain(..).zip(self.replies.drain(..)).enumerate();
        for (number, ((caller, reserved), reply)) in answers {
            // Who has an answer finds the room given back.
            drop(reserved);
            if let Err(Ok(answer)) = caller.send(reply)
                && O::IS_TAKEN_BACK
            {
                self.unheard.push((number, answer));
            }
        }
    }

    async fn take_back(
        &mut self,
        tx: &impl Tx,
        context: &mut Context,
    ) -> Result<(), DatabaseError> {
        for (number, answer) in self.unheard.drain(..) {
            if let Some(op) = self.ops.get(number) {
                op.take_back(tx, answer, context).await?;
            }
        }
        Ok(())
    }
}

/// Writes one operation, and what it changes of the counts.
async fn alone<O: Op>(tx: &impl Tx, op: &O, claim_bytes: usize) -> Result<Vec<Reply<O>>, Failure> {
    let mut context = Context { counters: Default::default(), claim_bytes };
    let replies = O::apply(tx, std::slice::from_ref(op), &mut context).await?;
    fold::append(tx, &context.counters).await?;
    Ok(replies)
}

macro_rules! operations {
    ($($group:ident: $kind:ident($op:ty)),+ $(,)?) => {
        /// A job of any kind.
        #[derive(Debug)]
        pub(crate) enum Queued {
            $($kind(Job<$op>),)+
        }

        impl Queued {
            /// About how much memory its operation holds.
            pub(super) fn size_bytes(&self) -> usize {
                match self {
                    $(Self::$kind(job) => job.reserved.bytes,)+
                }
            }
        }

        $(impl From<Job<$op>> for Queued {
            fn from(job: Job<$op>) -> Self {
                Self::$kind(job)
            }
        })+

        /// The operations of one transaction by their kinds, in the order in which they are
        /// written.
        #[derive(Debug, Default)]
        pub(super) struct Batch {
            $(pub(super) $group: Group<$op>,)+
        }

        impl Batch {
            pub(super) fn of(jobs: Vec<Queued>) -> Self {
                let mut batch = Self::default();
                for job in jobs {
                    match job {
                        $(Queued::$kind(job) => batch.$group.push(job),)+
                    }
                }
                batch
            }

            /// How many operations it has.
            pub(super) fn len(&self) -> usize {
                0 $(+ self.$group.ops.len())+
            }

            /// Writes all operations, and what they change of the counts.
            pub(super) async fn apply(
                &mut self,
                tx: &impl Tx,
                claim_bytes: usize,
            ) -> Result<(), Failure> {
                let mut context = Context { counters: Default::default(), claim_bytes };
                $(self.$group.apply(tx, &mut context).await?;)+
                fold::append(tx, &context.counters).await?;
                Ok(())
            }

            /// Writes all operations, of which those that fail leave nothing. An error is of
            /// the database: others would fare no better alone.
            pub(super) async fn apply_one_by_one(
                &mut self,
                tx: &impl Tx,
                claim_bytes: usize,
            ) -> Result<(), DatabaseError> {
                $(self.$group.apply_one_by_one(tx, claim_bytes).await?;)+
                Ok(())
            }

            /// Nothing was written, because of this error: it is everybody's.
            pub(super) fn refuse(&mut self, error: &DatabaseError) {
                $(self.$group.refuse(error);)+
            }

            /// Tells the callers of what stands what it came to, and sets aside of the rest
            /// what there is nobody to tell.
            pub(super) fn answer_what_stands(&mut self) {
                $(self.$group.answer(false);)+
                $(self.$group.set_aside();)+
            }

            /// Tells the other callers what their operations came to.
            pub(super) fn answer_the_rest(&mut self) {
                $(self.$group.answer(true);)+
            }

            /// Whether there is something that nobody was told and that has to be taken back.
            pub(super) fn is_unheard(&self) -> bool {
                false $(|| !self.$group.unheard.is_empty())+
            }

            /// Takes back what nobody was told.
            pub(super) async fn take_back(
                &mut self,
                tx: &impl Tx,
            ) -> Result<(), DatabaseError> {
                let mut context = Context { counters: Default::default(), claim_bytes: 0 };
                $(self.$group.take_back(tx, &mut context).await?;)+
                fold::append(tx, &context.counters).await
            }
        }
    };
}

operations! {
    // First, so that PostgreSQL's lock of an account is waited for before there are any rows
    // to hold: nobody waits for it crosswise.
    drains: Drain(InAccount<Drain>),
    accepts: Accept(WithRuns<Incoming>),
    redeliveries: Redeliver(InAccount<Redeliver>),
    feeds: Feed(FeedOp),
    replay_changes: ChangeReplay(ChangeReplay),
    settles: Settle(WithRuns<Settle>),
    reports: Report(InAccount<ClientReport>),
    records: Record(Record),
    kv_writes: KvWrite(KvWrite),
    claims: Claim(Claim),
    purges: Purge(Purge),
}
