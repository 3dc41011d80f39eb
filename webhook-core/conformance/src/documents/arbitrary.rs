//! What the store keeps of each field, whatever it is.

use std::fmt::Debug;

use webhook_core::{
    AccountId, CronId, DomainId, FunctionId, InputId, NotificationId, OutputId,
    model::{
        Bucket, BucketSpec, Cron, CronSpec, Described, Domain, DomainSpec, Function, FunctionSpec,
        Input, InputSpec, Notification, NotificationSpec, Output, OutputSpec,
    },
    store::{Bounds, Change, Configured, Stores},
};

use super::stored_bucket;
use crate::{
    arbitrary::{arbitrary, set_places},
    sample::NOW,
};

const SEEDS: u64 = 48;

/// An arbitrary specification of each kind is read back as it was stored.
pub async fn arbitrary_specifications_are_read_back(stores: &Stores) {
    let account = AccountId::generate();
    let bucket = stored_bucket(stores, account, "a").await;
    each(stores, account, |spec: BucketSpec, seed| {
        let mut spec = spec;
        spec.name = format!("b{seed}");
        Bucket::new(webhook_core::BucketId::generate(), account, NOW, spec)
    })
    .await;
    each(stores, account, |spec: InputSpec, _| {
        Input::new(InputId::generate(), bucket.id, NOW, spec)
    })
    .await;
    each(stores, account, |spec: OutputSpec, seed| {
        let mut spec = spec;
        spec.name = format!("o{seed}");
        Output::new(OutputId::generate(), bucket.id, NOW, spec)
    })
    .await;
    each(stores, account, |spec: FunctionSpec, _| {
        Function::new(FunctionId::generate(), account, NOW, spec)
    })
    .await;
    each(stores, account, |spec: CronSpec, _| Cron {
        id: CronId::generate(),
        account_id: account,
        version: 1,
        created_at: NOW,
        updated_at: NOW,
        next_run: None,
        bucket_id: bucket.id,
        input_id: InputId::generate(),
        output_id: OutputId::generate(),
        spec,
    })
    .await;
    each(stores, account, |spec: NotificationSpec, _| {
        let mut spec = spec;
        spec.to_bucket = bucket.id.to_string();
        Notification {
            id: NotificationId::generate(),
            account_id: account,
            version: 1,
            created_at: NOW,
            updated_at: NOW,
            last_sent_at: None,
            spec,
        }
    })
    .await;
    each(stores, account, |spec: DomainSpec, seed| {
        let mut spec = spec;
        spec.domain = format!("h{seed}-{}", spec.domain);
        let id = DomainId::generate();
        Domain { id, account_id: account, version: 1, created_at: NOW, updated_at: NOW, spec }
    })
    .await;
}

/// Stores what `make` makes of each specification, and reads it again.
async fn each<S, T>(stores: &Stores, account: AccountId, make: impl Fn(S, u64) -> T)
where
    S: Described + Default + Clone,
    T: Configured + PartialEq + Debug,
{
    let mut specs = Vec::new();
    for seed in 0..SEEDS {
        let spec: S = arbitrary(seed);
        specs.push(spec.clone());
        let made = make(spec, seed);
        let create = Change::create(account, &made, Bounds::NONE).expect("it can be written");
        let id = made.document(account).expect("it can be written").key.id;
        stores.documents.apply(&[create]).await.expect("it is new");
        let found = stores.documents.get::<T>(account, id).await.expect("it can be read");
        assert_eq!(found, Some(made), "seed {seed}");
    }
    let set = set_places(&specs);
    webhook_core::model::described::blank(&S::default(), "", &mut |place, field, value| {
        use webhook_core::model::described::Shape::{
            Choice, Decimal, Duration, Flag, Headers, Moment, Secret, Text, Whole,
        };
        let is_made_up = matches!(
            value.shape(),
            Choice(_) | Decimal | Duration | Flag | Headers | Moment | Secret | Text | Whole
        );
        let is_row = place.contains(".0.");
        let is_set = set.contains(place) || is_row || field.required;
        assert!(is_set || !is_made_up, "no arbitrary specification sets {place}");
    });
}
