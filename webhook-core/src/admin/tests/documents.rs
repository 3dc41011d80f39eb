//! Concurrent changes of the same things, and changes of versions that callers expect.

use serde_json::json;

use super::*;
use crate::{
    model::{
        Extension, Health, Notification, NotificationEvent, NotificationSpec, PauseRequest,
        PausedBy, described,
    },
    store::{
        ApplyError, Change, Document, DocumentKey, DocumentKind, DocumentStore, Find, Page, Refusal,
    },
};

/// A store that lets another change come between a caller's read and its write.
#[derive(Debug)]
struct Busy {
    inner: Arc<dyn DocumentStore>,
    /// How many of the next changes are refused.
    refuses: AtomicUsize,
    /// How many changes were refused, because another change was first.
    stale: AtomicUsize,
}

impl Busy {
    fn refuse(&self, next: usize) {
        self.refuses.store(next, Ordering::Relaxed);
    }

    fn stale(&self) -> usize {
        self.stale.swap(0, Ordering::Relaxed)
    }
}

#[async_trait::async_trait]
impl DocumentStore for Busy {
    async fn find(&self, find: Find) -> Result<Vec<Document>, Error> {
        let found = self.inner.find(find).await;
        tokio::task::yield_now().await;
        found
    }

    async fn apply(&self, changes: &[Change]) -> Result<(), ApplyError> {
        let left = |left: usize| left.checked_sub(1);
        let relaxed = Ordering::Relaxed;
        let applied = match self.refuses.fetch_update(relaxed, relaxed, left) {
            Ok(_) => Err(Refusal::Stale.into()),
            Err(_) => self.inner.apply(changes).await,
        };
        if let Err(ApplyError::Refused(Refusal::Stale)) = applied {
            self.stale.fetch_add(1, Ordering::Relaxed);
        }
        tokio::task::yield_now().await;
        applied
    }

    async fn counts(&self, account: AccountId) -> Result<Vec<(DocumentKind, u64)>, Error> {
        self.inner.counts(account).await
    }

    async fn history(&self, account: AccountId, key: DocumentKey) -> Result<Vec<Document>, Error> {
        self.inner.history(account, key).await
    }
}

async fn busy_house(options: AdminOptions) -> (House, Arc<Busy>) {
    let stores = Stores::of(MemoryStore::default());
    let inner = stores.documents.clone();
    let busy = Arc::new(Busy { inner, refuses: AtomicUsize::new(0), stale: AtomicUsize::new(0) });
    let stores = stores.with_documents(busy.clone());
    (house_over(stores, |builder| builder.admin_options(options)).await, busy)
}

impl House {
    /// A bucket with an output.
    async fn furnished(&self) -> Result<(BucketId, OutputId), Error> {
        let bucket = self.admin.create_bucket(&self.caller, bucket_named("b")).await?.id;
        let output = self.admin.create_output(&self.caller, bucket, output_named("o")).await?;
        Ok((bucket, output.id))
    }

    /// Every configured thing of the account, with its version.
    async fn inventory(&self) -> Result<Vec<Document>, Error> {
        let mut all = Vec::new();
        for kind in DocumentKind::ALL {
            let find = Find::OfAccount(self.caller.account_id(), kind, Page::ALL);
            all.extend(self.stores.documents.find(find).await?);
        }
        Ok(all)
    }
}

fn expecting(caller: &Caller, version: u64) -> Caller {
    caller.clone().expecting(Some([version].into()))
}

/// What a caller says who knows of one field and not of the others.
fn with(field: &str, value: serde_json::Value) -> OutputSpec {
    let mut spec = json!({"name": "o", "destination": "https://example.com/"});
    spec[field] = value;
    serde_json::from_value(spec).expect("a spec")
}

fn paused(reason: &str) -> PauseRequest {
    PauseRequest { reason: reason.to_owned(), ..PauseRequest::default() }
}

#[tokio::test]
async fn two_that_change_different_extensions_at_once_are_both_heard() -> Result<(), Error> {
    let (house, busy) = busy_house(AdminOptions::default()).await;
    let (bucket, output) = house.furnished().await?;
    let House { admin, caller, .. } = &house;
    for round in 1..=10_u64 {
        let health = with("health", json!({"notify_after": round * 60_000_000_000}));
        let auth =
            with("auth", json!({"type": "basic", "username": round.to_string(), "password": "p"}));
        let (one, other) = tokio::join!(
            admin.update_output(caller, bucket, output, health),
            admin.update_output(caller, bucket, output, auth),
        );
        one?;
        other?;
        assert_eq!(busy.stale(), 1, "the second one was made again");
        let stored = admin.output(caller, bucket, output).await?;
        assert_eq!(stored.version, 1 + 2 * round);
        let notify_after = stored.spec.health.set().map(|health| health.notify_after);
        assert_eq!(notify_after, Some(Duration::from_secs(60 * round)));
        let username = described::get(&stored.spec, "auth.username");
        assert_eq!(username, Some(round.to_string()));
    }
    Ok(())
}

