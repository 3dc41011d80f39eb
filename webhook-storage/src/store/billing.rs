//! Billing details, subscriptions and events.

use async_trait::async_trait;
use webhook_core::{
    AccountId, Error, Timestamp,
    model::{Billing, BillingDetailsSpec, Subscription, SubscriptionStatus},
    store::BillingStore,
};

use crate::{
    Storage,
    entity::{Table, json, millis, moment, name, named, table},
    fault::{self, ErrorClass, Row},
    tx::{Param, Read, Tx, with},
};

const WHAT: &str = "billing";

table! {
    /// The customer and the subscription of an account.
    Stored in "billing" {
        customer_id: Option<String>,
        details: Option<String>,
        subscription_id: Option<String>,
        status: Option<String>,
        prices: Option<String>,
        subscribed_at: Option<i64>,
        read_at: Option<i64>,
    }
}

const PUT_DETAILS: &str = "INSERT INTO billing (account_id, details) VALUES (?, ?) \
    ON CONFLICT (account_id) DO UPDATE SET details = excluded.details";

const PUT_CUSTOMER: &str = "INSERT INTO billing (account_id, customer_id) VALUES (?, ?) \
    ON CONFLICT (account_id) DO UPDATE SET customer_id = excluded.customer_id";

const PUT_SUBSCRIPTION: &str = "INSERT INTO billing (account_id, subscription_id, status, prices, \
    subscribed_at, read_at) VALUES (?, ?, ?, ?, ?, ?) \
    ON CONFLICT (account_id) DO UPDATE SET subscription_id = excluded.subscription_id, \
    status = excluded.status, prices = excluded.prices, \
    subscribed_at = excluded.subscribed_at, read_at = excluded.read_at \
    WHERE billing.subscription_id IS NULL \
    OR billing.subscription_id <> excluded.subscription_id OR billing.read_at <= excluded.read_at";

#[async_trait]
impl BillingStore for Storage {
    async fn billing(&self, account: AccountId) -> Result<Billing, Error> {
        let (read, tail) = (&self.database().read, "WHERE account_id = ?");
        match Stored::select_one(read, tail, [account.as_uuid().into()]).await? {
            Some(stored) => stored.read(account),
            None => Ok(Billing::default()),
        }
    }

    async fn account_of_customer(&self, customer_id: &str) -> Result<Option<AccountId>, Error> {
        let find = "SELECT account_id FROM billing WHERE customer_id = ?";
        let find = with(find, [customer_id.into()]);
        let account = self.database().read.query_one(find, |row| row.get("account_id")).await?;
        Ok(account.map(AccountId::from_uuid))
    }

    async fn put_billing_details(
        &self,
        account: AccountId,
        details: &BillingDetailsSpec,
    ) -> Result<(), Error> {
        let values = [account.as_uuid().into(), json(details)?.into()];
        self.put_billing(PUT_DETAILS, values.to_vec()).await
    }

    async fn put_customer(&self, account: AccountId, customer_id: &str) -> Result<(), Error> {
        let values = [account.as_uuid().into(), customer_id.into()];
        self.put_billing(PUT_CUSTOMER, values.to_vec()).await
    }

    async fn put_subscription(
        &self,
        account: AccountId,
        subscription: &Subscription,
    ) -> Result<(), Error> {
        let Subscription { id, status, prices, created_at, read_at } = subscription;
        let values = [
            account.as_uuid().into(),
            id.as_str().into(),
            name(status)?.into(),
            json(prices)?.into(),
            millis(*created_at).into(),
            millis(*read_at).into(),
        ];
        self.put_billing(PUT_SUBSCRIPTION, values.to_vec()).await
    }

    async fn is_event_recorded(&self, id: &str) -> Result<bool, Error> {
        let sql = "SELECT id FROM billing_event WHERE id = ?";
        Ok(self.database().read.has_rows(with(sql, [id.into()])).await?)
    }

    async fn record_event(
        &self,
        id: &str,
        now: Timestamp,
        forget_before: Timestamp,
    ) -> Result<(), Error> {
        let sql = "DELETE FROM billing_event WHERE recorded_at < ?";
        self.put_billing(sql, vec![millis(forget_before).into()]).await?;
        let sql = "INSERT INTO billing_event (id, recorded_at) VALUES (?, ?) \
            ON CONFLICT (id) DO NOTHING";
        self.put_billing(sql, vec![id.into(), millis(now).into()]).await
    }
}

impl Storage {
    async fn put_billing(&self, sql: &str, values: Vec<Param<'_>>) -> Result<(), Error> {
        match Tx::execute(&self.database().write, with(sql, values)).await {
            Ok(_) => Ok(()),
            Err(error) if error.class() == ErrorClass::TakenName => {
                Err(Error::conflict("customer: another account has it").caused_by(error))
            }
            Err(error) => Err(fault::error(error, WHAT)),
        }
    }
}

impl Stored {
    fn read(self, account: AccountId) -> Result<Billing, Error> {
        let place = Row { table: WHAT, id: account.as_uuid() };
        let details = self.details.map(|json| place.read("details", serde_json::from_str(&json)));
        let subscription = match self.subscription_id {
            None => None,
            Some(id) => Some(Subscription {
                id,
                status: match self.status {
                    Some(status) => place.read("status", named(status))?,
                    None => SubscriptionStatus::Unknown,
                },
                prices: {
                    let prices = self.prices.as_deref().unwrap_or("[]");
                    place.read("prices", serde_json::from_str(prices))?
                },
                created_at: moment(self.subscribed_at.unwrap_or_default()),
                read_at: moment(self.read_at.unwrap_or_default()),
            }),
        };
        Ok(Billing { customer_id: self.customer_id, details: details.transpose()?, subscription })
    }
}
