use std::{sync::Arc, time::Duration};

use super::*;
use crate::{
    AccountId, BucketId, DeliveryId, ErrorKind, InputId, TokioClock, WebhookId,
    clock::{Clock, Month, Timestamp},
    model::{DeliveryStatus, Request, SubscriptionStatus, Webhook},
    relay::{Quota, Ticket},
    store::{Accept, NewDelivery, Stores, memory::MemoryStore},
};

/// 2023-11-30T23:59:50Z: ten seconds before the month ends.
const LATE: Timestamp = Timestamp::from_secs(1_701_388_790);

fn subscription(status: SubscriptionStatus, prices: &[&str]) -> Subscription {
    Subscription {
        id: "sub_1".to_owned(),
        status,
        prices: prices.iter().map(|price| (*price).to_owned()).collect(),
        created_at: LATE,
        read_at: LATE,
    }
}

const PLANS: &str = r#"{"default": "free", "plans": [
    {"name": "pro", "price": "price_pro", "limits": {"webhooks": 5, "outputs": 2}},
    {"name": "team", "price": "price_team"},
    {"name": "free", "limits": {"webhooks": 2, "reserved_domains": "none", "tokens": 1}}
]}"#;

fn plans_of(webhooks: u64) -> Plans {
    let plan = format!(r#"{{"name": "one", "limits": {{"webhooks": {webhooks}}}}}"#);
    format!(r#"{{"plans": [{plan}]}}"#).parse().expect("plans")
}

fn plans() -> Plans {
    PLANS.parse().expect("plans")
}

#[test]
fn a_subscription_gives_the_last_plan_that_it_pays_for() {
    use SubscriptionStatus::{Active, Canceled, PastDue, Trialing, Unpaid};
    let plans = plans();
    let of = |status, prices: &[&str]| plans.of(Some(&subscription(status, prices))).name.clone();
    assert_eq!(plans.of(None).name, "free");
    for status in [Active, PastDue, Trialing] {
        assert_eq!(of(status, &["price_pro"]), "pro");
    }
    assert_eq!(of(Active, &["price_team", "price_x", "price_pro"]), "team");
    assert_eq!(of(Active, &["price_x"]), "free");
    for status in [Canceled, Unpaid] {
        assert_eq!(of(status, &["price_pro"]), "free");
    }
    assert!(plans.sells("price_pro") && !plans.sells("price_x"));
    assert!(Plans::unlimited().sells("price_x"));
}

#[test]
fn mistakes_are_named() {
    for (json, said) in [
        ("", "plans: EOF"),
        ("{}", "plans: missing field `plans`"),
        (r#"{"plans":[]}"#, "plans: must have between 1 and 100"),
        (r#"{"plans":[{"name":" "}]}"#, "plans[0].name: must not be empty"),
        (r#"{"plans":[{"name":"a"},{"name":"a"}]}"#, "plans[1].name: another plan has it"),
        (
            r#"{"plans":[{"name":"a","price":"p"},{"name":"b","price":"p"}]}"#,
            "plans[1].price: another plan has it",
        ),
        (r#"{"plans":[{"name":"a","price":""}]}"#, "plans[0].price: must not be empty"),
        (r#"{"plans":[{"name":"a","limits":{"output":1}}]}"#, "plans: unknown field `output`"),
        (r#"{"plans":[{"name":"a","limits":{"outputs":0}}]}"#, "plans: invalid value: integer `0`"),
        (r#"{"plans":[{"name":"a","limits":{"outputs":"no"}}]}"#, "plans: invalid value: string"),
        (
            r#"{"plans":[{"name":"a","limits":{"logs_retention":0}}]}"#,
            "plans[0].limits.logs_retention: must be at least 1 day",
        ),
        (r#"{"plans":[{"name":"a"}],"default":"b"}"#, "default: no plan is called \"b\""),
    ] {
        let error = json.parse::<Plans>().expect_err(json);
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().starts_with(said), "{error}");
    }
}

#[test]
fn limits_are_written_as_clients_read_them() {
    let limits: PlanLimits =
        serde_json::from_str(r#"{"outputs":5,"reserved_domains":"none","logs_retention":7}"#)
            .expect("limits");
    let written = serde_json::json!({"outputs": 5, "reserved_domains": -1, "logs_retention": 7});
    assert_eq!(serde_json::to_value(&limits).expect("written"), written);
    assert_eq!(limits.keep_logs_for(), Some(Duration::from_secs(7 * 86_400)));
}

#[test]
fn what_is_used_up_has_a_status_of_its_own() {
    let plan = |json: &str| serde_json::from_str::<Plan>(json).expect("a plan");
    let plan = plan(
        r#"{"name":"p","limits":{"outputs":2,"inputs":2,"functions":2,"reserved_domains":2}}"#,
    );
    for (limited, kind) in [
        (Limited::Outputs, ErrorKind::PaymentRequired),
        (Limited::Inputs, ErrorKind::Conflict),
        (Limited::Functions, ErrorKind::Conflict),
        (Limited::Domains, ErrorKind::Refused),
    ] {
        assert!(limited.check(&plan, 1).is_ok());
        assert_eq!(limited.check(&plan, 2).expect_err("used up").kind(), kind);
    }
    assert!(Limited::Tokens.check(&plan, u64::MAX).is_ok());
}

struct Shop {
    quotas: Arc<Quotas>,
    stores: Stores,
    clock: TokioClock,
    account: AccountId,
}

fn shop(plans: Plans) -> Shop {
    let stores = Stores::of(MemoryStore::default());
    let clock = TokioClock::starting_at(LATE);
    let quotas = Arc::new(Quotas::new(plans, stores.clone(), Arc::new(clock)));
    Shop { quotas, stores, clock, account: AccountId::generate() }
}

impl Shop {
    /// What another server stores.
    async fn store(&self) {
        let request = Request::new(http::Method::POST, http::HeaderMap::new(), bytes::Bytes::new());
        let place = (self.account, BucketId::generate(), InputId::generate());
        let webhook = Webhook::new(WebhookId::generate(), place, request, self.clock.now());
        let delivery = NewDelivery {
            id: DeliveryId::generate(),
            output_id: None,
            internal: false,
            status: DeliveryStatus::Received,
            reason: None,
            detail: None,
            due_at: None,
            held_by: None,
        };
        let accept = Accept::new(Arc::new(webhook), vec![delivery]);
        self.stores.deliveries.accept(accept).await.expect("it is stored");
    }

    async fn admit(&self) -> Result<Ticket, Error> {
        let quota: Arc<dyn Quota> = self.quotas.clone();
        quota.admit(self.account).await
    }

    async fn receive(&self) -> Result<(), Error> {
        let ticket = self.admit().await?;
        self.store().await;
        ticket.used();
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn webhooks_are_counted_until_the_month_ends() {
    let shop = shop(plans());
    let given_back = shop.admit().await.expect("the first");
    drop(given_back);
    shop.receive().await.expect("the first");
    shop.receive().await.expect("the second");
    let error = shop.receive().await.expect_err("the third");
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(10)), "a new month begins then");
    assert!(error.to_string().contains("2 webhooks a month"), "{error}");
    tokio::time::sleep(Duration::from_secs(10)).await;
    shop.receive().await.expect("in the new month");
    shop.receive().await.expect("in the new month");
    let error = shop.receive().await.expect_err("the third");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)), "at the latest");
}

#[tokio::test(start_paused = true)]
async fn tickets_that_are_out_count() {
    let shop = shop(plans());
    let first = shop.admit().await.expect("the first");
    let second = shop.admit().await.expect("the second");
    assert_eq!(shop.admit().await.expect_err("the third").kind(), ErrorKind::Busy);
    drop(first);
    let first = shop.admit().await.expect("one was given back");
    assert!(shop.admit().await.is_err());
    drop((first, second));
}

#[tokio::test(start_paused = true)]
async fn what_other_servers_receive_is_seen_within_ten_seconds() {
    let mut shop = shop(plans());
    let far = Month::of(LATE).start;
    shop.clock = TokioClock::starting_at(far);
    shop.quotas = Arc::new(Quotas::new(plans(), shop.stores.clone(), Arc::new(shop.clock)));
    drop(shop.admit().await.expect("read for the first time"));
    shop.store().await;
    shop.store().await;
    drop(shop.admit().await.expect("not known yet"));
    tokio::time::sleep(Duration::from_secs(10)).await;
    drop(shop.admit().await.expect("it is asked beside this one"));
    tokio::task::yield_now().await;
    assert_eq!(shop.admit().await.expect_err("known").kind(), ErrorKind::Busy);
}

#[tokio::test(start_paused = true)]
async fn what_runs_out_soon_is_read_more_often() {
    let mut shop = shop(plans_of(200));
    shop.clock = TokioClock::starting_at(Month::of(LATE).start);
    let (plans, clock) = (plans_of(200), Arc::new(shop.clock));
    shop.quotas = Arc::new(Quotas::new(plans, shop.stores.clone(), clock));
    let mut stored = 0;
    // Others receive ten webhooks a second, and nothing that comes here is stored.
    while let Ok(ticket) = shop.admit().await {
        drop(ticket);
        shop.store().await;
        stored += 1;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!((200..=205).contains(&stored), "{stored}");
}

#[tokio::test(start_paused = true)]
async fn others_are_told_once_that_all_are_used() {
    let shop = shop(plans());
    shop.receive().await.expect("the first");
    shop.receive().await.expect("the second");
    assert!(shop.admit().await.is_err());
    let told = [shop.quotas.is_used_up(shop.account), shop.quotas.is_used_up(shop.account)];
    assert_eq!(told, [true, false]);
    // Who is told reads, and tells nobody.
    shop.quotas.plan_changed(shop.account);
    assert!(shop.admit().await.is_err());
    assert!(!shop.quotas.is_used_up(shop.account));
}

#[tokio::test(start_paused = true)]
async fn a_new_plan_counts_at_once() {
    let shop = shop(plans());
    shop.receive().await.expect("the first");
    shop.receive().await.expect("the second");
    assert!(shop.receive().await.is_err());
    let pro = subscription(SubscriptionStatus::Active, &["price_pro"]);
    shop.stores.billing.put_subscription(shop.account, &pro).await.expect("put");
    shop.quotas.plan_changed(shop.account);
    for _ in 0..3 {
        shop.receive().await.expect("the plan has five");
    }
    assert!(shop.receive().await.is_err());
    assert_eq!(shop.quotas.plan(shop.account).await.expect("read").name, "pro");
}

#[tokio::test(start_paused = true)]
async fn without_limits_nothing_is_counted() {
    let shop = shop(Plans::unlimited());
    for _ in 0..10 {
        shop.receive().await.expect("no limit");
    }
    assert_eq!(shop.quotas.standings.len(), 0);
    assert!(shop.quotas.bound(shop.account, Limited::Outputs).await.expect("read").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_bound_comes_with_the_error_of_one_more() {
    let shop = shop(plans());
    let bound = shop.quotas.bound(shop.account, Limited::Tokens).await.expect("read");
    let (most, full) = bound.expect("the plan limits them");
    let plan = shop.quotas.plan(shop.account).await.expect("read");
    assert_eq!(plan.limits.tokens.count(), Some(most));
    assert_eq!(full.kind(), crate::ErrorKind::Conflict);
    assert!(full.to_string().contains("access tokens"), "{full}");
}
