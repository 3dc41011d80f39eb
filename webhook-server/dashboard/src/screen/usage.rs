//! What the account has and may have, and who its bills are made out to.

use askama::Template;
use axum::{
    Router,
    routing::{get, post},
};
use webhook_core::{
    Error, ErrorKind,
    model::{BillingDetailsSpec, PlanChange},
    plan::Limit,
};

use super::{
    Asked, done,
    edit::{Edit, refusal},
};
use crate::{
    Dashboard, PATH,
    form::{Form, Submitted},
    page::{Frame, Problem, Reply, page, page_with},
    session::Session,
    show,
};

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/usage", get(list))
        .route("/usage/checkout", post(checkout))
        .route("/usage/billing-details", get(details).post(save_details))
}

#[derive(Template)]
#[template(path = "usage.html")]
struct UsagePage {
    frame: Frame,
    plan: String,
    since: String,
    retention: Option<u32>,
    rows: Vec<Row>,
    /// Plans to change to, by their prices; none without a payment processor.
    offers: Vec<(String, String)>,
    /// Why a checkout could not begin.
    error: Option<String>,
}

#[derive(Template)]
#[template(path = "checkout.html")]
struct CheckoutPage {
    frame: Frame,
    /// The payment processor's page.
    url: String,
}

struct Row {
    name: &'static str,
    count: u64,
    limit: Option<u64>,
}

impl Row {
    fn new(name: &'static str, count: usize, limit: Limit) -> Self {
        Self { name, count: u64::try_from(count).unwrap_or(u64::MAX), limit: limit.count() }
    }

    fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.count >= limit)
    }
}

async fn list(session: Session, asked: Asked) -> Reply {
    let mut shown = usage(&session).await?;
    shown.frame = shown.frame.noticing(asked.get("done"));
    Ok(page(&shown))
}

async fn usage(session: &Session) -> Result<UsagePage, Problem> {
    let (admin, caller) = (session.admin(), &session.caller);
    let usage = admin.usage(caller).await?;
    let functions = admin.functions(caller).await?.len();
    let crons = admin.crons(caller).await?.len();
    let domains = admin.domains(caller).await?.len();
    let limits = usage.plan.limits;
    let counted = |name, count, limit: Limit| Row { name, count, limit: limit.count() };
    let rows = vec![
        counted("Webhooks this month", usage.webhooks, limits.webhooks),
        counted("Buckets", usage.buckets, limits.buckets),
        counted("Inputs", usage.inputs, limits.inputs),
        counted("Outputs", usage.outputs, limits.outputs),
        Row::new("Functions", functions, limits.functions),
        Row::new("Crons", crons, limits.crons),
        Row::new("Domains", domains, limits.reserved_domains),
        counted("Access tokens", usage.tokens, limits.tokens),
        counted("Agents connected to this server", usage.agents, limits.agents),
    ];
    let offers = usage.offers.into_iter().filter(|offer| offer.price != usage.plan.price);
    Ok(UsagePage {
        frame: Frame::new(session, "Usage", "Usage and plan"),
        offers: offers.filter_map(|offer| Some((offer.price?, offer.name))).collect(),
        plan: usage.plan.name,
        since: show::moment(usage.since),
        retention: limits.logs_retention,
        rows,
        error: None,
    })
}

/// Begins a checkout for another plan. Where it goes on is the payment processor's page, to
/// which a link leads: the content security policy lets no form lead away.
async fn checkout(session: Session, submitted: Submitted) -> Reply {
    let plan_id = submitted.text("plan_id").to_owned();
    let change = PlanChange { plan_id, ..PlanChange::default() };
    let started = session.admin().start_checkout(&session.caller, change).await;
    let is_page = |url: &String| url.starts_with("https://") || url.starts_with("http://");
    let error = match started {
        Ok(started) => match started.url.filter(is_page) {
            Some(url) => {
                return Ok(page(&CheckoutPage { frame: frame(&session, "Checkout"), url }));
            }
            None => Error::conflict("the payment processor has no page for it"),
        },
        Err(error) => error,
    };
    let (status, error) = refusal(error)?;
    let mut shown = usage(&session).await?;
    shown.error = Some(error.to_string());
    Ok(page_with(status, &shown))
}

fn frame(session: &Session, title: &str) -> Frame {
    Frame::new(session, "Usage", title).below("Usage and plan", "/usage")
}

async fn editing(session: &Session) -> Result<Edit, Problem> {
    let known = match session.admin().billing_details(&session.caller).await {
        Ok((known, _)) => known,
        Err(error) if error.kind() == ErrorKind::NotFound => BillingDetailsSpec::default(),
        Err(error) => return Err(error.into()),
    };
    let form = Form::new(format!("{PATH}/usage/billing-details"), "Save").of(&known);
    let page = Edit::new(frame(session, "Billing details"), form);
    Ok(page.lead("Who bills are made out to."))
}

async fn details(session: Session) -> Reply {
    Ok(editing(&session).await?.show())
}

async fn save_details(session: Session, submitted: Submitted) -> Reply {
    let page = editing(&session).await?;
    let then = async |spec: BillingDetailsSpec| {
        session.admin().put_billing_details(&session.caller, spec).await?;
        Ok(done("/usage", "saved"))
    };
    page.submit(BillingDetailsSpec::default(), &submitted, then).await
}
