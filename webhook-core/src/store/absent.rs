//! Stores that are not there.

use async_trait::async_trait;

use super::*;
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    function::record::RunRecord,
    id::{
        AccountId, BucketId, ErasureId, ExecutionId, FunctionId, NodeId, NotificationId, OutputId,
        ReplayId,
    },
    model::{Cron, Erasure, Execution, Log, Replay, ReplayStatus, ReplayTotals, Variable},
};
#[cfg(feature = "admin")]
use crate::{
    id::TokenId,
    model::{AccessToken, Account, ApiKey, Billing, BillingDetailsSpec, Session, Subscription},
};

/// Stands for every store that nobody has given. What the relay asks on the way
/// of a webhook is answered as by a store with nothing in it; everything else is
/// [`Unsupported`](ErrorKind::Unsupported).
#[derive(Debug)]
pub(super) struct Absent;

fn unsupported<T>(what: &str) -> Result<T, Error> {
    Err(Error::new(ErrorKind::Unsupported, format!("there is no store of {what}")))
}

/// Implements a store trait: what a method answers stands behind it, if it
/// answers at all.
macro_rules! absent {
    ($store:ident, $what:literal: $(
        fn $name:ident($($argument:ty),*) -> $answer:ty $(= $empty:expr)?;
    )* $(@also $($also:tt)+)?) => {
        #[async_trait]
        impl $store for Absent {
            $($($also)+)?
            $(async fn $name(&self, $(_: $argument),*) -> Result<$answer, Error> {
                absent!(@answer $what $(, $empty)?)
            })*
        }
    };
    (@answer $what:literal) => { unsupported($what) };
    (@answer $what:literal, $empty:expr) => { Ok($empty) };
}

absent! { DocumentStore, "documents":
    fn find(Find) -> Vec<Document> = Vec::new();
    fn counts(AccountId) -> Vec<(DocumentKind, u64)> = Vec::new();
    fn history(AccountId, DocumentKey) -> Vec<Document> = Vec::new();
    @also async fn apply(&self, _: &[Change]) -> Result<(), ApplyError> {
        Ok(unsupported("documents")?)
    }
}

absent! { FunctionStore, "functions":
    fn variables(AccountId, FunctionId) -> Vec<Variable> = Vec::new();
    fn put_variable(AccountId, &Variable, usize) -> ();
    fn delete_variable(AccountId, FunctionId, &str) -> ();
    fn kv_get(&KvKey, Timestamp) -> Option<KvValue>;
    fn kv_write(KvWrite) -> Option<KvValue>;
    fn purge_kv(Timestamp, usize) -> u64 = 0;
    fn record_execution(&RunRecord, usize) -> () = ();
    fn purge_executions(Timestamp, usize) -> u64 = 0;
    fn execution(AccountId, ExecutionId) -> Option<Execution> = None;
    fn executions(AccountId, FunctionId, usize, usize) -> ExecutionPage;
}

absent! { QueueStore, "queues":
    // Every node owns every queue.
    fn own_queue(OwnQueue) -> OwnedQueue = OwnedQueue::own(Vec::new(), false, 0);
    fn leave_queue(NodeId, OutputId, &[Timestamp]) -> () = ();
}

absent! { CronStore, "crons":
    fn claim_crons(ClaimWork) -> Vec<Cron>;
    fn crons_wake_at() -> Option<Timestamp> = None;
    fn advance_cron(AdvanceCron) -> bool;
    fn release_crons(NodeId) -> () = ();
}

absent! { NotificationStore, "notifications":
    fn note(&Note) -> bool;
    fn notices(NotificationId, Option<BucketId>) -> Vec<Notice> = Vec::new();
    fn due_notices(Timestamp, usize) -> Vec<Notice> = Vec::new();
    fn notices_wake_at() -> Option<Timestamp> = None;
    fn notice_sent(&NoticeSent) -> bool;
    fn forget_notices(NotificationId, uuid::Uuid) -> ();
}

absent! { LogStore, "logs":
    fn logs(AccountId, &LogQuery) -> LogPage;
    fn search(AccountId, &LogSearch) -> LogsFound;
    fn days(AccountId, &CountQuery) -> Vec<DayCount>;
    fn minutes(AccountId, &CountQuery) -> Vec<MinuteCount>;
    fn received(AccountId, Timestamp) -> u64;
    fn drain(AccountId, &Drain) -> Drained;
    fn waiting(AccountId, &[BucketId], Option<LogCursor>, usize) -> Vec<Log> = Vec::new();
    fn report(AccountId, &ClientReport) -> Reported;
    fn purge(&OldLogs, usize) -> u64;
    fn erase(AccountId, &EraseWebhook) -> ErasedWebhook;
    fn forget_seen(Timestamp, usize) -> u64 = 0;
}

