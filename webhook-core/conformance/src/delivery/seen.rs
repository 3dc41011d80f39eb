//! Webhooks that came before.

use std::sync::Arc;

use webhook_core::{
    AccountId, DeliveryId, InputId, OutputId, Timestamp,
    model::{DeliveryStatus, Log, Reason, Webhook},
    store::{Accept, Accepted, NewDelivery, Seen, Stores},
};

use super::{find_log, new_delivery};
use crate::sample::{NOW, after, expect_conflict, race, webhook, with};

const KEY: [u8; 32] = [7; 32];
const OTHER: [u8; 32] = [8; 32];

/// A webhook of `like`'s input that is received at `at`, with a delivery.
fn twin(like: &Webhook, at: Timestamp, keys: &[[u8; 32]], until: Timestamp) -> Accept {
    let id = webhook_core::WebhookId::generate();
    let webhook = Webhook { id, received_at: at, ..like.clone() };
    let delivery = new_delivery(OutputId::generate(), at);
    let mut accept = Accept::new(Arc::new(webhook), vec![delivery]);
    accept.seen = keys.iter().map(|key| Seen { key: *key, until }).collect();
    accept
}

async fn accept(stores: &Stores, accept: &Accept) -> Accepted {
    stores.deliveries.accept(accept.clone()).await.expect("the webhook can be stored")
}

async fn log(stores: &Stores, accept: &Accept) -> Option<Log> {
    find_log(stores, accept.webhook.account_id, log_id(accept)).await
}

fn log_id(accept: &Accept) -> DeliveryId {
    accept.deliveries[0].id
}

/// Of two webhooks with a key in common one is delivered. The other's log says so, without
/// its body, and it is counted on the first.
pub async fn duplicate_is_not_delivered(stores: &Stores) {
    let like = webhook(AccountId::generate());
    let first = twin(&like, NOW, &[KEY], after(60));
    let second = twin(&like, after(1), &[KEY], after(61));
    assert_eq!(accept(stores, &first).await, Accepted::Stored);
    let of = first.webhook.id;
    assert_eq!(accept(stores, &second).await, Accepted::Duplicate { of });
    let kept = log(stores, &second).await.expect("it has a log");
    assert_eq!(kept.delivery.status, DeliveryStatus::Rejected);
    assert_eq!((kept.delivery.reason, kept.delivery.output_id), (Some(Reason::Duplicate), None));
    assert_eq!(kept.webhook.checks.duplicate_of, Some(log_id(&first)));
    assert!(kept.webhook.request.body.is_empty());
    assert_eq!(kept.webhook.request.headers, like.request.headers);
    let told = log(stores, &first).await.expect("the first is there").webhook.checks;
    assert_eq!((told.duplicates, told.duplicate_of), (1, None));
}

/// The same key is another one at another input, and any key of several makes a duplicate.
pub async fn keys_are_an_inputs_own(stores: &Stores) {
    let like = webhook(AccountId::generate());
    let elsewhere = Webhook { input_id: InputId::generate(), ..like.clone() };
    let first = twin(&like, NOW, &[KEY, OTHER], after(60));
    assert_eq!(accept(stores, &first).await, Accepted::Stored);
    let other = twin(&elsewhere, NOW, &[KEY], after(60));
    assert_eq!(accept(stores, &other).await, Accepted::Stored);
    let of = first.webhook.id;
    for keys in [[[9; 32], OTHER], [KEY, [10; 32]]] {
        let second = twin(&like, NOW, &keys, after(60));
        assert_eq!(accept(stores, &second).await, Accepted::Duplicate { of });
    }
    // What a duplicate had beside it was not seen.
    for key in [[9; 32], [10; 32]] {
        assert_eq!(accept(stores, &twin(&like, NOW, &[key], after(60))).await, Accepted::Stored);
    }
}

/// The window ends at its moment and begins again with the webhook that is stored then.
pub async fn window_ends_exactly(stores: &Stores) {
    let like = webhook(AccountId::generate());
    let first = twin(&like, NOW, &[KEY], after(10));
    assert_eq!(accept(stores, &first).await, Accepted::Stored);
    let last = Timestamp::from_millis(after(10).as_millis() - 1);
    let of = first.webhook.id;
    let late = twin(&like, last, &[KEY], after(20));
    assert_eq!(accept(stores, &late).await, Accepted::Duplicate { of });
    let next = twin(&like, after(10), &[KEY], after(20));
    assert_eq!(accept(stores, &next).await, Accepted::Stored);
    let of = next.webhook.id;
    let again = twin(&like, after(19), &[KEY], after(29));
    assert_eq!(accept(stores, &again).await, Accepted::Duplicate { of });
    let told = log(stores, &next).await.expect("it is there").webhook.checks;
    assert_eq!(told.duplicates, 1, "those of the first are the first's");
}

