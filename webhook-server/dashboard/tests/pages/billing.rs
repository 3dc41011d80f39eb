//! The plan, and the checkout that changes it.

use std::sync::Arc;

use axum::http::HeaderMap;
use webhook_core::{
    AccountId, Error, Timestamp, Webhooks,
    admin::Caller,
    billing::{
        BillingError, BillingProvider, Checkout, CheckoutSession, Customer, Event, Price,
        Subscribed,
    },
    store::{Stores, memory::MemoryStore},
};
use webhook_dashboard::{Dashboard, DashboardOptions, SessionKey};

use crate::harness::{House, select};

/// A payment processor whose page for a price is named after it.
#[derive(Debug)]
struct Till;

#[async_trait::async_trait]
impl BillingProvider for Till {
    async fn save_customer(&self, _: &Customer<'_>) -> Result<String, BillingError> {
        Ok("customer".to_owned())
    }

    async fn price(&self, id: &str) -> Result<Price, BillingError> {
        Ok(Price { is_active: id != "price_old", is_recurring: true })
    }

    async fn start_subscription(
        &self,
        checkout: &Checkout<'_>,
    ) -> Result<CheckoutSession, BillingError> {
        let url = match checkout.price {
            "price_evil" => "javascript:alert(1)".to_owned(),
            price => format!("https://pay.test/{price}?a=1&b=2"),
        };
        Ok(CheckoutSession {
            publishable_key: "pk_1".to_owned(),
            session_id: "cs_1".to_owned(),
            url: Some(url),
        })
    }

    async fn start_setup(&self, _: AccountId, _: &str) -> Result<CheckoutSession, BillingError> {
        Err(BillingError::Refused("not here".to_owned()))
    }

    async fn subscription(&self, _: &str) -> Result<Option<Subscribed>, BillingError> {
        Ok(None)
    }

    async fn end_subscription(&self, _: &str) -> Result<(), BillingError> {
        Ok(())
    }

    fn event(&self, _: &HeaderMap, _: &[u8], _: Timestamp) -> Result<Event, Error> {
        Err(Error::not_found("event"))
    }
}

const PLANS: &str = r#"{"default": "free", "plans": [
    {"name": "free", "limits": {"buckets": 3}},
    {"name": "pro", "price": "price_pro"},
    {"name": "legacy", "price": "price_old"},
    {"name": "odd", "price": "price_evil"}]}"#;

/// A house whose operator sells plans.
async fn shop() -> Result<House, Error> {
    let mut house = House::build().await?;
    let webhooks = Webhooks::builder(Stores::of(MemoryStore::default()))
        .quotas(PLANS.parse()?)
        .billing(Arc::new(Till))
        .build();
    let (account, key) = webhooks.admin().create_account("me", None).await?;
    let options = DashboardOptions::new(SessionKey::new([7; 32]));
    house.dashboard = Dashboard::new(webhooks.clone(), options);
    house.router = house.dashboard.router();
    (house.webhooks, house.me) = (webhooks, Caller::for_account(account.id));
    house.cookie = house.signed_in(key.key.expose(), "").await;
    Ok(house)
}

#[tokio::test]
async fn a_checkout_is_hidden_without_a_processor() -> Result<(), Error> {
    let house = House::build().await?;
    let page = house.get("/dashboard/usage").await.expect(200);
    assert!(!page.text.contains("checkout"), "{}", page.text);
    let page = house.post("/dashboard/usage/checkout", &[("plan_id", "price_pro")]).await;
    let said = page.expect(412).texts("[role=alert]");
    assert_eq!(said, ["✕ no payment processor is configured"]);
    Ok(())
}

#[tokio::test]
async fn a_checkout_leads_to_the_processors_page() -> Result<(), Error> {
    let house = shop().await?;
    let page = house.get("/dashboard/usage").await.expect(200);
    assert_eq!(page.texts("#plan_id option"), ["pro", "legacy", "odd"]);
    let path = "/dashboard/usage/checkout";
    let page = house.post(path, &[("plan_id", "price_pro")]).await.expect(200);
    let html = page.html();
    let link = html.select(&select("main a.main")).next().expect("a link").value();
    assert_eq!(link.attr("href"), Some("https://pay.test/price_pro?a=1&b=2"));
    // What cannot be begun is said in place, and the choice stays.
    for (price, status, said) in [
        ("price_old", 404, "not sold any more"),
        ("price_nobody", 404, "no such price"),
        ("", 400, "plan_id"),
        ("price_evil", 412, "has no page"),
    ] {
        let page = house.post(path, &[("plan_id", price)]).await.expect(status);
        assert!(page.texts("[role=alert]")[0].contains(said), "{price}: {}", page.text);
        assert_eq!(page.texts("#plan_id option").len(), 3);
        assert!(!page.text.contains("javascript:"));
    }
    Ok(())
}
