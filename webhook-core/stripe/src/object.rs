//! What is read of Stripe's objects.

use serde::Deserialize;
use webhook_core::{
    Timestamp,
    billing::Subscribed,
    model::{self, SubscriptionStatus},
};

/// An object of which its ID is all that matters.
#[derive(Debug, Deserialize)]
pub(crate) struct Named {
    pub(crate) id: String,
}

/// A checkout session, and its page.
#[derive(Debug, Deserialize)]
pub(crate) struct Session {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) url: Option<String>,
}

/// A price.
#[derive(Debug, Deserialize)]
pub(crate) struct Price {
    #[serde(default)]
    pub(crate) active: bool,
    #[serde(default)]
    pub(crate) recurring: Option<serde::de::IgnoredAny>,
}

/// A list, or its first page.
#[derive(Debug, Deserialize)]
pub(crate) struct List<T> {
    #[serde(default = "Vec::new")]
    pub(crate) data: Vec<T>,
}

/// A tax ID of a customer.
#[derive(Debug, Deserialize)]
pub(crate) struct TaxId {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) value: String,
}

/// A customer; one that was deleted has little more than its ID.
#[derive(Debug, Deserialize)]
pub(crate) struct Customer {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) deleted: bool,
}

/// A subscription.
#[derive(Debug, Deserialize)]
pub(crate) struct Subscription {
    id: String,
    customer: String,
    status: SubscriptionStatus,
    #[serde(default)]
    created: i64,
    items: List<Item>,
    #[serde(default)]
    metadata: Option<Metadata>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    account_id: Option<String>,
    replaces: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Item {
    #[serde(default)]
    price: Option<Named>,
    /// What prices were called before there were prices.
    #[serde(default)]
    plan: Option<Named>,
}

impl Subscription {
    pub(crate) fn read(self, read_at: Timestamp) -> Subscribed {
        let Self { id, customer, status, created, items, metadata } = self;
        let Metadata { account_id, replaces } = metadata.unwrap_or_default();
        let prices = items.data.into_iter().filter_map(|item| item.price.or(item.plan));
        Subscribed {
            subscription: model::Subscription {
                id,
                status,
                prices: prices.map(|price| price.id).collect(),
                created_at: Timestamp::from_secs(created),
                read_at,
            },
            customer_id: customer,
            account: account_id.and_then(|id| id.parse().ok()),
            replaces: replaces.filter(|id| !id.is_empty()),
        }
    }
}

/// An event.
#[derive(Debug, Deserialize)]
pub(crate) struct Event {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) data: EventData,
}

#[derive(Debug, Deserialize)]
pub(crate) struct EventData {
    pub(crate) object: Subject,
}

/// What an event is about.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Subject {
    pub(crate) id: Option<String>,
    /// Of sessions and, in versions of the API before 2025-03-31, invoices.
    pub(crate) subscription: Option<Reference>,
    /// Of invoices since then.
    pub(crate) parent: Option<Parent>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Parent {
    pub(crate) subscription_details: Option<SubscriptionDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SubscriptionDetails {
    pub(crate) subscription: Option<Reference>,
}

/// Another object, by its ID or in full.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Reference {
    Id(String),
    Object(Named),
}

impl Reference {
    pub(crate) fn id(self) -> String {
        match self {
            Self::Id(id) | Self::Object(Named { id }) => id,
        }
    }
}
