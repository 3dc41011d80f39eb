//! Logs: who reads what, and how long they stay.

use http::{HeaderMap, Method};

use super::*;
use crate::{
    DeliveryId, WebhookId,
    model::{
        DeliveryStatus, Extension, LogRetention, Request, Subscription, SubscriptionStatus,
        TokenScopes, TokenSpec, Webhook,
    },
    plan::Plans,
    store::{Accept, NewDelivery},
};

/// Stores a webhook of this bucket that waits for clients.
async fn receive(house: &House, bucket: &Bucket) -> Result<DeliveryId, Error> {
    let id = DeliveryId::generate();
    let request = Request::new(Method::POST, HeaderMap::new(), bytes::Bytes::from_static(b"x"));
    let place = (bucket.account_id, bucket.id, bucket.inputs[0].id);
    let webhook = Webhook::new(WebhookId::generate(), place, request, house.admin.now());
    let delivery = NewDelivery {
        id,
        output_id: None,
        internal: false,
        status: DeliveryStatus::Received,
        reason: None,
        detail: None,
        due_at: None,
        held_by: None,
    };
    let accept = Accept::new(Arc::new(webhook), vec![delivery]);
    house.stores.deliveries.accept(accept).await?;
    Ok(id)
}

async fn total(house: &House) -> Result<u64, Error> {
    Ok(house.admin.logs(&house.caller, &LogQuery::default()).await?.total)
}

async fn scoped_to(house: &House, bucket: &str) -> Result<Caller, Error> {
    let scopes = TokenScopes { buckets: vec![bucket.to_owned()], tunnels: Vec::new() };
    let spec = TokenSpec { scopes, ..TokenSpec::default() };
    let new = house.admin.create_token(&house.caller, spec).await?;
    house.admin.authenticate(&new.token.id.to_string(), new.secret.expose()).await
}