absent! { ReplayStore, "replays":
    fn create_replay(&Replay, usize) -> ();
    fn replay(AccountId, ReplayId) -> Option<Replay> = None;
    fn replays(AccountId, Option<ReplayId>, usize) -> Vec<Replay>;
    fn replay_totals(&[ReplayId]) -> Vec<ReplayTotals>;
    fn change_replay(&Replay, ReplayStatus, Timestamp) -> bool;
    fn claim_replays(ClaimWork) -> Vec<Replay>;
    fn replays_wake_at() -> Option<Timestamp> = None;
    fn release_replays(NodeId) -> () = ();
    fn replay_waiting(ReplayId) -> Vec<(OutputId, u64)>;
    fn feed_replay(FeedReplay) -> Option<Vec<bool>>;
}

absent! { ErasureStore, "erasures":
    fn create_erasure(&Erasure, usize) -> ();
    fn erasure(AccountId, ErasureId) -> Option<Erasure> = None;
    fn claim_erasures(ClaimWork) -> Vec<Erasure>;
    fn erasures_wake_at() -> Option<Timestamp> = None;
    fn release_erasures(NodeId) -> () = ();
    fn step_erasure(EraseStep) -> Option<Vec<EraseOutcome>>;
}

#[cfg(feature = "admin")]
absent! { AccountStore, "accounts":
    fn create_account(&Account) -> ();
    fn account(AccountId) -> Option<Account>;
    fn accounts() -> Vec<Account>;
    fn api_key(AccountId) -> Option<ApiKey>;
    fn api_key_by_text(&str) -> Option<ApiKey>;
    fn put_api_key(&ApiKey, Option<&ApiKey>) -> bool;
}

#[cfg(feature = "admin")]
absent! { TokenStore, "access tokens":
    fn create_token(&AccessToken, u64) -> bool;
    fn token(TokenId) -> Option<AccessToken>;
    fn tokens(AccountId, Page) -> Vec<AccessToken>;
    fn token_count(AccountId) -> u64;
    fn update_token(&AccessToken) -> ();
    fn note_login(TokenId, Timestamp) -> ();
    fn delete_token(AccountId, TokenId) -> ();
}

#[cfg(feature = "admin")]
absent! { SessionStore, "sessions":
    fn begin_session(&Session, usize) -> ();
    fn session(&[u8; 32]) -> Option<Session>;
    fn note_seen(&[u8; 32], Timestamp) -> ();
    fn end_session(&[u8; 32]) -> ();
}

#[cfg(feature = "admin")]
absent! { BillingStore, "billing":
    fn billing(AccountId) -> Billing = Billing::default();
    fn account_of_customer(&str) -> Option<AccountId>;
    fn put_billing_details(AccountId, &BillingDetailsSpec) -> ();
    fn put_customer(AccountId, &str) -> ();
    fn put_subscription(AccountId, &Subscription) -> ();
    fn is_event_recorded(&str) -> bool;
    fn record_event(&str, Timestamp, Timestamp) -> ();
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        model::{Function, FunctionSpec},
        store::{Bounds, Stores, memory::MemoryStore},
    };

    const NOW: Timestamp = Timestamp::from_secs(1);

    #[tokio::test]
    async fn what_is_not_there_is_empty_on_the_way_and_unsupported_elsewhere() {
        let store = Arc::new(MemoryStore::default());
        let stores = Stores::relay(store.clone(), store);
        let account = AccountId::generate();
        assert_eq!(stores.documents.domain_named("example.com").await.ok(), Some(None));
        assert_eq!(stores.crons.crons_wake_at().await.ok(), Some(None));
        let function = FunctionId::generate().as_uuid();
        let function = stores.documents.get::<Function>(account, function).await;
        assert_eq!(function.ok(), Some(None));
        let made = Function::new(FunctionId::generate(), account, NOW, FunctionSpec::default());
        let made = Change::create(account, &made, Bounds::NONE).expect("a document");
        let error = Error::from(stores.documents.apply(&[made]).await.expect_err("there are none"));
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.to_string(), "there is no store of documents");
        let error = stores.accounts.accounts().await.expect_err("there are none");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
