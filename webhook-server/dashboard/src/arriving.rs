//! The bodies of forms. They arrive before a request takes a permit, so that slow clients keep
//! no other client from being answered.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use webhook_core::{Error, ErrorKind};

use crate::{Dashboard, page::Problem, session};

/// How long the form of a session may be.
const MAX_BYTES: usize = 4 << 20;
/// How long the form of a client without a session may be: a key, a secret and a path.
const MAX_ANONYMOUS_BYTES: usize = 16 << 10;
/// The memory for all forms of sessions, and the memory for all others.
const ALL_BYTES: usize = 32 << 20;
/// How long a form may take to arrive.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The memory for forms while they arrive. Clients without a session have a part of their own.
#[derive(Debug)]
pub(crate) struct Room {
    sessions: Arc<Semaphore>,
    anonymous: Arc<Semaphore>,
}

impl Default for Room {
    fn default() -> Self {
        let part = || Arc::new(Semaphore::new(ALL_BYTES));
        Self { sessions: part(), anonymous: part() }
    }
}

/// Middleware that waits for the whole body of a form. The memory of the body counts until the
/// request is answered.
pub(crate) async fn wait(
    State(dashboard): State<Dashboard>,
    request: Request,
    next: Next,
) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let room = &dashboard.shared.forms;
    let (room, max_bytes) = match session::ticket(
        &dashboard,
        &parts.headers,
        session::is_secure(parts.extensions.get()),
    ) {
        Some(_) => (&room.sessions, MAX_BYTES),
        None => (&room.anonymous, MAX_ANONYMOUS_BYTES),
    };
    let arrived = timeout(TIMEOUT, collect(body, room, max_bytes)).await;
    let late = || Err(Error::invalid("body", format!("did not arrive within {TIMEOUT:?}")));
    match arrived.unwrap_or_else(|_| late()) {
        Ok((body, _room)) => next.run(Request::from_parts(parts, Body::from(body))).await,
        Err(error) => Problem::from(error).into_response(),
    }
}

async fn collect(
    mut body: Body,
    room: &Arc<Semaphore>,
    max_bytes: usize,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Error> {
    let (mut whole, mut taken) = (BytesMut::new(), None::<OwnedSemaphorePermit>);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Error::invalid("body", "ended before it was complete"))?;
        let Ok(data) = frame.into_data() else { continue };
        if data.len() > max_bytes - whole.len() {
            let reason = format!("body: must be at most {max_bytes} bytes long");
            return Err(Error::new(ErrorKind::TooLarge, reason));
        }
        // At most `MAX_BYTES`, which fits.
        let more = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let busy = |_| Error::unavailable("too many forms arrive", Duration::from_secs(1));
        let more = Arc::clone(room).try_acquire_many_owned(more).map_err(busy)?;
        match &mut taken {
            Some(taken) => taken.merge(more),
            None => taken = Some(more),
        }
        whole.extend_from_slice(&data);
    }
    Ok((whole.freeze(), taken))
}
