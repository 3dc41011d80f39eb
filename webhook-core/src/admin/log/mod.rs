//! Reading logs back, sending webhooks again, and what clients report.

mod count;
mod drain;
mod query;
mod retention;
mod trace;

pub(super) use count::before;
pub use count::{DayQuery, MinuteQuery};
pub use drain::{DrainQuery, Handed};
pub(super) use query::within;
pub use query::{HeadsPage, LogQuery, LogsPage};

use super::{Admin, Caller, caller};
use crate::{
    error::Error,
    id::{AccountId, BucketId, DeliveryId},
    model::{Bucket, Log, Resend},
    relay::ConnectedClient,
    store::{BucketStore, ErasedWebhook, Find, Page},
};

impl Admin {
    /// One log of the account.
    pub async fn log(&self, caller: &Caller, id: DeliveryId) -> Result<Log, Error> {
        caller.require_api_access()?;
        self.reached_log(caller, id).await
    }

    /// One log of a bucket of the account.
    pub async fn bucket_log(
        &self,
        caller: &Caller,
        bucket: BucketId,
        id: DeliveryId,
    ) -> Result<Log, Error> {
        let log = self.log(caller, id).await?;
        match log.webhook.bucket_id == bucket {
            true => Ok(log),
            false => Err(Error::not_found("log")),
        }
    }

    /// Sends the webhook of a log again, as a delivery and log of its own.
    /// What is missing is [`NotFound`](crate::ErrorKind::NotFound), erased
    /// content a [`Conflict`](crate::ErrorKind::Conflict).
    pub async fn resend(&self, caller: &Caller, resend: Resend) -> Result<(), Error> {
        caller.require_api_access()?;
        if caller.is_scoped() {
            self.reached_log(caller, resend.log).await?;
        }
        self.relay.resend(caller.account_id(), resend).await
    }

    /// Erases the webhook of a log: all of its logs, whatever their outputs, the runs of
    /// functions on it, and its content. What still waits of it is withdrawn. Statistics
    /// count its logs as before, and a twin of it is still a duplicate.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound) when the account has no such log;
    /// [`Conflict`](crate::ErrorKind::Conflict) while an attempt of the webhook is in flight, or
    /// a consumer has it leased: nothing is changed then.
    pub async fn erase_log(&self, caller: &Caller, id: DeliveryId) -> Result<ErasedWebhook, Error> {
        caller.require_api_access()?;
        let log = self.reached_log(caller, id).await?;
        self.relay.eraser.erase(caller.account_id(), log.webhook.id).await
    }

    /// The clients of the account that are connected, to other relays over the same stores,
    /// too, where these say so ([`broadcast`](crate::WebhooksBuilder::broadcast)); and whether
    /// there may be more, because one did not answer within 200 ms.
    pub async fn clients(&self, caller: &Caller) -> Result<(Vec<ConnectedClient>, bool), Error> {
        caller.require_account()?;
        Ok(self.relay.clients.everywhere(caller.account_id()).await)
    }

    /// A log that lies within the caller's scope.
    async fn reached_log(&self, caller: &Caller, id: DeliveryId) -> Result<Log, Error> {
        let account = caller.account_id();
        let log = self.stores.deliveries.log(account, id).await?;
        let log = log.ok_or_else(|| Error::not_found("log"))?;
        if caller.is_scoped() {
            match self.stores.documents.bucket(account, log.webhook.bucket_id).await? {
                Some(bucket) => caller.require_scope(&bucket)?,
                // The logs of a deleted bucket stay: its name is nobody's any more.
                None => caller.require_id(log.webhook.bucket_id)?,
            }
        }
        Ok(log)
    }

    /// The bucket that `wanted` names. `field` is what the caller calls it.
    pub async fn find_bucket(
        &self,
        caller: &Caller,
        field: &str,
        wanted: &BucketRef,
    ) -> Result<Bucket, Error> {
        let account: AccountId = caller.account_id();
        let bucket = match wanted {
            BucketRef::Id(id) => self.stores.documents.bucket(account, *id).await?,
            BucketRef::Name(name) => {
                let named = Find::BucketNamed(account, name.clone());
                self.stores.documents.search_buckets(named).await?.pop()
            }
        };
        let bucket = bucket.ok_or_else(|| {
            let message = format!("{field}: the account has no such bucket");
            Error::new(crate::ErrorKind::NotFound, message)
        })?;
        caller.require_scope(&bucket).map(|()| bucket)
    }

    /// The one bucket that an operation reads, if it does not read all of the
    /// account; `Nothing` when the caller reaches none.
    pub(crate) async fn reading(
        &self,
        caller: &Caller,
        field: &str,
        bucket: Option<&BucketRef>,
    ) -> Result<Reading, Error> {
        if let Some(bucket) = bucket {
            return Ok(Reading::One(self.find_bucket(caller, field, bucket).await?.id));
        }
        if !caller.is_scoped() {
            return Ok(Reading::All);
        }
        match &*self.streamed_buckets(caller, Page::ALL).await? {
            [] => Ok(Reading::Nothing),
            [bucket] => Ok(Reading::One(bucket.id)),
            _ => Err(Error::invalid(field, "the access token reaches several buckets: name one")),
        }
    }
}

/// A bucket, by what its owner calls it. Text that is an ID is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BucketRef {
    /// The bucket with this ID.
    Id(BucketId),
    /// The bucket of this name.
    Name(String),
}

impl From<BucketId> for BucketRef {
    fn from(id: BucketId) -> Self {
        Self::Id(id)
    }
}

impl From<String> for BucketRef {
    fn from(text: String) -> Self {
        text.parse().map_or(Self::Name(text), Self::Id)
    }
}

impl From<&str> for BucketRef {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Which buckets an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    All,
    One(BucketId),
    Nothing,
}

impl Reading {
    /// For queries, where no bucket means all; none when there is nothing to ask for.
    pub(crate) fn filter(self) -> Option<Option<BucketId>> {
        match self {
            Self::All => Some(None),
            Self::One(id) => Some(Some(id)),
            Self::Nothing => None,
        }
    }
}

impl Caller {
    /// A bucket that is gone lay within its scope.
    fn require_id(&self, id: BucketId) -> Result<(), Error> {
        let listed = self.scope().iter().any(|entry| entry.parse() == Ok(id));
        if listed { Ok(()) } else { Err(caller::out_of_scope()) }
    }
}
