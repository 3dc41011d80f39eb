//! Billing details, subscriptions and events.

use async_trait::async_trait;
use sea_orm::{ConnectionTrait, QueryResult};
use webhook_core::{
    AccountId, Error, Timestamp,
    model::{Billing, BillingDetailsSpec, Subscription, SubscriptionStatus},
    store::BillingStore,
};

use super::read_error;
use crate::{
    Storage,
    entity::{json, millis, moment, name, named},
    fault::{self, ErrorClass, Row},
    tx::{Param, Tx, statement, with},
};

const WHAT: &str = "billing";

const READ: &str = "SELECT customer_id, details, subscription_id, status, prices, subscribed_at, \
    read_at FROM billing WHERE account_id = ?";

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
        match self.billing_row(READ, account.as_uuid().into()).await? {
            Some(row) => read(account, &row),
            None => Ok(Billing::default()),
        }
    }

    async fn account_of_customer(&self, customer_id: &str) -> Result<Option<AccountId>, Error> {
        let sql = "SELECT account_id FROM billing WHERE customer_id = ?";
        let row = self.billing_row(sql, customer_id.into()).await?;
        let account =
            row.map(|row| row.try_get_by("account_id").map_err(read_error)).transpose()?;
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
        Ok(self.billing_row(sql, id.into()).await?.is_some())
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
    async fn billing_row(&self, sql: &str, key: Param<'_>) -> Result<Option<QueryResult>, Error> {
        let read = &self.database().read;
        let query = statement(read.get_database_backend(), with(sql, [key]));
        read.query_one_raw(query).await.map_err(read_error)
    }

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

fn read(account: AccountId, row: &QueryResult) -> Result<Billing, Error> {
    let place = Row { table: WHAT, id: account.as_uuid() };
    let text = |column| row.try_get_by::<Option<String>, _>(column).map_err(read_error);
    let time = |column| row.try_get_by::<Option<i64>, _>(column).map_err(read_error);
    let details = text("details")?;
    let details = details.map(|json| place.read("details", serde_json::from_str(&json)));
    let subscription = match text("subscription_id")? {
        None => None,
        Some(id) => Some(Subscription {
            id,
            status: match text("status")? {
                Some(status) => place.read("status", named(status))?,
                None => SubscriptionStatus::Unknown,
            },
            prices: {
                let prices = text("prices")?.unwrap_or_else(|| "[]".to_owned());
                place.read("prices", serde_json::from_str(&prices))?
            },
            created_at: moment(time("subscribed_at")?.unwrap_or_default()),
            read_at: moment(time("read_at")?.unwrap_or_default()),
        }),
    };
    Ok(Billing { customer_id: text("customer_id")?, details: details.transpose()?, subscription })
}
