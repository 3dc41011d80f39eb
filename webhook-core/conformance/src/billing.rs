//! Cases for [`BillingStore`](webhook_core::store::BillingStore).

use webhook_core::{
    AccountId, Timestamp,
    model::{Billing, BillingDetailsSpec, Subscription, SubscriptionStatus},
    store::Stores,
};

use super::sample::{NOW, ODD_TEXT, after, expect_conflict, expect_every_field, race, with};

fn details() -> BillingDetailsSpec {
    let text = |field: &str| format!("{field}{ODD_TEXT}");
    with(BillingDetailsSpec::default(), |details| {
        details.name = text("name");
        details.email = text("email");
        details.line1 = text("line1");
        details.line2 = text("line2");
        details.city = text("city");
        details.state = text("state");
        details.postal_code = text("postal_code");
        details.country = text("country");
        details.tax_id = text("tax_id");
        details.tax_id_type = text("tax_id_type");
    })
}

fn subscription(id: &str, read_at: Timestamp) -> Subscription {
    Subscription {
        id: id.to_owned(),
        status: SubscriptionStatus::Active,
        prices: vec!["price_1".to_owned(), ODD_TEXT.to_owned()],
        created_at: after(1),
        read_at,
    }
}

async fn billing(stores: &Stores, account: AccountId) -> Billing {
    stores.billing.billing(account).await.expect("billing can be read")
}

async fn put(stores: &Stores, account: AccountId, subscription: &Subscription) {
    let put = stores.billing.put_subscription(account, subscription).await;
    put.expect("a subscription can be put");
}

/// Every field survives, in every status.
pub async fn every_field_of_billing_round_trips(stores: &Stores) {
    let account = AccountId::generate();
    assert_eq!(billing(stores, account).await, Billing::default());
    expect_every_field(&[details()]);
    stores.billing.put_billing_details(account, &details()).await.expect("details");
    stores.billing.put_customer(account, ODD_TEXT).await.expect("a customer");
    for (status, secs) in [
        SubscriptionStatus::Incomplete,
        SubscriptionStatus::IncompleteExpired,
        SubscriptionStatus::Trialing,
        SubscriptionStatus::Active,
        SubscriptionStatus::PastDue,
        SubscriptionStatus::Unpaid,
        SubscriptionStatus::Paused,
        SubscriptionStatus::Canceled,
        SubscriptionStatus::Unknown,
    ]
    .into_iter()
    .zip(0..)
    {
        let subscription = Subscription { status, ..subscription(ODD_TEXT, after(secs)) };
        put(stores, account, &subscription).await;
        let expected = Billing {
            customer_id: Some(ODD_TEXT.to_owned()),
            details: Some(details()),
            subscription: Some(subscription),
        };
        assert_eq!(billing(stores, account).await, expected);
    }
    assert_eq!(billing(stores, AccountId::generate()).await, Billing::default());
}

/// Each part can be first, and putting one leaves the others.
pub async fn parts_of_billing_are_put_one_by_one(stores: &Stores) {
    let accounts = [(); 3].map(|()| AccountId::generate());
    for (first, account) in accounts.into_iter().enumerate() {
        for part in [first, (first + 1) % 3, (first + 2) % 3] {
            match part {
                0 => stores.billing.put_billing_details(account, &details()).await,
                1 => stores.billing.put_customer(account, &account.to_string()).await,
                _ => stores.billing.put_subscription(account, &subscription("s", NOW)).await,
            }
            .expect("any order will do");
            let Billing { customer_id, details, subscription } = billing(stores, account).await;
            let found = [details.is_some(), customer_id.is_some(), subscription.is_some()];
            assert!(found[part], "{part} was put first: {found:?}");
        }
        let all = billing(stores, account).await;
        assert_eq!(all.customer_id, Some(account.to_string()));
        assert_eq!(all.details, Some(details()));
        let other =
            with(BillingDetailsSpec::default(), |details| details.name = "other".to_owned());
        stores.billing.put_billing_details(account, &other).await.expect("details");
        let expected = Billing { details: Some(other), ..all };
        assert_eq!(billing(stores, account).await, expected);
    }
}

/// One customer is one account.
pub async fn customer_of_another_account_is_a_conflict(stores: &Stores) {
    let [ours, theirs] = [(); 2].map(|()| AccountId::generate());
    stores.billing.put_customer(ours, "cus_1").await.expect("it is new");
    stores.billing.put_customer(ours, "cus_1").await.expect("it is its own");
    expect_conflict(stores.billing.put_customer(theirs, "cus_1").await);
    assert_eq!(billing(stores, theirs).await, Billing::default());
}

/// The account is found by the customer it has, not by one it had.
pub async fn account_is_found_by_its_customer(stores: &Stores) {
    let account = AccountId::generate();
    let find = |id: &'static str| async move {
        stores.billing.account_of_customer(id).await.expect("customers can be looked up")
    };
    assert_eq!(find("cus_1").await, None);
    stores.billing.put_customer(account, "cus_1").await.expect("it is new");
    assert_eq!(find("cus_1").await, Some(account));
    stores.billing.put_customer(account, "cus_2").await.expect("it is new");
    assert_eq!((find("cus_1").await, find("cus_2").await), (None, Some(account)));
    assert_eq!(find("CUS_2").await, None);
}

/// Of one subscription the latest reading counts; another one replaces it in any case.
pub async fn subscription_that_was_read_earlier_is_ignored(stores: &Stores) {
    let account = AccountId::generate();
    let late = subscription("a", after(5));
    put(stores, account, &late).await;
    let early =
        Subscription { status: SubscriptionStatus::Canceled, ..subscription("a", after(4)) };
    put(stores, account, &early).await;
    assert_eq!(billing(stores, account).await.subscription, Some(late));
    let other = subscription("b", after(3));
    put(stores, account, &other).await;
    assert_eq!(billing(stores, account).await.subscription, Some(other));
}

/// Whatever the order of writing, the last reading stays.
pub async fn concurrent_reads_of_a_subscription_keep_the_last(stores: &Stores) {
    let account = AccountId::generate();
    let results = race(8, |number| {
        let store = stores.billing.clone();
        let subscription = subscription("a", after(number as u64));
        async move { store.put_subscription(account, &subscription).await }
    })
    .await;
    results.into_iter().for_each(|result| result.expect("a subscription can be put"));
    let stored = billing(stores, account).await.subscription;
    assert_eq!(stored, Some(subscription("a", after(7))));
}

/// A recorded event is known until it is old.
pub async fn applied_events_are_remembered_for_a_while(stores: &Stores) {
    let is_recorded = |id: &'static str| async move {
        stores.billing.is_event_recorded(id).await.expect("events can be looked up")
    };
    let record = |id: &'static str, now, forget_before| async move {
        stores.billing.record_event(id, now, forget_before).await.expect("an event is recorded");
    };
    assert!(!is_recorded("evt_1").await);
    record("evt_1", after(1), NOW).await;
    record("evt_1", after(2), NOW).await;
    record("evt_2", after(3), after(1)).await;
    assert!(is_recorded("evt_1").await && is_recorded("evt_2").await);
    record("evt_3", after(4), after(3)).await;
    assert!(!is_recorded("evt_1").await);
    assert!(is_recorded("evt_2").await && is_recorded("evt_3").await);
}
