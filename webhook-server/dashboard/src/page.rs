//! What all pages have in common: the frame, the headers, and how a failure looks.

use askama::Template;
use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use webhook_core::{Error, ErrorKind};

use crate::{PATH, asset, session::Session};

/// No inline script or style, nothing from elsewhere, and no frame around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What a page says of itself, and who looks at it.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) title: String,
    /// The pages above this one: what they are called, and where they are.
    pub(crate) crumbs: Vec<(String, String)>,
    /// The entry of the navigation that it belongs to.
    pub(crate) section: &'static str,
    /// What the pages call the credential; empty when nobody is signed in.
    pub(crate) who: String,
    pub(crate) has_account: bool,
    /// What was just done.
    pub(crate) notice: &'static str,
    /// Whether a part of the page is kept up to date.
    pub(crate) live: bool,
    /// Pages of what belongs to what this one edits.
    pub(crate) parts: Vec<PartLink>,
}

/// The page of a part of an input or an output, and how that part stands.
#[derive(Debug)]
pub(crate) struct PartLink {
    pub(crate) name: &'static str,
    pub(crate) path: String,
    pub(crate) state: String,
}

impl Frame {
    pub(crate) fn new(session: &Session, section: &'static str, title: impl Into<String>) -> Self {
        let (who, has_account) = (session.who(), session.has_account());
        Self { section, who, has_account, ..Self::anonymous(title) }
    }

    /// The frame of a page for nobody in particular.
    pub(crate) fn anonymous(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            crumbs: Vec::new(),
            section: "",
            who: String::new(),
            has_account: false,
            notice: "",
            live: false,
            parts: Vec::new(),
        }
    }

    /// Says which page is above this one; its path is below the dashboard's.
    pub(crate) fn below(mut self, name: impl Into<String>, path: &str) -> Self {
        self.crumbs.push((name.into(), format!("{PATH}{path}")));
        self
    }

    /// Says what was just done, when the address does.
    pub(crate) fn noticing(mut self, done: Option<&str>) -> Self {
        self.notice = match done {
            Some("created") => "Created.",
            Some("restored") => "Restored.",
            Some("saved") => "Saved.",
            Some("deleted") => "Deleted.",
            Some("erased") => "Erased.",
            Some("sent") => "Sent. It appears below within a moment.",
            Some("tested") => "A test was put into its bucket.",
            Some("resent") => "Sent again as a new delivery.",
            Some("rotated") => "The API key was replaced.",
            Some("replaced") => "The new secret counts from now on, the others until they end.",
            _ => "",
        };
        self
    }

    pub(crate) fn asset(&self, name: &str) -> String {
        asset::url(name)
    }

    /// The sections of the navigation: name, address, and whether this page is in it.
    pub(crate) fn sections(&self) -> Vec<(&'static str, &'static str, bool)> {
        const ALL: [(&str, &str, bool); 11] = [
            ("Overview", "/dashboard", false),
            ("Buckets", "/dashboard/buckets", false),
            ("Webhooks", "/dashboard/webhooks", false),
            ("Replays", "/dashboard/replays", false),
            ("Functions", "/dashboard/functions", true),
            ("Crons", "/dashboard/crons", true),
            ("Domains", "/dashboard/domains", true),
            ("Agents", "/dashboard/agents", true),
            ("Notifications", "/dashboard/notifications", true),
            ("Keys", "/dashboard/keys", true),
            ("Usage", "/dashboard/usage", true),
        ];
        let reached = ALL.into_iter().filter(|(.., account)| self.has_account || !account);
        reached.map(|(name, path, _)| (name, path, name == self.section)).collect()
    }
}

/// A page, as an answer.
pub(crate) fn page(template: &impl Template) -> Response {
    page_with(StatusCode::OK, template)
}

/// A page with another status, such as that of a form with something wrong in it.
pub(crate) fn page_with(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => (status, Html(text)).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The answer of a page: the page itself, or its failure.
pub(crate) type Reply = Result<Response, Problem>;

/// A failure as a page.
#[derive(Debug)]
pub(crate) struct Problem(Error);

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl Problem {
    /// There is no such `what`, or it is somebody else's.
    pub(crate) fn no(what: &str) -> Self {
        Self(Error::not_found(what))
    }

    /// For what is looked up: what is not there, what is somebody else's and what the API
    /// calls a bad reference are all not there.
    pub(crate) fn looking_up(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Invalid | ErrorKind::Forbidden => Self(error.with_kind(ErrorKind::NotFound)),
            _ => Self(error),
        }
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    frame: Frame,
    status: u16,
    message: &'a str,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self(error) = self;
        let status = error.kind().status();
        if status.is_server_error() {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            tracing::error!(cause, "{error}");
        }
        let title = match status.as_u16() {
            404 => "Not here",
            403 => "Not allowed",
            429 | 503 => "Try again in a moment",
            500.. => "Something failed",
            _ => "That does not work",
        };
        let (frame, message) = (Frame::anonymous(title), error.to_string());
        let mut response =
            page_with(status, &ProblemPage { frame, status: status.as_u16(), message: &message });
        if let Some(after) = error.retry_after() {
            let seconds = HeaderValue::from(after.as_secs().max(1));
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}

/// Puts the headers on every answer that keep browsers from running, keeping or sharing
/// what they should not.
pub(crate) async fn guard(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let of_all = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in of_all {
        headers.insert(name, HeaderValue::from_static(value));
    }
    keep_out_of_caches(headers);
    response
}

/// Files may be kept, as they say themselves; nothing else.
fn keep_out_of_caches(headers: &mut HeaderMap) {
    let immutable = |value: &HeaderValue| value.as_bytes().ends_with(b"immutable");
    if !headers.get(header::CACHE_CONTROL).is_some_and(immutable) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}
