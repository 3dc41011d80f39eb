//! What an account wants to be told of.

use super::{Admin, Caller, check};
use crate::{
    error::Error,
    id::{BucketId, NotificationId, WebhookId},
    model::{Bucket, Notification, NotificationSpec},
    store::{ApplyError, Bounds, BucketStore, Change, DocumentKind, Page, Refusal, again},
};

impl Admin {
    /// All notifications of the account, in the order they were made.
    pub async fn notifications(&self, caller: &Caller) -> Result<Vec<Notification>, Error> {
        self.list(caller, Page::ALL).await
    }

    /// One notification of the account.
    pub async fn notification(
        &self,
        caller: &Caller,
        id: NotificationId,
    ) -> Result<Notification, Error> {
        caller.require_account()?;
        let found = self.stores.documents.get(caller.account_id(), id.as_uuid()).await?;
        found.ok_or_else(|| Error::not_found("notification"))
    }

    /// Makes a notification. It tells what happens from now on.
    ///
    /// # Errors
    /// `Invalid` when a field is, or the account has all of its notifications.
    pub async fn create_notification(
        &self,
        caller: &Caller,
        spec: NotificationSpec,
    ) -> Result<Notification, Error> {
        caller.require_account()?;
        let (account_id, now) = (caller.account_id(), self.now());
        let spec = self.notification_spec(caller, spec).await?;
        let (id, last_sent_at, version) = (self.ids.next(), None, 1);
        let (created_at, updated_at) = (now, now);
        let made =
            Notification { id, account_id, version, created_at, updated_at, last_sent_at, spec };
        let limit = self.options.max_notifications_per_account;
        let bounds = Bounds { in_account: limit as u64, ..Bounds::NONE };
        let made_one = [Change::create(account_id, &made, bounds)?];
        self.stores.documents.apply(&made_one).await.map_err(|error| match error {
            ApplyError::Refused(Refusal::AccountFull(_)) => {
                Error::invalid("notifications", format!("the account has all of its {limit}"))
            }
            error => bucket_gone(error).into(),
        })?;
        self.relay.notifications_changed(account_id).await?;
        Ok(made)
    }

    /// Replaces what a caller may write of a notification. What happened while it was disabled,
    /// and is still so when it is enabled again, is told then.
    ///
    /// # Errors
    /// `Invalid` when a field is, `NotFound` without such a notification.
    pub async fn update_notification(
        &self,
        caller: &Caller,
        id: NotificationId,
        spec: NotificationSpec,
    ) -> Result<Notification, Error> {
        again(|| async {
            let mut stored = self.notification(caller, id).await?;
            caller.require_version(stored.version)?;
            stored.spec = self.notification_spec(caller, spec.clone()).await?;
            stored.updated_at = self.now();
            let update = [Change::update(stored.account_id, &stored, stored.version)?];
            self.stores.documents.apply(&update).await.map_err(bucket_gone)?;
            stored.version += 1;
            self.relay.notifications_changed(stored.account_id).await?;
            Ok(stored)
        })
        .await
    }

    /// Removes a notification, and with it what it has still to tell.
    ///
    /// # Errors
    /// `NotFound` without such a notification.
    pub async fn delete_notification(
        &self,
        caller: &Caller,
        id: NotificationId,
    ) -> Result<(), Error> {
        caller.require_account()?;
        let account = caller.account_id();
        let pinned = caller.pin(self.notification(caller, id).await?.version)?;
        let delete = Change::delete::<Notification>(account, id.as_uuid()).pinned(pinned);
        self.stores.documents.apply(&[delete]).await?;
        self.relay.notifications_changed(account).await
    }

    /// Puts a webhook of the type `notification.test` into the bucket of a notification, also of
    /// a disabled one. Its identifier.
    ///
    /// # Errors
    /// `NotFound` without such a notification, `Conflict` when its bucket is suspended.
    pub async fn test_notification(
        &self,
        caller: &Caller,
        id: NotificationId,
    ) -> Result<WebhookId, Error> {
        let notification = self.notification(caller, id).await?;
        self.relay.notifier.test(&notification).await
    }

    /// The spec, checked, with buckets by their identifiers.
    async fn notification_spec(
        &self,
        caller: &Caller,
        mut spec: NotificationSpec,
    ) -> Result<NotificationSpec, Error> {
        check::notification(&mut spec)?;
        let buckets = self.stores.documents.buckets(caller.account_id()).await?;
        spec.to_bucket = bucket_of("to_bucket", &buckets, &spec.to_bucket)?.to_string();
        let named = spec.buckets.iter().enumerate();
        let found = named.map(|(place, bucket)| {
            let field = format!("buckets[{place}]");
            bucket_of(&field, &buckets, bucket).map(|id| id.to_string())
        });
        spec.buckets = found.collect::<Result<_, _>>()?;
        spec.buckets.sort_unstable();
        spec.buckets.dedup();
        Ok(spec)
    }
}

/// The error when the bucket that a notification leads to was removed at this moment.
fn bucket_gone(error: ApplyError) -> ApplyError {
    match error {
        ApplyError::Refused(Refusal::Missing(DocumentKind::Bucket)) => {
            Error::invalid("to_bucket", "is no bucket of the account").into()
        }
        error => error,
    }
}

/// The bucket with this ID or name.
fn bucket_of(field: &str, buckets: &[Bucket], text: &str) -> Result<BucketId, Error> {
    let id = text.parse().ok();
    let is_meant = |bucket: &&Bucket| Some(bucket.id) == id || bucket.spec.name == text;
    let bucket = buckets.iter().find(is_meant);
    bucket
        .map(|bucket| bucket.id)
        .ok_or_else(|| Error::invalid(field, "is no bucket of the account"))
}
