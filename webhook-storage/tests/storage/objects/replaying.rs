//! Replays of webhooks whose bodies are objects.

use std::sync::Arc;

use webhook_core::{
    AccountId, DeliveryId, OutputId, ReplayId,
    model::{Replay, ReplaySpec, ReplayStatus, ReplayTotals},
    store::{
        ClaimWork, DeliveryStore, FeedReplay, NewDelivery, ReplayItem, ReplayStore, ReplayedWebhook,
    },
};

use super::{Objects, accept_of, body, key, opened};
use crate::{
    databases::on_each,
    sample::{NOW, delivery, with},
};

fn replay_of(account: AccountId) -> Replay {
    Replay {
        id: ReplayId::generate(),
        account_id: account,
        bucket_id: None,
        status: ReplayStatus::Running,
        error: String::new(),
        total: Some(3),
        outputs: Vec::new(),
        totals: ReplayTotals::default(),
        skipped: 0,
        created_at: NOW,
        finished_at: None,
        cursor: String::new(),
        spec: ReplaySpec::default(),
    }
}

#[tokio::test]
async fn what_has_lost_its_body_is_passed_over() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, node) = opened(&options, &objects).await;
        let (account, output) = (AccountId::generate(), OutputId::generate());
        let accepts: Vec<_> = (0..3)
            .map(|_| {
                with(accept_of(OutputId::generate(), body(500)), |accept| {
                    Arc::make_mut(&mut accept.webhook).account_id = account;
                })
            })
            .collect();
        let mut items = Vec::new();
        for accept in &accepts[..2] {
            storage.accept(accept.clone()).await.expect("it is new");
            let deliveries = vec![NewDelivery::new(DeliveryId::generate(), Some(output), None)];
            let id = accept.webhook.id;
            let webhook = ReplayedWebhook::Stored { id, deliveries, processed: None };
            items.push(ReplayItem { of: accept.deliveries[0].id, webhook });
        }
        // One is received again, as a webhook of its own.
        let again = with(accepts[2].clone(), |again| again.deliveries = vec![delivery(output)]);
        let webhook = ReplayedWebhook::Received(Box::new(again));
        items.push(ReplayItem { of: accepts[1].deliveries[0].id, webhook });
        // The replay reads the logs before it queues them.
        objects.replace(accepts[0].webhook.id, None);
        for accept in &accepts[..2] {
            let log = storage.log(account, accept.deliveries[0].id).await.expect("a read");
            assert!(log.is_some());
        }
        let replay = replay_of(account);
        storage.create_replay(&replay, 10).await.expect("it begins");
        let claim = ClaimWork::new(node, NOW, NOW + std::time::Duration::from_secs(60), 9);
        assert_eq!(storage.claim_replays(claim).await.expect("claimed").len(), 1);
        let later = NOW + std::time::Duration::from_secs(90);
        let feed = with(FeedReplay::new(&replay, node, NOW, later), |feed| {
            feed.to = "1.here".to_owned();
            feed.items = items;
        });
        let queued = storage.feed_replay(feed).await.expect("written");
        assert_eq!(queued, Some(vec![false, true, true]));
        let stored = storage.replay(account, replay.id).await.expect("read").expect("there");
        assert_eq!((&*stored.cursor, stored.skipped), ("1.here", 1));
        assert!(objects.keys().contains(&key(accepts[2].webhook.id)));
        let logs = storage.logs_of(account, accepts[2].webhook.id).await.expect("a read");
        assert_eq!(logs[0].webhook, *accepts[2].webhook);
        storage.close().await;
    })
    .await;
}
