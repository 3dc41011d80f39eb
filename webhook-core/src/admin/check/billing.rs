//! Billing details and plan changes.

use std::collections::HashSet;

use super::line;
use crate::{
    billing::{is_country, is_tax_id_type},
    error::{Error, invalid_if},
    model::{BillingDetailsSpec, PlanChange, PlanItem},
};

/// The length of each field of an address, in bytes.
const MAX_FIELD_BYTES: usize = 255;
/// The length of an e-mail address (RFC 5321 section 4.5.3.1.3, without the brackets).
const MAX_EMAIL_BYTES: usize = 254;
/// The length of a tax ID.
const MAX_TAX_ID_BYTES: usize = 64;
/// The length of a price's ID.
const MAX_PRICE_BYTES: usize = 255;
/// Items of a subscription besides the plan: Stripe takes twenty in all.
const MAX_ITEMS: usize = 19;
/// How many of one item.
const MAX_QUANTITY: u32 = 10_000;
/// Stripe's bounds on metadata; two keys are this program's.
const MAX_METADATA_KEYS: usize = 48;
const MAX_METADATA_KEY_BYTES: usize = 30;
const MAX_METADATA_BYTES: usize = 500;

pub(crate) fn billing_details(spec: &BillingDetailsSpec) -> Result<(), Error> {
    let BillingDetailsSpec {
        name,
        email: address,
        line1,
        line2,
        city,
        state,
        postal_code,
        country,
        tax_id,
        tax_id_type,
    } = spec;
    for (field, text) in [
        ("name", name),
        ("line1", line1),
        ("line2", line2),
        ("city", city),
        ("state", state),
        ("postal_code", postal_code),
    ] {
        line(field, text, MAX_FIELD_BYTES)?;
    }
    email(address)?;
    let reason = "must be the two letters of a country (ISO 3166-1 alpha-2), such as LT";
    invalid_if(!country.is_empty() && !is_country(country), "country", reason)?;
    line("tax_id", tax_id, MAX_TAX_ID_BYTES)?;
    match (tax_id.is_empty(), tax_id_type.is_empty()) {
        (true, true) => Ok(()),
        (_, false) if !is_tax_id_type(tax_id_type) => {
            let reason = "must be one that the payment processor knows, such as eu_vat";
            Err(Error::invalid("tax_id_type", reason))
        }
        (false, true) => Err(Error::invalid("tax_id_type", "must go with tax_id")),
        (true, false) => Err(Error::invalid("tax_id", "must go with tax_id_type")),
        (false, false) => Ok(()),
    }
}

/// Something that can be an address on the internet: whether anybody reads
/// what is sent there is not known before.
fn email(address: &str) -> Result<(), Error> {
    line("email", address, MAX_EMAIL_BYTES)?;
    let invalid = |reason: &str| Err(Error::invalid("email", reason));
    if address.is_empty() {
        return invalid("must not be empty");
    }
    let Some((local, domain)) = address.rsplit_once('@') else {
        return invalid("must be an address such as jo@example.com");
    };
    let is_label = |label: &str| {
        let ends = |c: char| c == '-';
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with(ends)
            && !label.ends_with(ends)
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    let is_local = !local.is_empty()
        && local.len() <= 64
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
        && local.chars().all(|c| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c));
    match is_local && domain.contains('.') && domain.split('.').all(is_label) {
        true => Ok(()),
        false => invalid("must be an address such as jo@example.com"),
    }
}

