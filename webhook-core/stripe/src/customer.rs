//! The customer that stands for an account.

use http::Method;

use webhook_core::{
    billing::{BillingError, Customer},
    model::BillingDetailsSpec,
};

use crate::{
    Form, Stripe,
    failure::Failure,
    object::{self, List, TaxId},
};

impl Stripe {
    /// Makes or changes the customer. One that was deleted at Stripe is made again.
    pub(crate) async fn put_customer(&self, customer: &Customer<'_>) -> Result<String, Failure> {
        if let Some(id) = customer.id {
            match self.change_customer(id, customer).await {
                Err(failure) if failure.is_missing() => {}
                Ok(None) => {}
                Ok(Some(id)) => return Ok(id),
                Err(failure) => return Err(failure),
            }
        }
        let mut form = described(customer);
        if let Some((kind, value)) = customer.details.and_then(tax_id) {
            form.add("tax_id_data[0][type]", kind);
            form.add("tax_id_data[0][value]", value);
        }
        Ok(self.call::<object::Named>(Method::POST, "/v1/customers", form).await?.id)
    }

    /// None when the customer was deleted.
    async fn change_customer(
        &self,
        id: &str,
        customer: &Customer<'_>,
    ) -> Result<Option<String>, Failure> {
        let path = format!("/v1/customers/{id}");
        if self.get::<object::Customer>(&path).await?.deleted {
            return Ok(None);
        }
        // First what is most likely to be refused: so that nothing has been
        // changed when it is.
        let tax_ids = format!("{path}/tax_ids");
        let known = self.get::<List<TaxId>>(&tax_ids).await?.data;
        let wanted = customer.details.and_then(tax_id);
        let is_wanted =
            |known: &TaxId| wanted.is_some_and(|wanted| wanted == (&*known.kind, &*known.value));
        let mut added = None;
        if let Some((kind, value)) = wanted.filter(|_| !known.iter().any(is_wanted)) {
            let mut form = Form::default();
            form.add("type", kind);
            form.add("value", value);
            added = Some(self.call::<object::Named>(Method::POST, &tax_ids, form).await?.id);
        }
        let changed = self.call::<object::Customer>(Method::POST, &path, described(customer)).await;
        let changed = match (changed, added) {
            (Ok(changed), _) => changed,
            (Err(failure), Some(added)) => {
                // As it was; what stays in spite of it goes with the next change.
                if let Err(failure) = self.remove_tax_id(&tax_ids, &added).await {
                    let error = BillingError::from(failure);
                    tracing::warn!(%error, "a tax ID stays that was to be taken back");
                }
                return Err(failure);
            }
            (Err(failure), None) => return Err(failure),
        };
        for old in known.iter().filter(|known| !is_wanted(known)) {
            self.remove_tax_id(&tax_ids, &old.id).await?;
        }
        Ok(Some(changed.id))
    }

    async fn remove_tax_id(&self, tax_ids: &str, id: &str) -> Result<(), Failure> {
        let path = format!("{tax_ids}/{id}");
        match self.call::<object::Named>(Method::DELETE, &path, Form::default()).await {
            Ok(_) => Ok(()),
            Err(failure) if failure.is_missing() => Ok(()),
            Err(failure) => Err(failure),
        }
    }
}

/// All but the tax ID. What is empty is emptied.
fn described(customer: &Customer<'_>) -> Form {
    let Customer { account, account_name, id: _, details } = customer;
    let mut form = Form::default();
    form.add("metadata[account_id]", account);
    let Some(details) = details else {
        form.add("name", account_name);
        return form;
    };
    let BillingDetailsSpec {
        name,
        email,
        line1,
        line2,
        city,
        state,
        postal_code,
        country,
        tax_id: _,
        tax_id_type: _,
        ..
    } = details;
    form.add("name", if name.is_empty() { account_name } else { &**name });
    form.add("email", email);
    for (key, value) in [
        ("line1", line1),
        ("line2", line2),
        ("city", city),
        ("state", state),
        ("postal_code", postal_code),
        ("country", country),
    ] {
        form.add(&format!("address[{key}]"), value);
    }
    form
}

/// The type and the tax ID, if there is one.
fn tax_id(details: &BillingDetailsSpec) -> Option<(&str, &str)> {
    let (kind, value) = (&*details.tax_id_type, &*details.tax_id);
    (!value.is_empty()).then_some((kind, value))
}