/// Twenty duplicates of one webhook have logs; all are counted.
pub async fn logs_of_duplicates_are_bounded(stores: &Stores) {
    let like = webhook(AccountId::generate());
    let first = twin(&like, NOW, &[KEY], after(60));
    assert_eq!(accept(stores, &first).await, Accepted::Stored);
    let mut logs = 0;
    for _ in 0..Seen::MAX_LOGS + 5 {
        let again = twin(&like, NOW, &[KEY], after(60));
        accept(stores, &again).await;
        logs += u32::from(log(stores, &again).await.is_some());
    }
    assert_eq!(logs, Seen::MAX_LOGS);
    let told = log(stores, &first).await.expect("it is there").webhook.checks;
    assert_eq!(told.duplicates, Seen::MAX_LOGS + 5);
}

/// Of a thousand twins at once one is delivered.
pub async fn concurrent_twins_are_stored_once(stores: &Stores) {
    let like = webhook(AccountId::generate());
    let outcomes = race(1_000, |_| {
        let (stores, twin) = (stores.clone(), twin(&like, NOW, &[KEY], after(60)));
        async move { (twin.webhook.id, stores.deliveries.accept(twin).await) }
    })
    .await;
    let mut stored = None;
    let mut duplicates = Vec::new();
    for (id, outcome) in outcomes {
        match outcome.expect("it can be stored") {
            Accepted::Stored => assert_eq!(stored.replace(id), None, "one is stored"),
            Accepted::Duplicate { of } => duplicates.push(of),
            Accepted::Known => panic!("each has an identifier of its own"),
        }
    }
    let stored = stored.expect("one is stored");
    assert!(duplicates.iter().all(|of| *of == stored));
    let logs = stores.deliveries.logs_of(like.account_id, stored).await.expect("logs");
    assert_eq!(logs.len(), 1);
    assert_eq!(logs[0].webhook.checks.duplicates, 999);
}

/// A webhook that is not stored has no key: its twin is.
pub async fn twin_of_a_webhook_that_fails_is_stored(stores: &Stores) {
    let like = webhook(AccountId::generate());
    let taken = twin(&like, NOW, &[], after(60));
    assert_eq!(accept(stores, &taken).await, Accepted::Stored);
    let fails = |accept: Accept| {
        with(accept, |accept| {
            accept.deliveries = vec![NewDelivery::new(log_id(&taken), None, None)];
        })
    };
    let outcomes = race(40, |number| {
        let twin = twin(&like, NOW, &[KEY], after(60));
        let twin = if number % 4 == 0 { twin } else { fails(twin) };
        let stores = stores.clone();
        async move { (number % 4 == 0, stores.deliveries.accept(twin).await) }
    })
    .await;
    let (mut stored, mut failed) = (0, 0);
    for (can_be_stored, outcome) in outcomes {
        match (can_be_stored, outcome) {
            (true, Ok(Accepted::Stored)) => stored += 1,
            (_, Ok(Accepted::Duplicate { .. })) => {}
            (false, outcome @ Err(_)) => {
                expect_conflict(outcome);
                failed += 1;
            }
            (_, other) => panic!("unexpected: {other:?}"),
        }
    }
    assert_eq!(stored, 1, "one of those that can be stored is; {failed} failed");
}

/// A webhook that is stored again is no duplicate of itself.
pub async fn webhook_stored_again_is_known(stores: &Stores) {
    let first = twin(&webhook(AccountId::generate()), NOW, &[KEY], after(60));
    assert_eq!(accept(stores, &first).await, Accepted::Stored);
    assert_eq!(accept(stores, &first).await, Accepted::Known);
}

/// Keys that have ended are forgotten, those that ended first, and no others.
pub async fn forget_seen_removes_what_has_ended(stores: &Stores) {
    let like = webhook(AccountId::generate());
    for (number, until) in [after(1), after(2), after(3)].into_iter().enumerate() {
        let key = [u8::try_from(number).unwrap_or_default(); 32];
        let accepted = accept(stores, &twin(&like, NOW, &[key], until)).await;
        assert_eq!(accepted, Accepted::Stored);
    }
    let forget = async |limit| {
        stores.logs.forget_seen(after(2), limit).await.expect("keys can be forgotten")
    };
    assert_eq!(forget(0).await, 0);
    assert_eq!(forget(1).await, 1);
    assert_eq!(forget(9).await, 1);
    assert_eq!(forget(9).await, 0);
    let twin = twin(&like, after(2), &[[2; 32]], after(60));
    assert!(matches!(accept(stores, &twin).await, Accepted::Duplicate { .. }));
}
