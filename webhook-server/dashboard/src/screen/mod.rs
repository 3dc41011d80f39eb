//! The pages: one file for each thing that they show.

mod agents;
mod buckets;
mod compare;
mod crons;
mod domains;
mod edit;
mod erasures;
mod functions;
mod inputs;
mod kept;
mod keys;
mod live;
mod log_filter;
mod notifications;
mod of_bucket;
mod outputs;
mod overview;
mod part;
mod replays;
mod rows;
mod sign_in;
mod usage;
mod webhook;
mod webhooks;

use axum::{
    Router,
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
    middleware,
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use webhook_core::{
    BucketId, Error, ErrorKind,
    admin::{BucketCron, LogQuery},
    model::{Bucket, Erasure, Function, Log, LogHead, Notification, Replay},
};

use crate::{Dashboard, PATH, asset, page::Problem, session, session::Session};

/// All pages.
pub(crate) fn router(dashboard: &Dashboard) -> Router<Dashboard> {
    let signed_in = Router::new()
        .route("/", get(overview::show))
        .route("/sign-out", post(sign_in::sign_out))
        .merge(agents::router())
        .merge(buckets::router())
        .merge(compare::router())
        .merge(crons::router())
        .merge(domains::router())
        .merge(erasures::router())
        .merge(functions::router())
        .merge(inputs::router())
        .merge(keys::router())
        .merge(notifications::router())
        .merge(outputs::router())
        .merge(replays::router())
        .merge(usage::router())
        .merge(webhooks::router())
        .merge(webhook::router())
        .route_layer(middleware::from_fn_with_state(dashboard.clone(), session::require));
    let pages = Router::new()
        .route("/sign-in", get(sign_in::show).post(sign_in::sign_in))
        .route("/sign-in/{token}", get(sign_in::by_link))
        .route("/assets/{file}", get(asset::serve))
        .merge(signed_in)
        .fallback(async || Problem::no("page"));
    Router::new()
        .route(&format!("{PATH}/"), get(async || Redirect::permanent(PATH)))
        .nest(PATH, pages)
}

/// What the address asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked(Vec<(String, String)>);

impl Asked {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// All values of this name.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.trim())
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// The query again, with these values in place of those it has; empty ones are left out,
    /// and so is what was just done.
    pub(crate) fn with(&self, changes: &[(&str, &str)]) -> String {
        let changed =
            |name: &str| name == "done" || changes.iter().any(|(known, _)| *known == name);
        let kept = self.0.iter().filter(|(name, value)| !changed(name) && !value.is_empty());
        let kept = kept.map(|(name, value)| (name.as_str(), value.as_str()));
        let new = changes.iter().copied().filter(|(_, value)| !value.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(kept.chain(new)).finish()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        Ok(Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()))
    }
}

/// What the first part of an address names.
trait Named: Sized {
    fn find(session: &Session, id: &str) -> impl Future<Output = Result<Self, Problem>> + Send;
}

/// Finds what an identifier names by a method of the administration, after `$check` of the
/// caller where there is one.
macro_rules! named {
    ($type:ty, $word:literal, $read:ident $(, $check:ident)?) => {
        impl Named for $type {
            async fn find(session: &Session, id: &str) -> Result<Self, Problem> {
                $(session.caller.$check()?;)?
                let id = id.parse().map_err(|_| Problem::no($word))?;
                session.admin().$read(&session.caller, id).await.map_err(Problem::looking_up)
            }
        }
    };
}

named!(Bucket, "bucket", bucket);
named!(BucketCron, "cron", cron, require_account);
named!(Erasure, "erasure", erasure);
named!(Function, "function", function, require_account);
named!(Log, "webhook", log);
named!(Notification, "notification", notification, require_account);
named!(Replay, "replay", replay);

/// Who looks at a page, and what it is about.
struct On<T>(Session, T);

impl<T: Named> FromRequestParts<Dashboard> for On<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Dashboard) -> Result<Self, Problem> {
        let session = Session::from_request_parts(parts, state).await?;
        let ids = RawPathParams::from_request_parts(parts, state).await;
        let ids = ids.map_err(|_| Problem::no("page"))?;
        let (_, id) = ids.iter().next().ok_or_else(|| Problem::no("page"))?;
        let found = T::find(&session, id).await?;
        Ok(Self(session, found))
    }
}

/// The functions to choose from; none for a token that reaches some buckets only.
async fn functions(session: &Session) -> Result<Vec<Function>, Problem> {
    match session.admin().functions(&session.caller).await {
        Err(error) if error.kind() == ErrorKind::Forbidden => Ok(Vec::new()),
        functions => Ok(functions?),
    }
}

/// The latest deliveries of a bucket, as many as `limit`.
fn latest(bucket: BucketId, limit: usize) -> LogQuery {
    let mut query = LogQuery::default();
    query.bucket = Some(bucket.into());
    query.limit = limit;
    query
}

/// The deliveries that a query asks for; none when their bucket was deleted meanwhile.
async fn heads(session: &Session, query: &LogQuery) -> Result<Vec<LogHead>, Error> {
    match session.admin().log_heads(&session.caller, query).await {
        Ok(found) => Ok(found.heads),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// To a page, after something was done there.
fn done(path: &str, what: &str) -> Response {
    let sign = match path.split_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    Redirect::to(&format!("{PATH}{path}{sign}done={what}")).into_response()
}
