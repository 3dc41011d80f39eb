//! Stores that are not there.

use async_trait::async_trait;

use super::{
    AccountStore, AdvanceCron, BillingStore, BucketCounts, BucketRetention, BucketStore,
    ClaimCrons, ClaimReplays, ClientReport, CountQuery, CronStore, DayCount, DomainStore, Drain,
    Drained, ExecutionPage, FeedReplay, FunctionStore, InputStore, KvKey, KvValue, KvWrite,
    LogCursor, LogPage, LogQuery, LogSearch, LogStore, LogsFound, MinuteCount, Note, Notice,
    NoticeSent, NotificationStore, OldLogs, OutputStore, OwnQueue, OwnedQueue, QueueStore,
    ReplayStore, Reported, RulesVersion, TokenStore,
};
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    function::record::RunRecord,
    id::{
        AccountId, BucketId, CronId, DomainId, ExecutionId, FunctionId, InputId, NodeId,
        NotificationId, OutputId, ReplayId, TokenId,
    },
    model::{
        AccessToken, Account, ApiKey, Billing, BillingDetailsSpec, Bucket, Cron, Domain, Execution,
        Function, FunctionVersion, Input, Log, Notification, Output, Replay, ReplayStatus,
        ReplayTotals, Subscription, Variable,
    },
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
    )*) => {
        #[async_trait]
        impl $store for Absent {
            $(async fn $name(&self, $(_: $argument),*) -> Result<$answer, Error> {
                absent!(@answer $what $(, $empty)?)
            })*
        }
    };
    (@answer $what:literal) => { unsupported($what) };
    (@answer $what:literal, $empty:expr) => { Ok($empty) };
}

