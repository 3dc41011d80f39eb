//! What is read of Stripe's objects.

use serde::Deserialize;

use crate::{
    billing::Subscribed,
    clock::Timestamp,
    model::{self, SubscriptionStatus},
};

/// An object of which its ID is all that matters.
#[derive(Debug, Deserialize)]
pub(super) struct Named {
    pub(super) id: String,
}

/// A price.
#[derive(Debug, Deserialize)]
pub(super) struct Price {
    #[serde(default)]
    pub(super) active: bool,
    #[serde(default)]
    pub(super) recurring: Option<serde::de::IgnoredAny>,
}

/// A list, or its first page.
#[derive(Debug, Deserialize)]
pub(super) struct List<T> {
    #[serde(default = "Vec::new")]
    pub(super) data: Vec<T>,
}

/// A tax ID of a customer.
#[derive(Debug, Deserialize)]
pub(super) struct TaxId {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) value: String,
}

/// A customer; one that was deleted has little more than its ID.
#[derive(Debug, Deserialize)]
pub(super) struct Customer {
    pub(super) id: String,
    #[serde(default)]
    pub(super) deleted: bool,
}

/// A subscription.
#[derive(Debug, Deserialize)]
pub(super) struct Subscription {
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
    pub(super) fn read(self, read_at: Timestamp) -> Subscribed {
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
pub(super) struct Event {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) data: EventData,
}

#[derive(Debug, Deserialize)]
pub(super) struct EventData {
    pub(super) object: Subject,
}

/// What an event is about.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Subject {
    pub(super) id: Option<String>,
    /// Of sessions and, in versions of the API before 2025-03-31, invoices.
    pub(super) subscription: Option<Reference>,
    /// Of invoices since then.
    pub(super) parent: Option<Parent>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Parent {
    pub(super) subscription_details: Option<SubscriptionDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SubscriptionDetails {
    pub(super) subscription: Option<Reference>,
}

/// Another object, by its ID or in full.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Reference {
    Id(String),
    Object(Named),
}

impl Reference {
    pub(super) fn id(self) -> String {
        match self {
            Self::Id(id) | Self::Object(Named { id }) => id,
        }
    }
}
