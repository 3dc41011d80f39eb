//! Erasing webhooks whose bodies are objects.

use webhook_core::{
    AccountId, ErrorKind, OutputId,
    store::{Accept, DeliveryStore, EraseWebhook, LogStore},
};

use super::{Objects, accept_of, body, claim, key, opened};
use crate::{databases::on_each, sample::NOW};

fn of(accept: &Accept) -> AccountId {
    accept.webhook.account_id
}

#[tokio::test]
async fn an_object_goes_with_its_webhook_and_not_before() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, node) = opened(&options, &objects).await;
        let (gone, stays) = (OutputId::generate(), OutputId::generate());
        let [gone, stays] = [gone, stays].map(|output| accept_of(output, body(5_000)));
        for accept in [&gone, &stays] {
            storage.accept(accept.clone()).await.expect("it is new");
        }
        let output = gone.deliveries[0].output_id.expect("an output");
        assert_eq!(storage.claim(claim(node, output)).await.expect("a claim").deliveries.len(), 1);
        let mut erase = EraseWebhook::new(gone.webhook.id, node, NOW);
        let refused = storage.erase(of(&gone), &erase).await.expect_err("it is in flight");
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert_eq!(objects.keys().len(), 2);
        erase.given_up = vec![gone.deliveries[0].id];
        storage.erase(of(&gone), &erase).await.expect("it is given up");
        assert_eq!(objects.keys(), [key(stays.webhook.id)]);

        // An object that cannot be deleted now is left to the rule of its bucket.
        objects.set_away(true);
        let erase = EraseWebhook::new(stays.webhook.id, node, NOW);
        storage.erase(of(&stays), &erase).await.expect("the rows go");
        objects.set_away(false);
        assert_eq!(objects.keys(), [key(stays.webhook.id)]);
        let logs = storage.logs_of(of(&stays), stays.webhook.id).await.expect("an answer");
        assert!(logs.is_empty());
        storage.close().await;
    })
    .await;
}