#[tokio::test]
async fn of_two_that_expect_the_same_version_one_is_heard() -> Result<(), Error> {
    let (house, _) = busy_house(AdminOptions::default()).await;
    let (bucket, output) = house.furnished().await?;
    let House { admin, caller, .. } = &house;
    for version in 1..=10 {
        let caller = expecting(caller, version);
        let update = |text: &str| OutputSpec { description: text.to_owned(), ..output_named("o") };
        let (one, other) = tokio::join!(
            admin.update_output(&caller, bucket, output, update("one")),
            admin.update_output(&caller, bucket, output, update("other")),
        );
        let (heard, refused) = if one.is_ok() { (one?, other) } else { (other?, one) };
        assert_eq!(heard.version, version + 1);
        assert_eq!(kind(refused), ErrorKind::Conflict);
        let stored = admin.output(&house.caller, bucket, output).await?;
        assert_eq!(stored, heard);
    }
    Ok(())
}

#[tokio::test]
async fn in_another_version_than_expected_nothing_changes() -> Result<(), Error> {
    let house = house().await;
    let (bucket, output) = house.furnished().await?;
    let House { admin, caller, told, .. } = &house;
    let input = admin.bucket(caller, bucket).await?.inputs[0].id;
    let telling = NotificationSpec {
        events: vec![NotificationEvent::OutputPaused],
        to_bucket: bucket.to_string(),
        ..NotificationSpec::default()
    };
    let Notification { id: notification, .. } =
        admin.create_notification(caller, telling.clone()).await?;
    let before = house.inventory().await?;
    let count = told.count();

    let early = expecting(caller, 2);
    let refused = [
        kind(admin.update_bucket(&early, bucket, bucket_named("c")).await),
        kind(admin.update_input(&early, bucket, input, InputSpec::new("other")).await),
        kind(admin.update_output(&early, bucket, output, output_named("other")).await),
        kind(admin.put_rules(&early, bucket, output, Rules::default()).await),
        kind(admin.pause_output(&early, bucket, output, paused("early")).await),
        kind(admin.resume_output(&early, bucket, output, Default::default()).await),
        kind(admin.update_notification(&early, notification, telling.clone()).await),
        kind(admin.delete_notification(&early, notification).await),
        kind(admin.delete_output(&early, bucket, output).await),
        kind(admin.delete_input(&early, bucket, input).await),
        kind(admin.delete_bucket(&early, bucket, true).await),
    ];
    assert_eq!(refused, [ErrorKind::Conflict; 11]);
    assert_eq!(house.inventory().await?, before);
    assert_eq!(told.count(), count, "nobody is told of nothing");

    let first = expecting(caller, 1);
    assert_eq!(admin.update_bucket(&first, bucket, bucket_named("c")).await?.version, 2);
    let input = admin.update_input(&first, bucket, input, InputSpec::new("other")).await?;
    assert_eq!(input.version, 2);
    assert_eq!(admin.put_rules(&first, bucket, output, Rules::default()).await?.version, 2);
    assert_eq!(admin.update_notification(&first, notification, telling).await?.version, 2);
    // One of several versions is enough, and a pause makes no other one.
    let either = caller.clone().expecting(Some([1, 2].into()));
    assert_eq!(admin.pause_output(&either, bucket, output, paused("late")).await?.version, 2);
    admin.delete_output(&either, bucket, output).await?;
    admin.delete_input(&either, bucket, input.id).await?;
    assert_eq!(kind(admin.delete_bucket(&first, bucket, true).await), ErrorKind::Conflict);
    admin.delete_bucket(&either, bucket, true).await?;
    Ok(())
}