absent! { FunctionStore, "functions":
    fn create_function(&Function) -> ();
    fn function(AccountId, FunctionId) -> Option<Function> = None;
    fn functions(AccountId) -> Vec<Function>;
    fn update_function(&Function) -> ();
    fn function_versions(AccountId, FunctionId) -> Vec<FunctionVersion>;
    fn function_version(AccountId, FunctionId, u32) -> Option<FunctionVersion>;
    fn delete_function(AccountId, FunctionId) -> ();
    fn variables(AccountId, FunctionId) -> Vec<Variable>;
    fn put_variable(AccountId, &Variable) -> ();
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

absent! { DomainStore, "domains":
    fn create_domain(&Domain) -> ();
    fn domain(AccountId, DomainId) -> Option<Domain>;
    fn domain_by_name(&str) -> Option<Domain> = None;
    fn domains(AccountId) -> Vec<Domain>;
    fn inputs_of_domain(AccountId, &str) -> Vec<Input>;
    fn delete_domain(AccountId, DomainId) -> ();
}

absent! { CronStore, "crons":
    fn create_cron(&Cron, &Bucket) -> ();
    fn cron(AccountId, CronId) -> Option<Cron>;
    fn crons(AccountId) -> Vec<Cron>;
    fn update_cron(&Cron, Option<Timestamp>) -> bool;
    fn delete_cron(AccountId, CronId) -> ();
    fn claim_crons(ClaimCrons) -> Vec<Cron>;
    fn crons_wake_at() -> Option<Timestamp> = None;
    fn advance_cron(AdvanceCron) -> bool;
    fn release_crons(NodeId) -> () = ();
}

absent! { NotificationStore, "notifications":
    fn create_notification(&Notification) -> ();
    fn notification(AccountId, NotificationId) -> Option<Notification>;
    fn notifications(AccountId) -> Vec<Notification>;
    fn update_notification(&Notification) -> ();
    fn delete_notification(AccountId, NotificationId) -> ();
    fn enabled_notifications() -> Vec<Notification> = Vec::new();
    fn note(&Note) -> bool;
    fn notices(NotificationId, Option<BucketId>) -> Vec<Notice> = Vec::new();
    fn due_notices(Timestamp, usize) -> Vec<Notice> = Vec::new();
    fn notices_wake_at() -> Option<Timestamp> = None;
    fn notice_sent(&NoticeSent) -> bool;
    fn notification_sent(NotificationId, Timestamp) -> ();
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
    fn forget_seen(Timestamp, usize) -> u64 = 0;
}

absent! { ReplayStore, "replays":
    fn create_replay(&Replay, usize) -> ();
    fn replay(AccountId, ReplayId) -> Option<Replay> = None;
    fn replays(AccountId, Option<ReplayId>, usize) -> Vec<Replay>;
    fn replay_totals(&[ReplayId]) -> Vec<ReplayTotals>;
    fn change_replay(&Replay, ReplayStatus, Timestamp) -> bool;
    fn claim_replays(ClaimReplays) -> Vec<Replay>;
    fn replays_wake_at() -> Option<Timestamp> = None;
    fn release_replays(NodeId) -> () = ();
    fn replay_waiting(ReplayId) -> Vec<(OutputId, u64)>;
    fn feed_replay(FeedReplay) -> Option<Vec<bool>>;
}

absent! { AccountStore, "accounts":
    fn create_account(&Account) -> ();
    fn account(AccountId) -> Option<Account>;
    fn accounts() -> Vec<Account>;
    fn api_key(AccountId) -> Option<ApiKey>;
    fn api_key_by_text(&str) -> Option<ApiKey>;
    fn put_api_key(&ApiKey) -> ();
}

absent! { BucketStore, "buckets":
    fn create_bucket(&Bucket) -> ();
    fn bucket(AccountId, BucketId) -> Option<Bucket>;
    fn bucket_by_name(AccountId, &str) -> Option<Bucket>;
    fn bucket_owner(BucketId) -> Option<AccountId>;
    fn buckets(AccountId) -> Vec<Bucket>;
    fn bucket_counts(AccountId) -> BucketCounts;
    fn retentions(Option<BucketId>, usize) -> Vec<BucketRetention> = Vec::new();
    fn update_bucket(&Bucket) -> ();
    fn delete_bucket(AccountId, BucketId, Option<InputId>, bool) -> ();
}

absent! { InputStore, "inputs":
    fn create_input(AccountId, &Input) -> ();
    fn input(AccountId, BucketId, InputId) -> Option<Input>;
    fn update_input(AccountId, &Input) -> ();
    fn delete_input(AccountId, BucketId, InputId) -> ();
}

absent! { OutputStore, "outputs":
    fn create_output(AccountId, &Output) -> ();
    fn output(AccountId, BucketId, OutputId) -> Option<Output>;
    fn update_output(AccountId, &Output) -> ();
    fn rules_at(AccountId, BucketId, OutputId, Timestamp) -> Option<RulesVersion>;
    fn delete_output(AccountId, BucketId, OutputId) -> ();
}

absent! { TokenStore, "access tokens":
    fn create_token(&AccessToken) -> ();
    fn token(TokenId) -> Option<AccessToken>;
    fn tokens(AccountId) -> Vec<AccessToken>;
    fn token_count(AccountId) -> u64;
    fn update_token(&AccessToken) -> ();
    fn note_login(TokenId, Timestamp) -> ();
    fn delete_token(AccountId, TokenId) -> ();
}

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
    use crate::store::{Stores, memory::MemoryStore};

    #[tokio::test]
    async fn what_is_not_there_is_empty_on_the_way_and_unsupported_elsewhere() {
        let store = Arc::new(MemoryStore::default());
        let stores = Stores::relay(store.clone(), store);
        let account = AccountId::generate();
        assert_eq!(stores.domains.domain_by_name("example.com").await.ok(), Some(None));
        assert_eq!(stores.crons.crons_wake_at().await.ok(), Some(None));
        let function = stores.functions.function(account, FunctionId::generate()).await;
        assert_eq!(function.ok(), Some(None));
        let error = stores.buckets.buckets(account).await.expect_err("there are none");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.to_string(), "there is no store of buckets");
        let error = stores.accounts.accounts().await.expect_err("there are none");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
