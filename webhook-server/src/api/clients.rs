//! `/v1/connected-clients`

use std::collections::HashMap;

use axum::{
    Json,
    http::{HeaderName, HeaderValue},
    response::{AppendHeaders, IntoResponse},
};
use serde::Serialize;
use utoipa::ToSchema;
use webhook_core::{
    BucketId,
    relay::{self, ClientInfo, Listening},
};

use crate::api::{auth::Authenticated, error::ApiError};

/// Who is connected.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConnectedClient {
    /// Clients that subscribe to webhooks.
    webhook_clients: Vec<WebhookClient>,
    /// Always empty: there are no tunnels here.
    tunnel_clients: Vec<WebhookClient>,
}

/// A client that subscribes to webhooks.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookClient {
    /// The key of the access token it showed; empty for the API key.
    access_token_key: String,
    /// The names of the buckets it listens to; empty for all.
    buckets: Vec<String>,
    /// Its address.
    client_ip: String,
    /// What it says it is.
    client_type: String,
    /// The version it says it has.
    client_version: String,
    /// Where it forwards to, when it says so.
    destination: String,
    /// Since when, in unix seconds.
    subscribed_at: i64,
}

/// Says that not all servers have answered.
const PARTIAL: HeaderName = HeaderName::from_static("x-partial");

/// List the account's clients that are connected.
///
/// To this server, and where servers tell one another what they know (`WEBHOOK_NATS_URL`) to any
/// of them.
#[utoipa::path(
    get,
    path = "/v1/connected-clients",
    responses(
        (status = 200, description = "The clients", body = ConnectedClient,
            headers(("X-Partial" = String, description = "`true` when there may be more, because \
                a server did not answer within 200 ms; absent otherwise"))),
        (status = 400, description = "The request is wrong"),
    ),
)]
pub(crate) async fn connected_clients(
    Authenticated(state, caller): Authenticated,
) -> Result<impl IntoResponse, ApiError> {
    let (clients, more) = state.admin().clients(&caller).await?;
    let mut names = HashMap::new();
    if !clients.is_empty() {
        let buckets = state.admin().buckets(&caller).await?;
        names.extend(buckets.into_iter().map(|bucket| (bucket.id, bucket.spec.name)));
    }
    let webhook_clients = clients.into_iter().map(|client| shown(client, &names)).collect();
    let partial = more.then_some((PARTIAL, HeaderValue::from_static("true")));
    let clients = ConnectedClient { webhook_clients, tunnel_clients: Vec::new() };
    Ok((AppendHeaders(partial), Json(clients)))
}

fn shown(client: relay::ConnectedClient, names: &HashMap<BucketId, String>) -> WebhookClient {
    let relay::ConnectedClient { info, listening, outputs: _, subscribed_at } = client;
    let ClientInfo { token_id, ip, kind, version, destination } = info;
    let mut buckets: Vec<String> = match listening {
        Listening::All => Vec::new(),
        Listening::Buckets(ids) => {
            // One that was deleted has no name any more.
            ids.iter().map(|id| names.get(id).cloned().unwrap_or_else(|| id.to_string())).collect()
        }
    };
    buckets.sort();
    WebhookClient {
        access_token_key: token_id.map(|id| id.to_string()).unwrap_or_default(),
        buckets,
        client_ip: ip.map(|ip| ip.to_string()).unwrap_or_default(),
        client_type: kind,
        client_version: version,
        destination,
        subscribed_at: subscribed_at.as_secs(),
    }
}
