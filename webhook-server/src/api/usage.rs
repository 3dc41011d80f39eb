//! `/v1/usage`

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;
use webhook_core::{admin, plan::PlanLimits};

use super::{Answer, time};
use crate::api::auth::Authenticated;

/// How much of its plan the account uses.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageReport {
    /// What it has.
    usage: Usage,
    /// What its plan includes.
    plan_meta: PlanMeta,
}

/// What the account has.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Usage {
    /// The account.
    #[schema(format = Uuid)]
    account_id: String,
    /// The beginning of the month in which webhooks are counted (UTC).
    #[schema(format = DateTime)]
    created_at: String,
    /// Clients that are connected to this server.
    agents: u64,
    /// Buckets.
    buckets: u64,
    /// Inputs of all buckets.
    inputs: u64,
    /// Outputs of all buckets.
    outputs: u64,
    /// Access tokens.
    tokens: u64,
    /// Always 0: there are no tunnels here.
    tunnels: u64,
    /// Webhooks received in the month.
    webhooks: u64,
}

/// What the plan includes. What is absent is unlimited; -1 is none at all.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlanMeta {
    /// What the plan is called.
    name: String,
    #[serde(flatten)]
    limits: PlanLimits,
}

/// Read how much of its plan the account uses.
///
/// It counts what was received and forwarded since the start of the period, next to the bounds of
/// the plan.
#[utoipa::path(
    get,
    path = "/v1/usage",
    responses((status = 200, description = "The usage", body = UsageReport)),
)]
pub(crate) async fn get_usage(Authenticated(state, caller): Authenticated) -> Answer<UsageReport> {
    let usage = state.admin().usage(&caller).await?;
    // What is offered is for people who look at a page.
    let admin::Usage { since, agents, buckets, inputs, outputs, tokens, webhooks, plan, offers: _ } =
        usage;
    let usage = Usage {
        account_id: caller.account_id().to_string(),
        created_at: time::rfc3339(since),
        agents,
        buckets,
        inputs,
        outputs,
        tokens,
        tunnels: 0,
        webhooks,
    };
    let plan_meta = PlanMeta { name: plan.name, limits: plan.limits };
    Ok(Json(UsageReport { usage, plan_meta }))
}
