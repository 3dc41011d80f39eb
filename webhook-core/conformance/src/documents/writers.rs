//! Cases for two concurrent writers of one document.

use std::time::Duration;

use webhook_core::{
    AccountId,
    model::{Bucket, Cron, Domain, Function, Input, Notification, Output},
    store::{BucketStore as _, Change, Configured, DocumentKey, Refusal, Stores},
};

use super::{cron, domain, notification, refusal};
use crate::sample::{after, bucket, function, input, output, race};

/// How often each writer changes its field.
const CHANGES: u64 = 20;

/// Which version of a configured thing this is.
fn version(thing: &impl Configured, account: AccountId) -> u64 {
    thing.document(account).expect("a document").version
}

async fn read<T: Configured>(stores: &Stores, account: AccountId, key: DocumentKey) -> T {
    let read = stores.documents.get::<T>(account, key.id).await;
    read.expect("it can be read").expect("it is there")
}

/// Reads a document, changes one field and writes the version that was read, time after time;
/// reads again when that is stale. Answers which versions it replaced.
async fn write<T: Configured>(
    stores: &Stores,
    account: AccountId,
    key: DocumentKey,
    change: fn(&mut T, u64),
) -> Vec<u64> {
    let mut replaced = Vec::new();
    for number in 1..=CHANGES {
        loop {
            let mut thing: T = read(stores, account, key).await;
            let known = version(&thing, account);
            change(&mut thing, number);
            let update = Change::update(account, &thing, known).expect("a document");
            match refusal(stores, &[update]).await {
                None => break replaced.push(known),
                Some(refusal) => assert_eq!(refusal, Refusal::Stale),
            }
        }
    }
    replaced
}

/// Two writers change a field each. Answers what the document is in the end.
async fn write_by_two<T: Configured + Send + Sync + 'static>(
    stores: &Stores,
    account: AccountId,
    key: DocumentKey,
    changes: [fn(&mut T, u64); 2],
) -> T {
    let replaced = race(2, |writer| {
        let (stores, change) = (stores.clone(), changes[writer]);
        async move { write(&stores, account, key, change).await }
    })
    .await;
    let mut replaced = replaced.concat();
    replaced.sort_unstable();
    let each_once: Vec<_> = (1..=2 * CHANGES).collect();
    assert_eq!(replaced, each_once, "{:?}: each version is replaced once", key.kind);

    let last: T = read(stores, account, key).await;
    let known = version(&last, account);
    assert_eq!(known, 1 + 2 * CHANGES, "{:?}: each change is a version", key.kind);
    for other in [known - 1, known + 1] {
        let update = Change::update(account, &last, other).expect("a document");
        assert_eq!(refusal(stores, &[update]).await, Some(Refusal::Stale), "{:?}", key.kind);
    }
    last
}

/// Two concurrent writers of different fields of one document lose no change.
pub async fn two_writers_of_one_document_lose_nothing(stores: &Stores) {
    let account = AccountId::generate();
    let (text, number) = (CHANGES.to_string(), CHANGES as u32);
    let mut made = bucket(account, "b");
    let (input, output) = (input(made.id, "i"), output(made.id, "o"));
    made.inputs.push(input.clone());
    made.outputs.push(output.clone());
    stores.documents.create_bucket(&made).await.expect("the bucket is new");

    let key = Bucket::key(made.id.as_uuid());
    let last = write_by_two::<Bucket>(
        stores,
        account,
        key,
        [
            |bucket, number| bucket.spec.name = number.to_string(),
            |bucket, number| bucket.spec.description = number.to_string(),
        ],
    );
    let last = last.await;
    assert_eq!([&last.spec.name, &last.spec.description], [&text, &text]);

    let key = Input::key(input.id.as_uuid());
    let last = write_by_two::<Input>(
        stores,
        account,
        key,
        [
            |input, number| input.spec.name = number.to_string(),
            |input, number| input.spec.body = number.to_string(),
        ],
    );
    let last = last.await;
    assert_eq!([&last.spec.name, &last.spec.body], [&text, &text]);

    let key = Output::key(output.id.as_uuid());
    let last = write_by_two::<Output>(
        stores,
        account,
        key,
        [
            |output, number| output.spec.description = number.to_string(),
            |output, number| output.spec.throttle.rate = number as u32,
        ],
    );
    let last = last.await;
    assert_eq!((&last.spec.description, last.spec.throttle.rate), (&text, number));

    let function = function(account, "f");
    stores.documents.create(account, &function).await.expect("the function is new");
    let key = Function::key(function.id.as_uuid());
    let last = write_by_two::<Function>(
        stores,
        account,
        key,
        [
            |function, number| function.spec.name = number.to_string(),
            |function, number| function.spec.payload = number.to_string(),
        ],
    );
    let last = last.await;
    assert_eq!([&last.spec.name, &last.spec.payload], [&text, &text]);

    let domain = domain(account, "a.example");
    stores.documents.create(account, &domain).await.expect("the domain is new");
    let key = Domain::key(domain.id.as_uuid());
    // A domain has only its name and the moment of its last change.
    let last = write_by_two::<Domain>(
        stores,
        account,
        key,
        [
            |domain, number| domain.spec.domain = format!("{number}.example"),
            |domain, number| domain.updated_at = after(number),
        ],
    );
    let last = last.await;
    assert_eq!((last.spec.domain, last.updated_at), (format!("{text}.example"), after(CHANGES)));

    let cron = cron(&made);
    stores.documents.create(account, &cron).await.expect("the cron is new");
    let key = Cron::key(cron.id.as_uuid());
    let last = write_by_two::<Cron>(
        stores,
        account,
        key,
        [
            |cron, number| cron.spec.name = number.to_string(),
            |cron, number| cron.spec.payload = number.to_string(),
        ],
    );
    let last = last.await;
    assert_eq!([&last.spec.name, &last.spec.payload], [&text, &text]);

    let notification = notification(&made);
    stores.documents.create(account, &notification).await.expect("the notification is new");
    let key = Notification::key(notification.id.as_uuid());
    let last = write_by_two::<Notification>(
        stores,
        account,
        key,
        [
            |notification, number| notification.spec.queue_deep_at = number as u32,
            |notification, number| notification.spec.min_interval = Duration::from_secs(number),
        ],
    );
    let spec = last.await.spec;
    assert_eq!((spec.queue_deep_at, spec.min_interval.as_secs()), (number, CHANGES));
}