#[tokio::test(start_paused = true)]
async fn old_logs_go_in_batches_and_young_ones_stay() -> Result<(), Error> {
    let house = house().await;
    let bucket = house.admin.create_bucket(&house.caller, bucket_named("b")).await?;
    let day = Duration::from_secs(24 * 60 * 60);
    for _ in 0..1_200 {
        receive(&house, &bucket).await?;
    }
    tokio::time::sleep(day).await;
    for _ in 0..7 {
        receive(&house, &bucket).await?;
    }
    assert_eq!(house.admin.purge(Some(day * 2)).await?, 0);
    assert_eq!(house.admin.purge(Some(day / 2)).await?, 1_200);
    assert_eq!(total(&house).await?, 7);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn logs_are_kept_for_as_long_as_the_operator_says() -> Result<(), Error> {
    let house = house().await;
    let bucket = house.admin.create_bucket(&house.caller, bucket_named("b")).await?;
    receive(&house, &bucket).await?;
    let hour = Duration::from_secs(60 * 60);
    let keep = hour * 48;
    let left = tokio::select! {
        () = house.admin.keep_logs_for(Some(keep)) => unreachable!("it goes on for ever"),
        left = async {
            tokio::time::sleep(keep - hour).await;
            let before = total(&house).await?;
            tokio::time::sleep(hour * 2 + Duration::from_secs(1)).await;
            Ok::<_, Error>((before, total(&house).await?))
        } => left?,
    };
    assert_eq!(left, (1, 0));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn logs_of_a_deleted_bucket_are_within_the_scope_of_its_id_only() -> Result<(), Error> {
    let house = house().await;
    let House { admin, caller, .. } = &house;
    let bucket = admin.create_bucket(caller, bucket_named("b")).await?;
    let log = receive(&house, &bucket).await?;
    let by_id = scoped_to(&house, &bucket.id.to_string()).await?;
    let by_name = scoped_to(&house, "b").await?;
    for token in [&by_id, &by_name] {
        assert_eq!(admin.log(token, log).await?.delivery.id, log);
    }
    admin.delete_bucket(caller, bucket.id, true).await?;
    // Another bucket of the same name does not open the logs of the former one.
    admin.create_bucket(caller, bucket_named("b")).await?;
    assert_eq!(admin.log(caller, log).await?.delivery.id, log);
    assert_eq!(admin.log(&by_id, log).await?.delivery.id, log);
    assert_eq!(kind(admin.log(&by_name, log).await), ErrorKind::Forbidden);
    assert_eq!(admin.logs(&by_name, &LogQuery::default()).await?.total, 0);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn logs_are_kept_for_as_long_as_the_plan_says() -> Result<(), Error> {
    let plans = r#"{"plans": [
        {"name": "short", "limits": {"logs_retention": 1}},
        {"name": "long", "price": "price_long", "limits": {"logs_retention": 100}},
        {"name": "silent", "price": "price_silent"}
    ]}"#;
    let plans: Plans = plans.parse()?;
    let house = house_of(|builder| builder.quotas(plans)).await;
    let mut callers = vec![house.caller.clone()];
    for price in ["price_long", "price_silent"] {
        let (account, _) = house.admin.create_account(price, None).await?;
        let subscription = Subscription {
            id: price.to_owned(),
            status: SubscriptionStatus::Active,
            prices: vec![price.to_owned()],
            created_at: house.admin.now(),
            read_at: house.admin.now(),
        };
        house.stores.billing.put_subscription(account.id, &subscription).await?;
        callers.push(Caller::for_account(account.id));
    }
    for caller in &callers {
        let bucket = house.admin.create_bucket(caller, bucket_named("b")).await?;
        receive(&house, &bucket).await?;
    }
    let day = Duration::from_secs(24 * 60 * 60);
    let mut left = Vec::new();
    for (days, keep) in [(2, None), (10, Some(day * 30)), (20, Some(day * 30)), (70, None)] {
        tokio::time::sleep(day * days).await;
        house.admin.purge(keep).await?;
        let mut totals = Vec::new();
        for caller in &callers {
            totals.push(house.admin.logs(caller, &LogQuery::default()).await?.total);
        }
        left.push(totals);
    }
    assert_eq!(left, [[0, 1, 1], [0, 1, 1], [0, 1, 0], [0, 0, 0]]);
    Ok(())
}

/// A bucket of this name whose logs are kept for `logs`.
fn keeping(name: &str, logs: Duration) -> BucketSpec {
    let retention = Extension::Set(LogRetention::new(logs, Duration::ZERO));
    BucketSpec { retention, ..bucket_named(name) }
}

#[tokio::test(start_paused = true)]
async fn logs_are_kept_for_as_long_as_their_bucket_says() -> Result<(), Error> {
    let house = house().await;
    let House { admin, caller, .. } = &house;
    let hour = Duration::from_secs(60 * 60);
    let short = admin.create_bucket(caller, keeping("short", hour)).await?;
    let other = admin.create_bucket(caller, bucket_named("other")).await?;
    for bucket in [&short, &other] {
        receive(&house, bucket).await?;
    }
    let left = tokio::select! {
        // The operator keeps everything, and looks once an hour without buckets that say more.
        () = admin.keep_logs_for(None) => unreachable!("it goes on for ever"),
        left = async {
            tokio::time::sleep(hour - Duration::from_secs(1)).await;
            let before = total(&house).await?;
            tokio::time::sleep(hour / 10 + Duration::from_secs(2)).await;
            Ok::<_, Error>((before, total(&house).await?))
        } => left?,
    };
    assert_eq!(left, (2, 1));
    // Without it, all are kept.
    receive(&house, &short).await?;
    let reset = BucketSpec { retention: Extension::Reset, ..bucket_named("short") };
    admin.update_bucket(caller, short.id, reset).await?;
    tokio::time::sleep(hour * 100).await;
    assert_eq!(admin.purge(None).await?, 0);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn no_bucket_keeps_logs_for_longer_than_its_account() -> Result<(), Error> {
    let plans: Plans =
        r#"{"plans": [{"name": "silent"}, {"name": "short", "price": "p", "limits": {"logs_retention": 1}}]}"#
            .parse()?;
    let day = Duration::from_secs(24 * 60 * 60);
    let options = AdminOptions { log_retention: Some(day * 30), ..AdminOptions::default() };
    let house = house_of(|builder| builder.quotas(plans).admin_options(options)).await;
    let House { admin, caller, .. } = &house;
    let longer = |times: u32| keeping("b", day * times + Duration::from_nanos(1));
    assert_eq!(kind(admin.create_bucket(caller, longer(30)).await), ErrorKind::Invalid);
    let bucket = admin.create_bucket(caller, keeping("b", day * 30)).await?;
    let subscription = Subscription {
        id: "s".to_owned(),
        status: SubscriptionStatus::Active,
        prices: vec!["p".to_owned()],
        created_at: admin.now(),
        read_at: admin.now(),
    };
    house.stores.billing.put_subscription(caller.account_id(), &subscription).await?;
    // What is stored may be written again, and stay.
    for spec in [keeping("b", day * 30), bucket_named("b")] {
        let updated = admin.update_bucket(caller, bucket.id, spec).await?;
        assert_eq!(updated.spec.retention, bucket.spec.retention);
    }
    assert_eq!(kind(admin.update_bucket(caller, bucket.id, longer(1)).await), ErrorKind::Invalid);
    admin.update_bucket(caller, bucket.id, keeping("b", day)).await?;
    Ok(())
}
