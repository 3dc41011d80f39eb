//! A list of webhooks that is kept up to date.

use std::{convert::Infallible, time::Duration};

use askama::Template;
use axum::response::{
    IntoResponse,
    sse::{Event, KeepAlive, Sse},
};
use futures_util::stream;
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    time::{Instant, sleep},
};
use webhook_core::{Error, admin::LogQuery};

use super::{
    Asked,
    log_filter::{self, Wanted},
    rows::{Names, Rows},
};
use crate::{page::Reply, session::Session};

/// How often the log is looked at, at most.
const TURN: Duration = Duration::from_millis(500);
/// How long it is looked at after the last thing that happened, because an outcome is
/// stored a moment after it is counted.
const ECHO: Duration = Duration::from_secs(3);
/// How often it is looked at though nothing seems to happen.
const QUIET: Duration = Duration::from_secs(10);
/// How often the credential is looked up again.
const RECHECK: Duration = Duration::from_secs(10);

/// Sends the list again whenever it has changed. Each list that somebody looks at costs a
/// query at most twice a second, and none while nothing happens.
pub(crate) async fn follow(session: Session, asked: Asked) -> Reply {
    let busy = |_| Error::unavailable("too many live lists are open", Duration::from_secs(5));
    let shared = session.dashboard.shared.clone();
    let permit = shared.live.clone().try_acquire_owned().map_err(busy)?;
    let buckets = session.admin().buckets(&session.caller).await?;
    let Wanted { query, filter } = log_filter::read(&asked, &buckets, session.caller.is_scoped())?;
    if !filter.is_empty() {
        return Err(Error::invalid("live", "is not for searches").into());
    }
    let closed = shared.closed.subscribe();
    let now = Instant::now();
    let live = Live {
        session,
        query,
        chosen: asked.get("choose").is_some(),
        closed,
        shown: None,
        activity: None,
        happened: now,
        looked: now,
        checked: now,
        _permit: permit,
    };
    let events = stream::unfold(live, |mut live| async move {
        let html = live.next().await?;
        Some((Ok::<_, Infallible>(Event::default().data(html)), live))
    });
    let alive = KeepAlive::new().interval(Duration::from_secs(15));
    Ok(Sse::new(events).keep_alive(alive).into_response())
}

struct Live {
    session: Session,
    query: LogQuery,
    /// Whether rows are chosen from it.
    chosen: bool,
    closed: watch::Receiver<bool>,
    /// What was sent last.
    shown: Option<String>,
    /// What the relay had counted at the last look.
    activity: Option<u64>,
    happened: Instant,
    looked: Instant,
    checked: Instant,
    _permit: OwnedSemaphorePermit,
}

impl Live {
    /// The next list that differs from the last one; none at the end.
    async fn next(&mut self) -> Option<String> {
        loop {
            if *self.closed.borrow_and_update() {
                return None;
            }
            if self.shown.is_some() {
                tokio::select! {
                    _ = self.closed.changed() => return None,
                    () = sleep(TURN) => {}
                }
            }
            if !self.is_still_signed_in().await {
                return None;
            }
            if !self.is_due() {
                continue;
            }
            match self.list().await {
                Ok(html) if self.shown.as_ref() == Some(&html) => {}
                Ok(html) => {
                    self.shown = Some(html.clone());
                    return Some(html);
                }
                Err(error) => {
                    tracing::warn!(%error, "a live list ends");
                    return None;
                }
            }
        }
    }

    fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let activity = self.session.dashboard.shared.options.activity.as_ref().map(|count| count());
        if self.activity != activity || activity.is_none() {
            (self.activity, self.happened) = (activity, now);
        }
        let is_due =
            self.shown.is_none() || now - self.happened < ECHO || now - self.looked >= QUIET;
        if is_due {
            self.looked = now;
        }
        is_due
    }

    async fn is_still_signed_in(&mut self) -> bool {
        if self.checked.elapsed() < RECHECK {
            return true;
        }
        self.checked = Instant::now();
        self.session.goes_on().await.unwrap_or(false)
    }

    async fn list(&self) -> Result<String, Error> {
        let admin = self.session.admin();
        let found = admin.log_heads(&self.session.caller, &self.query).await?;
        let buckets = admin.buckets(&self.session.caller).await?;
        let rows = Rows::of(&found.heads, &Names::of(&buckets)).saying("No webhook yet.");
        let rows = if self.chosen { rows.with_choice() } else { rows };
        rows.render().map_err(|error| Error::internal(error.to_string()))
    }
}