pub(crate) fn plan_change(change: &PlanChange) -> Result<(), Error> {
    let PlanChange { plan_id, optional_items } = change;
    price("plan_id", plan_id)?;
    let reason = format_args!("must be at most {MAX_ITEMS}");
    invalid_if(optional_items.len() > MAX_ITEMS, "optional_items", reason)?;
    let (mut prices, mut keys) = (HashSet::from([plan_id]), 0);
    for (number, item) in optional_items.iter().enumerate() {
        let PlanItem { price_id, quantity, description, metadata } = item;
        let field = |name: &str| format!("optional_items[{number}].{name}");
        price(&field("price_id"), price_id)?;
        invalid_if(!prices.insert(price_id), &field("price_id"), "is there twice")?;
        let reason = format_args!("must be at most {MAX_QUANTITY}");
        invalid_if(*quantity > MAX_QUANTITY, &field("quantity"), reason)?;
        line(&field("description"), description, MAX_METADATA_BYTES)?;
        keys += metadata.len() + usize::from(!description.is_empty());
        for (key, value) in metadata {
            let is_key = (1..=MAX_METADATA_KEY_BYTES).contains(&key.len())
                && key.chars().all(|c| !c.is_control() && !matches!(c, '[' | ']'));
            if !is_key {
                let reason = format!(
                    "a key must have 1 to {MAX_METADATA_KEY_BYTES} bytes and no square brackets"
                );
                return Err(Error::invalid(&field("metadata"), reason));
            }
            line(&field("metadata"), value, MAX_METADATA_BYTES)?;
        }
        let reason = format_args!("all items together must have at most {MAX_METADATA_KEYS} keys");
        invalid_if(keys > MAX_METADATA_KEYS, &field("metadata"), reason)?;
    }
    Ok(())
}

/// What can be the ID of a price: it becomes a part of an address.
fn price(field: &str, id: &str) -> Result<(), Error> {
    invalid_if(id.is_empty(), field, "must not be empty")?;
    let is_id = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let reason = "must be the ID of a price, such as price_1PgafmB7";
    invalid_if(!(id.len() <= MAX_PRICE_BYTES && id.bytes().all(is_id)), field, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn email_addresses() {
        for right in ["jo@example.com", "a.b+c@x-y.co.uk", "ü@müller.de", "1@2.io"] {
            assert!(email(right).is_ok(), "{right}");
        }
        for wrong in [
            "",
            "jo",
            "@",
            "jo@",
            "@example.com",
            "jo@example",
            "jo@.com",
            "jo@example.",
            "jo@-a.com",
            "a b@example.com",
            ".jo@example.com",
            "j..o@example.com",
            "jo@exa mple.com",
            "jo@a@b.com",
            "jo@example..com",
            "jo\n@example.com",
            "<jo@a.com>",
        ] {
            let error = email(wrong).expect_err(wrong);
            assert!(error.to_string().starts_with("email: "), "{error}");
        }
        assert!(email(&format!("{}@example.com", "a".repeat(65))).is_err());
    }

    #[test]
    fn every_refusal_names_the_field() {
        let item =
            |price_id: &str| PlanItem { price_id: price_id.to_owned(), ..PlanItem::default() };
        let change = |items: Vec<PlanItem>| PlanChange {
            plan_id: "price_1".to_owned(),
            optional_items: items,
        };
        assert!(plan_change(&change(vec![item("price_2")])).is_ok());
        let metadata = |key: &str, value: &str| PlanItem {
            metadata: [(key.to_owned(), value.to_owned())].into(),
            ..item("price_2")
        };
        let many = (0..30).map(|number| (number.to_string(), String::new())).collect();
        let many = PlanItem { metadata: many, ..item("price_3") };
        let described = PlanItem { metadata: many.metadata.clone(), ..item("price_4") };
        for (items, said) in [
            (vec![item("")], "optional_items[0].price_id: must not be empty"),
            (vec![item("a/b")], "optional_items[0].price_id: must be the ID"),
            (vec![item("price_1")], "optional_items[0].price_id: is there twice"),
            (vec![item("a"), item("a")], "optional_items[1].price_id: is there twice"),
            (vec![item("a"); 20], "optional_items: must be at most"),
            (vec![PlanItem { quantity: 10_001, ..item("a") }], "optional_items[0].quantity"),
            (vec![metadata("a]", "")], "optional_items[0].metadata"),
            (vec![metadata("a", &"x".repeat(501))], "optional_items[0].metadata"),
            (vec![many, described], "optional_items[1].metadata: all items together"),
        ] {
            let error = plan_change(&change(items)).expect_err(said).to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
