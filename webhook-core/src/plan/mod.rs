//! Plans: what an account may have.
//!
//! The operator writes plans down; an account has the one that its
//! [`Subscription`] gives it, or the default one. Without plans nothing is
//! limited and nothing is looked up.
//!
//! ```
//! use webhook_core::plan::Plans;
//!
//! let plans: Plans = r#"{
//!     "default": "free",
//!     "plans": [
//!         {"name": "free", "limits": {"outputs": 5, "webhooks": 1000, "reserved_domains": "none"}},
//!         {"name": "pro", "price": "price_1PgafmB7WZ01zgkW", "limits": {"logs_retention": 90}}
//!     ]
//! }"#
//! .parse()?;
//! assert_eq!(plans.of(None).name, "free");
//! # Ok::<(), webhook_core::Error>(())
//! ```

mod quotas;
#[cfg(test)]
mod tests;
mod webhooks;

use std::{collections::HashSet, fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use quotas::{Limited, Quotas};

use crate::{
    error::{Error, invalid_if},
    model::Subscription,
};

/// How many plans there may be.
const MAX_PLANS: usize = 100;

/// What accounts can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plans {
    /// At least one.
    plans: Vec<Plan>,
    default: usize,
}

/// A set of limits, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What people call it.
    pub name: String,
    /// What the payment processor calls its price; none for a plan that nobody
    /// can subscribe to.
    #[serde(default)]
    pub price: Option<String>,
    /// What it does not go beyond.
    #[serde(default)]
    pub limits: PlanLimits,
}

/// What a plan does not go beyond. Everything is for the account as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PlanLimits {
    /// Clients connected at once, to each server.
    #[serde(skip_serializing_if = "Limit::is_unlimited")]
    pub agents: Limit,
    /// Buckets.
    #[serde(skip_serializing_if = "Limit::is_unlimited")]
    pub buckets: Limit,
    /// Cron jobs.
    #[serde(skip_serializing_if = "Limit::is_unlimited")]
    pub crons: Limit,
    /// Functions.
    #[serde(skip_serializing_if = "Limit::is_unlimited")]
    pub functions: Limit,
    /// Inputs of all buckets together.
    #[serde(skip_serializing_if = "Limit::is_unlimited")]
    pub inputs: Limit,
    /// Outputs of all buckets together.
    #[serde(skip_serializing_if = "Limit::is_unlimited")]
    pub outputs: Limit,
    /// Reserved domains.
    #[serde(skip_serializing_if = "Limit::is_unlimited")]
    pub reserved_domains: Limit,
    /// Access tokens.
    #[serde(skip_serializing_if = "Limit::is_unlimited")]
    pub tokens: Limit,
    /// Webhooks received in a calendar month (UTC).
    #[serde(skip_serializing_if = "Limit::is_unlimited")]
    pub webhooks: Limit,
    /// Days that logs are kept; when it is not said, as long as the operator
    /// keeps everybody's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs_retention: Option<u32>,
}

/// How many of something; unlimited by default.
///
/// It is read from a number from 1 on, or from `"none"`. It is written as that
/// number, or as -1 for none at all, because clients take 0 for unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = i64))]
pub struct Limit(Option<u64>);

impl Limit {
    /// At most so many.
    #[must_use]
    pub const fn at_most(count: u64) -> Self {
        Self(Some(count))
    }

    /// Whether there is no limit.
    #[must_use]
    pub const fn is_unlimited(&self) -> bool {
        self.0.is_none()
    }

    /// How many there may be; none for as many as anybody wants.
    #[must_use]
    pub const fn count(self) -> Option<u64> {
        self.0
    }

