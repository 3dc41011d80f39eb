//! Cases for [`NotificationStore`](webhook_core::store::NotificationStore).

use std::time::Duration;

use crate::sample::{Together as _, change_state, update};
use webhook_core::store::BucketStore as _;
use webhook_core::{
    AccountId, BucketId, NotificationId, OutputId, Timestamp,
    model::{Bucket, Notification, NotificationEvent, NotificationSpec},
    store::{DocumentKind, Find, Note, Notice, NoticeSent, StateChange, Stores},
};

use super::sample::{
    NOW, ODD_TEXT, after, bucket, expect_conflict, expect_every_field, expect_not_found,
    notification, race, with,
};

const EVENT: NotificationEvent = NotificationEvent::DeliveryFailed;
const INTERVAL: Duration = Duration::from_secs(60);

async fn stored_bucket(stores: &Stores, account: AccountId) -> Bucket {
    let bucket = bucket(account, &BucketId::generate().to_string());
    stores.documents.create_bucket(&bucket).await.expect("the bucket is new");
    bucket
}

async fn create(stores: &Stores, notification: &Notification) {
    let created = stores.documents.create(notification.account_id, notification).await;
    created.expect("the notification is new");
}

/// A stored notification.
async fn stored(stores: &Stores) -> Notification {
    let bucket = stored_bucket(stores, AccountId::generate()).await;
    let notification = notification(&bucket);
    create(stores, &notification).await;
    notification
}

async fn find(stores: &Stores, notification: &Notification) -> Option<Notification> {
    let Notification { id, account_id, .. } = *notification;
    stores.documents.get::<Notification>(account_id, id.as_uuid()).await.expect("it can be read")
}

/// What happened at `moment` to the one subject of the notification.
fn note(notification: &Notification, moment: Timestamp) -> Note {
    let subject = notification.id.as_uuid();
    let mut notice = Notice::new(notification.id, EVENT, subject, None, moment);
    notice.detail = ODD_TEXT.to_owned();
    Note::new(notice, INTERVAL)
}

async fn noted(stores: &Stores, note: &Note) -> bool {
    stores.notifications.note(note).await.expect("it can be noted")
}

async fn notices(stores: &Stores, notification: &Notification) -> Vec<Notice> {
    stores.notifications.notices(notification.id, None).await.expect("notices can be read")
}

async fn due(stores: &Stores, now: Timestamp) -> Vec<Notice> {
    stores.notifications.due_notices(now, 9).await.expect("notices can be read")
}

async fn wake(stores: &Stores) -> Option<Timestamp> {
    stores.notifications.notices_wake_at().await.expect("the moment can be read")
}

async fn sent(stores: &Stores, notice: &Notice, at: Timestamp) -> bool {
    let sent = NoticeSent::new(notice.clone(), at, at + INTERVAL);
    stores.notifications.notice_sent(&sent).await.expect("it can be written")
}

/// Every field survives, and so does when it last told something.
pub async fn every_field_of_a_notification_round_trips(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate()).await;
    let plain = notification(&bucket);
    let mut odd = notification(&bucket);
    odd.created_at = Timestamp::from_millis(1);
    odd.updated_at = after(7);
    odd.last_sent_at = Some(after(8));
    odd.spec = with(NotificationSpec::new(NotificationEvent::ALL, bucket.id.to_string()), |spec| {
        spec.buckets = vec![bucket.id.to_string(), BucketId::generate().to_string()];
        spec.disabled = true;
        spec.min_interval = Duration::from_secs(86_400);
        spec.queue_deep_at = 1_000_000;
    });
    expect_every_field(std::slice::from_ref(&odd.spec));
    create(stores, &plain).await;
    create(stores, &odd).await;
    let listed = stores.documents.list::<Notification>(bucket.account_id).await.expect("readable");
    assert_eq!(listed, [plain.clone(), odd.clone()]);
    assert_eq!(find(stores, &odd).await.as_ref(), Some(&odd));
    let sent = change_state(stores, StateChange::Sent(plain.id, after(9))).await;
    sent.expect("it can be written");
    let read = find(stores, &plain).await.expect("it is there");
    assert_eq!(read.last_sent_at, Some(after(9)));
    let none = NotificationId::generate();
    let sent = change_state(stores, StateChange::Sent(none, NOW)).await;
    sent.expect("it says nothing");
}

/// Another account's notifications are absent.
pub async fn notifications_of_another_account_are_absent(stores: &Stores) {
    let notification = stored(stores).await;
    let other = AccountId::generate();
    let read = stores.documents.get::<Notification>(other, notification.id.as_uuid()).await;
    assert_eq!(read.expect("readable"), None);
    assert_eq!(stores.documents.list::<Notification>(other).await.expect("readable"), []);
    let deleted = stores.documents.delete::<Notification>(other, notification.id.as_uuid()).await;
    expect_not_found(deleted);
    let mut foreign = notification.clone();
    foreign.account_id = other;
    expect_not_found(update(stores, foreign.account_id, &foreign, foreign.version).await);
    assert_eq!(find(stores, &notification).await, Some(notification));
}

