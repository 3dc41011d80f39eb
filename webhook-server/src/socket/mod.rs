//! `/v1/socket`: webhooks for connected clients as they come (`docs/agent.md`, "Other clients").
//!
//! What a client gets, in which order and what it catches up on is the
//! relay's [`Subscription`](webhook_core::relay::Subscription); here is the
//! transport: [`frame`] is what goes over the wire, [`session`] one client's
//! conversation, [`leasing`] what only one client gets, [`sockets`] what all of them share, [`recheck`] how a credential that
//! another server withdraws ends what is open.

mod frame;
mod leasing;
mod recheck;
mod session;
mod sockets;
mod wire;

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, Version, header},
    response::{IntoResponse, Response},
};
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use webhook_core::{Error, relay::ClientAddr};

pub(crate) use sockets::Sockets;

use crate::api::error::{ApiError, text};
use session::Session;

/// Where clients connect to.
pub(crate) const PATH: &str = "/v1/socket";

/// Turns a request into a socket.
pub(crate) async fn connect(State(sockets): State<Arc<Sockets>>, mut request: Request) -> Response {
    if !request.headers().contains_key(header::UPGRADE) || request.version() != Version::HTTP_11 {
        let mut response =
            text(StatusCode::UPGRADE_REQUIRED, "this is a WebSocket: connect over HTTP/1.1");
        let websocket = HeaderValue::from_static("websocket");
        response.headers_mut().insert(header::UPGRADE, websocket);
        return response;
    }
    let response = match create_response_with_body(&request, Body::empty) {
        Ok(response) => response,
        Err(error) => return text(StatusCode::BAD_REQUEST, format!("handshake: {error}")),
    };
    let too_many = |seconds| {
        let after = Duration::from_secs(seconds);
        ApiError::from(Error::unavailable("too many clients at once", after)).into_response()
    };
    if !sockets.has_room() {
        return too_many(30);
    }
    let ip = request.extensions().get::<ClientAddr>().map(|client| client.ip);
    let Some(stranger) = sockets.stranger(ip) else {
        return too_many(1);
    };
    let user_agent = request.headers().get(header::USER_AGENT);
    let user_agent = user_agent.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let upgrade = hyper::upgrade::on(&mut request);
    let tasks = sockets.tasks.clone();
    tasks.spawn(async move {
        match upgrade.await {
            Ok(upgraded) => {
                Session::run(sockets, upgraded, stranger, ip, user_agent.as_deref()).await;
            }
            Err(error) => tracing::debug!(%error, "the client left during the handshake"),
        }
    });
    response
}