#[tokio::test]
async fn a_pause_and_an_update_at_once_are_both_kept() -> Result<(), Error> {
    let (house, _) = busy_house(AdminOptions::default()).await;
    let (bucket, output) = house.furnished().await?;
    let House { admin, caller, .. } = &house;
    for round in 1..=10 {
        let update = OutputSpec { retries: round, disabled: round % 2 == 0, ..output_named("o") };
        let reason = round.to_string();
        let (updated, changed) =
            tokio::join!(admin.update_output(caller, bucket, output, update), async {
                match round % 3 {
                    0 => admin.resume_output(caller, bucket, output, Default::default()).await,
                    _ => admin.pause_output(caller, bucket, output, paused(&reason)).await,
                }
            },);
        assert_eq!(updated?.spec.retries, round);
        changed?;
        let stored = admin.output(caller, bucket, output).await?;
        assert_eq!((stored.spec.retries, stored.spec.disabled), (round, round % 2 == 0));
        let pauses: Vec<_> = stored.pauses.all().iter().map(|pause| &*pause.reason).collect();
        assert_eq!(pauses, if round % 3 == 0 { vec![] } else { vec![&*reason] });
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn one_that_is_resumed_counts_no_failure_from_before() -> Result<(), Error> {
    let house = house().await;
    let (bucket, output) = house.furnished().await?;
    let House { admin, caller, .. } = &house;
    let healthy = OutputSpec { health: Extension::Set(Health::default()), ..output_named("o") };
    admin.update_output(caller, bucket, output, healthy).await?;
    let finding = || crate::relay::Finding {
        account: caller.account_id(),
        bucket,
        output,
        found: crate::relay::Found::Failing(Timestamp::from_secs(1_700_000_000)),
    };
    tokio::time::advance(Duration::from_secs(6 * 86_400)).await;
    admin.relay.act_on(finding()).await?;
    let by = |output: crate::model::Output| {
        output.pauses.all().iter().map(|pause| pause.by).collect::<Vec<_>>()
    };
    assert_eq!(by(admin.output(caller, bucket, output).await?), [PausedBy::Failing]);
    // A person pauses it, too, and ends both pauses.
    admin.pause_output(caller, bucket, output, paused("by hand")).await?;
    let both = by(admin.output(caller, bucket, output).await?);
    assert_eq!(both, [PausedBy::Caller, PausedBy::Failing]);
    admin.resume_output(caller, bucket, output, Default::default()).await?;
    tokio::time::advance(Duration::from_secs(60)).await;
    admin.relay.act_on(finding()).await?;
    assert_eq!(by(admin.output(caller, bucket, output).await?), [], "it has failed for a minute");
    Ok(())
}

#[tokio::test]
async fn bounds_hold_over_several_programs() -> Result<(), Error> {
    let mut options = AdminOptions { max_buckets_per_account: 4, ..AdminOptions::default() };
    options.max_outputs_per_bucket = 3;
    let (house, _) = busy_house(options.clone()).await;
    let other = Webhooks::builder(house.stores.clone()).admin_options(options).build();
    let bucket = house.admin.create_bucket(&house.caller, bucket_named("b")).await?.id;
    let made = futures_util::future::join_all((0..40).map(async |n: u32| {
        let admin = if n.is_multiple_of(2) { &house.admin } else { other.admin() };
        let name = n.to_string();
        let made_bucket = admin.create_bucket(&house.caller, bucket_named(&name)).await.map(drop);
        let output = admin.create_output(&house.caller, bucket, output_named(&name)).await;
        [made_bucket, output.map(drop)]
    }));
    let made = made.await;
    for (what, most) in [(0, 3), (1, 3)] {
        assert_eq!(made.iter().filter(|made| made[what].is_ok()).count(), most);
    }
    for refused in made.into_iter().flatten().filter_map(Result::err) {
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert!(refused.to_string().contains(" has all of its "), "{refused}");
    }
    assert_eq!(house.admin.buckets(&house.caller).await?.len(), 4);
    let bucket = house.admin.bucket(&house.caller, bucket).await?;
    assert_eq!(bucket.outputs.len(), 3);
    Ok(())
}

#[tokio::test]
async fn a_change_that_is_never_first_is_unavailable_after_eight_tries() -> Result<(), Error> {
    let (house, busy) = busy_house(AdminOptions::default()).await;
    let (bucket, output) = house.furnished().await?;
    let House { admin, caller, told, .. } = &house;
    let input = admin.bucket(caller, bucket).await?.inputs[0].id;
    let before = house.inventory().await?;
    let count = told.count();
    for number in 0..4 {
        busy.refuse(8);
        let error = change(&house, number, (bucket, input, output)).await.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!(error.retry_after(), Some(Duration::from_secs(1)));
        assert_eq!(busy.stale(), 8);
    }
    assert_eq!(house.inventory().await?, before);
    assert_eq!(told.count(), count);
    for number in 0..4 {
        busy.refuse(7);
        change(&house, number, (bucket, input, output)).await?;
        assert_eq!(busy.stale(), 7, "the eighth was the first");
    }
    Ok(())
}

/// One of the changes that compare versions.
async fn change(
    house: &House,
    number: usize,
    (bucket, input, output): (BucketId, InputId, OutputId),
) -> Result<(), Error> {
    let House { admin, caller, .. } = house;
    match number {
        0 => admin.update_bucket(caller, bucket, bucket_named("c")).await.map(drop),
        1 => admin.update_input(caller, bucket, input, InputSpec::new("c")).await.map(drop),
        2 => admin.update_output(caller, bucket, output, output_named("c")).await.map(drop),
        _ => admin.put_rules(caller, bucket, output, Rules::default()).await.map(drop),
    }
}