    /// Whether one more may be added to `current`.
    #[must_use]
    pub fn has_room(self, current: u64) -> bool {
        self.0.is_none_or(|most| current < most)
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => serializer.serialize_i64(0),
            Some(0) => serializer.serialize_i64(-1),
            Some(count) => serializer.serialize_u64(count),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Limit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number from 1 on, or \"none\" (leave it out for no limit)")
            }

            fn visit_u64<E: de::Error>(self, count: u64) -> Result<Limit, E> {
                match count {
                    0 => Err(E::invalid_value(de::Unexpected::Unsigned(0), &self)),
                    _ => Ok(Limit(Some(count))),
                }
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Limit, E> {
                match text {
                    "none" => Ok(Limit(Some(0))),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

impl PlanLimits {
    /// How long logs are kept, if the plan says so.
    #[must_use]
    pub fn keep_logs_for(&self) -> Option<Duration> {
        self.logs_retention.map(|days| Duration::from_secs(24 * 60 * 60) * days)
    }
}

impl Plans {
    /// One plan that limits nothing.
    #[must_use]
    pub fn unlimited() -> Self {
        let plan = Plan { name: "unlimited".to_owned(), ..Plan::default() };
        Self { plans: vec![plan], default: 0 }
    }

    /// These plans; `default` names the one of accounts without a subscription,
    /// which is the first when nothing is said.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid), naming the field: there is no
    /// plan or over a hundred, one has no name, a name or price is there twice,
    /// `default` names no plan, logs are kept for no day.
    pub fn new(plans: Vec<Plan>, default: Option<&str>) -> Result<Self, Error> {
        let reason = format_args!("must have between 1 and {MAX_PLANS} plans");
        invalid_if(!(1..=MAX_PLANS).contains(&plans.len()), "plans", reason)?;
        let (mut names, mut prices) = (HashSet::new(), HashSet::new());
        for (index, Plan { name, price, limits }) in plans.iter().enumerate() {
            let invalid = |field: &str, reason: &str| {
                Err(Error::invalid(&format!("plans[{index}].{field}"), reason))
            };
            if name.trim().is_empty() {
                return invalid("name", "must not be empty");
            }
            if !names.insert(name) {
                return invalid("name", "another plan has it");
            }
            match price.as_deref() {
                Some("") => return invalid("price", "must not be empty; leave it out"),
                Some(price) if !prices.insert(price) => {
                    return invalid("price", "another plan has it");
                }
                _ => {}
            }
            if limits.logs_retention == Some(0) {
                return invalid("limits.logs_retention", "must be at least 1 day");
            }
        }
        let default = match default {
            None => 0,
            Some(name) => plans
                .iter()
                .position(|plan| plan.name == name)
                .ok_or_else(|| Error::invalid("default", format!("no plan is called {name:?}")))?,
        };
        Ok(Self { plans, default })
    }

    /// The plan of an account with this subscription. Of several plans that it
    /// pays for the one that is listed last counts.
    #[must_use]
    pub fn of(&self, subscription: Option<&Subscription>) -> &Plan {
        let current = subscription.filter(|subscription| subscription.status.is_current());
        let paid_for = current.and_then(|subscription| {
            let is_paid = |plan: &&Plan| {
                plan.price.as_ref().is_some_and(|price| subscription.prices.contains(price))
            };
            self.plans.iter().rev().find(is_paid)
        });
        paid_for.unwrap_or(&self.plans[self.default])
    }

    /// Whether this is the price of a plan; any price is when no plan has one.
    #[must_use]
    pub fn sells(&self, price: &str) -> bool {
        let mut prices = self.plans.iter().filter_map(|plan| plan.price.as_deref()).peekable();
        prices.peek().is_none() || prices.any(|known| known == price)
    }

    /// The plans that have a price.
    pub fn sold(&self) -> impl Iterator<Item = &Plan> {
        self.plans.iter().filter(|plan| plan.price.is_some())
    }

    fn any(&self, is: impl Fn(&PlanLimits) -> bool) -> bool {
        self.plans.iter().any(|plan| is(&plan.limits))
    }
}

impl FromStr for Plans {
    type Err = Error;

    /// Reads JSON: `{"default": NAME, "plans": [{"name", "price", "limits"}]}`.
    fn from_str(text: &str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            #[serde(default)]
            default: Option<String>,
            plans: Vec<Plan>,
        }
        let file: File =
            serde_json::from_str(text).map_err(|error| Error::invalid("plans", error))?;
        Self::new(file.plans, file.default.as_deref())
    }
}