/// What it has told stays.
pub async fn update_replaces_what_a_caller_may_write(stores: &Stores) {
    let notification = stored(stores).await;
    noted(stores, &note(&notification, NOW)).await;
    let bucket = stored_bucket(stores, notification.account_id).await;
    let mut changed = notification.clone();
    changed.updated_at = after(1);
    changed.spec = NotificationSpec::new(NotificationEvent::ALL, bucket.id.to_string());
    changed.spec.disabled = true;
    let mut written = changed.clone();
    (written.created_at, written.last_sent_at) = (after(5), Some(after(5)));
    changed.version = 2;
    update(stores, written.account_id, &written, written.version).await.expect("it is there");
    assert_eq!(find(stores, &notification).await, Some(changed));
    assert_eq!(notices(stores, &notification).await.len(), 1);
}

/// Nothing is made by an update.
pub async fn update_or_delete_of_no_notification_is_not_found(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate()).await;
    let notification = notification(&bucket);
    expect_not_found(
        update(stores, notification.account_id, &notification, notification.version).await,
    );
    let Notification { id, account_id, .. } = notification;
    expect_not_found(stores.documents.delete::<Notification>(account_id, id.as_uuid()).await);
    create(stores, &notification).await;
    stores.documents.delete::<Notification>(account_id, id.as_uuid()).await.expect("it is there");
    assert_eq!(find(stores, &notification).await, None);
}

/// The first one stays.
pub async fn taken_notification_id_is_a_conflict(stores: &Stores) {
    let notification = stored(stores).await;
    let mut second = notification.clone();
    second.spec.disabled = true;
    expect_conflict(stores.documents.create(second.account_id, &second).await);
    assert_eq!(find(stores, &notification).await, Some(notification));
}

/// With the bucket that it leads to, and not with another.
pub async fn notification_goes_with_its_bucket(stores: &Stores) {
    let account = AccountId::generate();
    let (target, other) =
        (stored_bucket(stores, account).await, stored_bucket(stores, account).await);
    let mut notification = notification(&target);
    notification.spec.buckets = vec![other.id.to_string()];
    create(stores, &notification).await;
    noted(stores, &note(&notification, NOW)).await;
    stores.documents.remove_bucket(account, other.id, None, true).await.expect("it is there");
    assert_eq!(find(stores, &notification).await.as_ref(), Some(&notification));
    stores.documents.remove_bucket(account, target.id, None, true).await.expect("it is there");
    assert_eq!(find(stores, &notification).await, None);
    assert_eq!((due(stores, after(9)).await, wake(stores).await), (Vec::new(), None));
}

/// Of all accounts.
pub async fn disabled_notifications_are_left_out(stores: &Stores) {
    let (first, second, third) = (stored(stores).await, stored(stores).await, stored(stores).await);
    let disabled = with(second.clone(), |second| second.spec.disabled = true);
    update(stores, disabled.account_id, &disabled, disabled.version).await.expect("it is there");
    let enabled = Find::Watched(DocumentKind::Notification, None, 1_000_000);
    let mut enabled = stores.documents.search::<Notification>(enabled).await.expect("readable");
    enabled.sort_by_key(|notification| notification.id);
    assert_eq!(enabled, [first, third]);
}

/// Whoever looks again finds the same moment.
pub async fn moment_is_noted_once(stores: &Stores) {
    let notification = stored(stores).await;
    let first = note(&notification, NOW);
    assert!(noted(stores, &first).await);
    assert!(!noted(stores, &first).await);
    let mut earlier = note(&notification, NOW);
    earlier.notice.moment = Timestamp::from_millis(NOW.as_millis() - 1);
    assert!(!noted(stores, &earlier).await);
    let told = std::slice::from_ref(&first.notice);
    assert_eq!(notices(stores, &notification).await, told);
    assert_eq!(due(stores, NOW).await, told);
    assert_eq!(wake(stores).await, Some(NOW));
    assert!(sent(stores, &first.notice, after(1)).await);
    assert!(!noted(stores, &first).await, "it is known after it was told, too");
    assert_eq!((due(stores, after(999)).await, wake(stores).await), (Vec::new(), None));
}

/// They are told together.
pub async fn what_is_noted_before_it_is_told_is_counted(stores: &Stores) {
    let notification = stored(stores).await;
    noted(stores, &note(&notification, NOW)).await;
    let mut second = note(&notification, after(1));
    second.notice.detail = "{}".to_owned();
    assert!(noted(stores, &second).await);
    let again = with(note(&notification, NOW), |note| {
        note.again = true;
        note.notice.count = 3;
        note.notice.last_at = after(2);
    });
    assert!(noted(stores, &again).await, "whatever its moment is");
    let read = notices(stores, &notification).await.remove(0);
    assert_eq!((read.count, read.moment), (5, after(1)));
    assert_eq!((read.first_at, read.last_at, read.due_at), (NOW, after(2), Some(NOW)));
    assert_eq!(read.detail, ODD_TEXT);
}

