//! What accounts want to be told of, and what has still to be told.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use uuid::Uuid;

use crate::{
    clock::Timestamp,
    error::Error,
    id::{BucketId, NotificationId},
    model::NotificationEvent,
};

/// Keeps the *notices* of notifications: what each has told and has still to tell, one for each
/// event and subject. A notice goes with its notification.
///
/// A notice is *due* from the moment that it is to be told until
/// [`notice_sent`](Self::notice_sent); what is noted meanwhile is counted. So what is noted is
/// told once, however many nodes look and whenever one of them ends.
#[async_trait]
pub trait NotificationStore: Send + Sync + fmt::Debug {
    /// Notes that something happened. Answers `false`, and changes nothing, when the notice has
    /// that moment or a later one already, unless the note says
    /// [`again`](Note::again). Without such a notification this is an error.
    async fn note(&self, note: &Note) -> Result<bool, Error>;

    /// The notices of a notification that are about this bucket, or about none.
    async fn notices(
        &self,
        notification: NotificationId,
        bucket: Option<BucketId>,
    ) -> Result<Vec<Notice>, Error>;

    /// Notices that are due at `now`, the longest due first, at most `limit`.
    async fn due_notices(&self, now: Timestamp, limit: usize) -> Result<Vec<Notice>, Error>;

    /// When the first notice is due.
    async fn notices_wake_at(&self) -> Result<Option<Timestamp>, Error>;

    /// Writes that a notice was told. When it is due at another moment by now, this changes
    /// nothing and answers `false`: somebody else was first. What was noted after it was read
    /// stays, and is due at [`next`](NoticeSent::next).
    async fn notice_sent(&self, sent: &NoticeSent) -> Result<bool, Error>;

    /// Removes the notices about a subject that is gone.
    async fn forget_notices(
        &self,
        notification: NotificationId,
        subject: Uuid,
    ) -> Result<(), Error>;
}

/// What a notification has told, and has still to tell, of one event of one subject.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// Whose it is.
    pub notification: NotificationId,
    /// What happened.
    pub event: NotificationEvent,
    /// To what: the identifier of the output, or of whatever the event is about.
    pub subject: Uuid,
    /// The bucket that it is in.
    pub bucket: Option<BucketId>,
    /// Tells one happening from another: the latest that was noted.
    pub moment: Timestamp,
    /// When the first was noted that is still to be told.
    pub first_at: Timestamp,
    /// When the latest was noted.
    pub last_at: Timestamp,
    /// How many are still to be told.
    pub count: u64,
    /// What else is told of the latest: the text of a JSON object.
    pub detail: String,
    /// When it was last told.
    pub sent_at: Option<Timestamp>,
    /// When it is to be told; none when there is nothing to tell.
    pub due_at: Option<Timestamp>,
}

impl Notice {
    /// A notice that is new at `now`, and due then.
    #[must_use]
    pub const fn new(
        notification: NotificationId,
        event: NotificationEvent,
        subject: Uuid,
        bucket: Option<BucketId>,
        now: Timestamp,
    ) -> Self {
        Self {
            notification,
            event,
            subject,
            bucket,
            moment: now,
            first_at: now,
            last_at: now,
            count: 1,
            detail: String::new(),
            sent_at: None,
            due_at: Some(now),
        }
    }
}

/// Something that happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Note {
    /// The notice as it becomes when there is none yet. Without `due_at` it is not told, but
    /// known to have happened.
    pub notice: Notice,
    /// How long after the last time it is told again.
    pub min_interval: Duration,
    /// Whether it counts whatever its moment is.
    pub again: bool,
}

impl Note {
    /// A note that counts once for each moment.
    #[must_use]
    pub const fn new(notice: Notice, min_interval: Duration) -> Self {
        Self { notice, min_interval, again: false }
    }
}

/// A notice that was told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NoticeSent {
    /// As it was read.
    pub notice: Notice,
    /// When it was told.
    pub at: Timestamp,
    /// When what was noted since is due.
    pub next: Timestamp,
}

impl NoticeSent {
    /// It was told at this moment, and what was noted since waits for another.
    #[must_use]
    pub const fn new(notice: Notice, at: Timestamp, next: Timestamp) -> Self {
        Self { notice, at, next }
    }
}
