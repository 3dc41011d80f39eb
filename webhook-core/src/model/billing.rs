//! Who pays, and for what.

use std::collections::BTreeMap;

use crate::wire::Described;
use serde::{Deserialize, Serialize};

use super::wire;
use crate::clock::Timestamp;

/// Who an account's bills are made out to: what a caller may write of it.
///
/// It is personal data: it is kept as it is written, is in no log, and is shown
/// to its account and the payment processor only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct BillingDetailsSpec {
    /// The person or company.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Name", brief)]
    pub name: String,
    /// Where invoices go.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Email", brief)]
    pub email: String,
    /// Street and number.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Street and number", brief)]
    pub line1: String,
    /// What else the address needs.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "What else the address needs", brief)]
    pub line2: String,
    /// The town.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Town", brief)]
    pub city: String,
    /// State, province or county.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "State, province or county", brief)]
    pub state: String,
    /// The postal code.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Postal code", brief)]
    pub postal_code: String,
    /// The country's two letters (ISO 3166-1 alpha-2).
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Country, as two letters", brief)]
    pub country: String,
    /// The tax ID; goes with its type.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Tax ID", brief)]
    pub tax_id: String,
    /// The tax ID's type as Stripe names it: `eu_vat`, `gb_vat` …
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Type of the tax ID, such as eu_vat", brief)]
    pub tax_id_type: String,
}

/// A request to subscribe to a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PlanChange {
    /// The price of the plan, by the ID that the payment processor gave it.
    #[serde(deserialize_with = "wire::null_default")]
    pub plan_id: String,
    /// What is subscribed to besides.
    #[serde(deserialize_with = "wire::null_default")]
    pub optional_items: Vec<PlanItem>,
}

/// Something that is subscribed to besides a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct PlanItem {
    /// Its price, by the ID that the payment processor gave it.
    #[serde(deserialize_with = "wire::null_default")]
    pub price_id: String,
    /// How many; 0 or absent is one.
    #[serde(deserialize_with = "wire::null_default")]
    pub quantity: u32,
    /// Free text, kept with the subscription.
    #[serde(deserialize_with = "wire::null_default")]
    pub description: String,
    /// More of it.
    #[serde(deserialize_with = "wire::null_default")]
    pub metadata: BTreeMap<String, String>,
}

/// How far a subscription is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionStatus {
    /// It waits for the first payment.
    Incomplete,
    /// The first payment never came.
    IncompleteExpired,
    /// It is being tried out.
    Trialing,
    /// It is paid for.
    Active,
    /// The last payment failed; the processor tries again.
    PastDue,
    /// The processor has given up on the payment.
    Unpaid,
    /// It stands still.
    Paused,
    /// It has ended.
    Canceled,
    /// A state that this program does not know; it gives no plan.
    #[serde(other)]
    Unknown,
}

impl SubscriptionStatus {
    /// Whether the account has what it subscribed to. A payment that failed
    /// takes nothing away as long as the processor tries again.
    #[must_use]
    pub const fn is_current(self) -> bool {
        matches!(self, Self::Trialing | Self::Active | Self::PastDue)
    }
}

/// An account's subscription, as the payment processor last said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// What the processor calls it.
    pub id: String,
    /// How far it is paid for.
    pub status: SubscriptionStatus,
    /// The prices it consists of.
    pub prices: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the processor was asked.
    pub read_at: Timestamp,
}

impl Subscription {
    /// Whether this, which was just read, takes the place of `stored`: of
    /// another subscription only when it gives the account a plan and that one
    /// does not, or is older.
    #[must_use]
    pub fn replaces(&self, stored: &Self) -> bool {
        if self.id == stored.id {
            return self.read_at >= stored.read_at;
        }
        self.status.is_current()
            && (!stored.status.is_current() || self.created_at >= stored.created_at)
    }
}

/// What is known about an account's bills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Billing {
    /// What the payment processor calls the account.
    pub customer_id: Option<String>,
    /// Who bills are made out to, once that was said.
    pub details: Option<BillingDetailsSpec>,
    /// The subscription that decides about the plan.
    pub subscription: Option<Subscription>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscription(id: &str, status: SubscriptionStatus, created: i64, read: i64) -> Subscription {
        Subscription {
            id: id.to_owned(),
            status,
            prices: Vec::new(),
            created_at: Timestamp::from_secs(created),
            read_at: Timestamp::from_secs(read),
        }
    }

    #[test]
    fn what_was_read_later_counts_and_an_ended_one_ends_no_other() {
        use SubscriptionStatus::{Active, Canceled, PastDue};
        let stored = subscription("a", Active, 10, 100);
        assert!(subscription("a", Canceled, 10, 101).replaces(&stored));
        assert!(!subscription("a", Canceled, 10, 99).replaces(&stored));
        assert!(!subscription("b", Canceled, 20, 101).replaces(&stored));
        assert!(!subscription("b", Active, 5, 101).replaces(&stored));
        assert!(subscription("b", PastDue, 20, 99).replaces(&stored));
        let ended = subscription("a", Canceled, 10, 100);
        assert!(subscription("b", Active, 5, 99).replaces(&ended));
    }

    #[test]
    fn statuses_are_the_processors_names() {
        for (name, is_current) in [
            ("trialing", true),
            ("active", true),
            ("past_due", true),
            ("unpaid", false),
            ("incomplete_expired", false),
            ("to be invented", false),
        ] {
            let status = serde_json::from_value::<SubscriptionStatus>(name.into());
            assert_eq!(status.expect("any name").is_current(), is_current, "{name}");
        }
    }
}