/// Counted from when it was told.
pub async fn what_follows_waits_for_the_interval(stores: &Stores) {
    let notification = stored(stores).await;
    noted(stores, &note(&notification, NOW)).await;
    let first = due(stores, NOW).await.remove(0);
    assert!(sent(stores, &first, after(10)).await);
    let rests = notices(stores, &notification).await.remove(0);
    assert_eq!((rests.count, rests.sent_at, rests.due_at), (0, Some(after(10)), None));
    noted(stores, &note(&notification, after(20))).await;
    let second = notices(stores, &notification).await.remove(0);
    assert_eq!((second.count, second.first_at), (1, after(20)));
    assert_eq!(second.due_at, Some(after(70)));
    assert_eq!(due(stores, after(69)).await, []);
    assert!(sent(stores, &second, after(70)).await);
    noted(stores, &note(&notification, after(500))).await;
    let third = notices(stores, &notification).await.remove(0);
    assert_eq!(third.due_at, Some(after(500)), "the interval is over");
}

/// It is not lost, and what was told is not told again.
pub async fn what_is_noted_meanwhile_is_told_later(stores: &Stores) {
    let notification = stored(stores).await;
    noted(stores, &note(&notification, NOW)).await;
    let first = due(stores, NOW).await.remove(0);
    noted(stores, &note(&notification, after(1))).await;
    assert!(sent(stores, &first, after(2)).await);
    let left = notices(stores, &notification).await.remove(0);
    assert_eq!((left.count, left.due_at), (1, Some(after(62))));
    assert!(!sent(stores, &first, after(3)).await, "somebody told it before");
    assert_eq!(notices(stores, &notification).await, [left]);
}

/// Until the next moment comes that is to be told.
pub async fn notice_without_a_due_moment_is_known_only(stores: &Stores) {
    let notification = stored(stores).await;
    let quiet = with(note(&notification, NOW), |note| {
        (note.notice.due_at, note.notice.count) = (None, 0);
    });
    assert!(noted(stores, &quiet).await);
    assert!(!noted(stores, &note(&notification, NOW)).await);
    assert_eq!(notices(stores, &notification).await, [quiet.notice]);
    assert_eq!((due(stores, after(9)).await, wake(stores).await), (Vec::new(), None));
    assert!(noted(stores, &note(&notification, after(1))).await);
    let told = due(stores, after(1)).await.remove(0);
    assert_eq!((told.count, told.due_at), (1, Some(after(1))));
}

/// It was deleted meanwhile.
pub async fn note_of_no_notification_is_not_found(stores: &Stores) {
    let bucket = stored_bucket(stores, AccountId::generate()).await;
    let note = note(&notification(&bucket), NOW);
    expect_not_found(stores.notifications.note(&note).await);
    assert_eq!(wake(stores).await, None);
}

/// And no other notices with them.
pub async fn notices_go_with_their_bucket_and_are_forgotten(stores: &Stores) {
    let notification = stored(stores).await;
    let bucket = stored_bucket(stores, notification.account_id).await;
    let subjects = [OutputId::generate().as_uuid(), OutputId::generate().as_uuid()];
    for subject in subjects {
        let about = with(note(&notification, NOW), |note| {
            (note.notice.subject, note.notice.bucket) = (subject, Some(bucket.id));
        });
        noted(stores, &about).await;
    }
    noted(stores, &note(&notification, NOW)).await;
    assert_eq!(notices(stores, &notification).await.len(), 1, "those of no bucket");
    let of_bucket = || stores.notifications.notices(notification.id, Some(bucket.id));
    assert_eq!(of_bucket().await.expect("readable").len(), 2);
    let forgotten = stores.notifications.forget_notices(notification.id, subjects[0]).await;
    forgotten.expect("they can be removed");
    let left = of_bucket().await.expect("readable");
    assert_eq!((left.len(), left[0].subject), (1, subjects[1]));
    let account = notification.account_id;
    stores.documents.remove_bucket(account, bucket.id, None, true).await.expect("it is there");
    assert_eq!(of_bucket().await.expect("readable"), []);
    assert_eq!(notices(stores, &notification).await.len(), 1);
}

/// One of them is the first.
pub async fn concurrent_notes_of_one_moment_count_once(stores: &Stores) {
    let notification = stored(stores).await;
    let notes = race(8, |_| {
        let (stores, note) = (stores.clone(), note(&notification, NOW));
        async move { stores.notifications.note(&note).await.expect("it can be noted") }
    });
    assert_eq!(notes.await.into_iter().filter(|first| *first).count(), 1);
    assert_eq!(notices(stores, &notification).await[0].count, 1);
}

/// Of several nodes that told the same, one was the first.
pub async fn concurrent_nodes_tell_once(stores: &Stores) {
    let notification = stored(stores).await;
    noted(stores, &note(&notification, NOW)).await;
    let notice = due(stores, NOW).await.remove(0);
    let told = race(8, |_| {
        let (stores, notice) = (stores.clone(), notice.clone());
        async move { sent(&stores, &notice, after(1)).await }
    });
    assert_eq!(told.await.into_iter().filter(|first| *first).count(), 1);
}
