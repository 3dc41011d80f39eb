//! Domains that the account has reserved.

use std::time::Duration;

use askama::Template;
use axum::{
    Router,
    extract::Path,
    http::StatusCode,
    routing::{get, post},
};
use webhook_core::{
    DomainId, Timestamp,
    model::{Bucket, DomainSpec},
};

use super::{Asked, done, edit::refusal};
use crate::{
    Dashboard, PATH,
    form::{Form, Submitted},
    page::{Frame, Problem, Reply, page_with},
    session::Session,
    show::{self, Mark},
};

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/domains", get(list).post(reserve))
        .route("/domains/{domain}/delete", post(delete))
}

#[derive(Template)]
#[template(path = "domains.html")]
struct Domains {
    frame: Frame,
    rows: Vec<Row>,
    /// Whether this server does the TLS of domains itself.
    tls: bool,
    form: Form,
}

struct Row {
    id: String,
    name: String,
    reserved: String,
    certificate: Option<Certificate>,
    /// Inputs that are reached by it: what they are called, and where they are.
    inputs: Vec<(String, String)>,
}

/// How long the certificate of a domain is still valid.
struct Certificate {
    mark: Mark,
    end: String,
}

/// A certificate that ends sooner should have been renewed: those that live for 90 days
/// are, with a third of that time left.
const SOON: Duration = Duration::from_secs(14 * 86_400);

impl Certificate {
    fn until(end: Timestamp, now: Timestamp) -> Self {
        let (class, sign, word) = match end.since(now) {
            _ if end < now => ("bad", "✕", "over"),
            left if left < SOON => ("warn", "!", "ends soon"),
            _ => ("good", "✓", "valid"),
        };
        Self { mark: Mark { class, sign, word }, end: show::moment(end) }
    }
}

fn form() -> Form {
    Form::new(format!("{PATH}/domains"), "Reserve").of(&DomainSpec::default())
}

fn inputs(buckets: &[Bucket], domain: &str) -> Vec<(String, String)> {
    let all = buckets.iter().flat_map(|bucket| bucket.inputs.iter().map(move |it| (bucket, it)));
    let there = all.filter(|(_, input)| input.spec.custom_domain == domain);
    let shown = there.map(|(bucket, input)| {
        let name = format!("{} › {}{}", bucket.spec.name, input.spec.name, input.spec.path_prefix);
        (name, format!("{PATH}/buckets/{}/inputs/{}", bucket.id, input.id))
    });
    shown.collect()
}

async fn domains(session: &Session, status: StatusCode, form: Form, done: Option<&str>) -> Reply {
    let domains = session.admin().domains(&session.caller).await?;
    let buckets = session.admin().buckets(&session.caller).await?;
    let ends = session.dashboard.shared.certificates.get();
    let rows = domains.into_iter().map(|domain| Row {
        certificate: ends
            .and_then(|end_of| end_of(&domain.spec.domain))
            .map(|end| Certificate::until(end, session.now())),
        id: domain.id.to_string(),
        reserved: show::moment(domain.created_at),
        inputs: inputs(&buckets, &domain.spec.domain),
        name: domain.spec.domain,
    });
    let frame = Frame::new(session, "Domains", "Domains").noticing(done);
    Ok(page_with(status, &Domains { frame, rows: rows.collect(), tls: ends.is_some(), form }))
}

async fn list(session: Session, asked: Asked) -> Reply {
    domains(&session, StatusCode::OK, form(), asked.get("done")).await
}

async fn reserve(session: Session, submitted: Submitted) -> Reply {
    let mut spec = DomainSpec::default();
    let reserved = match form().read(&mut spec, &submitted) {
        Ok(()) => session.admin().reserve_domain(&session.caller, spec).await,
        Err(error) => Err(error),
    };
    match reserved {
        Ok(_) => Ok(done("/domains", "created")),
        Err(error) => {
            let (status, error) = refusal(error)?;
            let form = form().refused(&submitted, &error);
            domains(&session, status, form, None).await
        }
    }
}

async fn delete(session: Session, Path(id): Path<String>) -> Reply {
    let id: DomainId = id.parse().map_err(|_| Problem::no("domain"))?;
    match session.admin().delete_domain(&session.caller, id).await {
        Ok(()) => Ok(done("/domains", "deleted")),
        Err(error) => {
            let (status, error) = refusal(error)?;
            let mut form = form();
            form.error = Some(error.to_string());
            domains(&session, status, form, None).await
        }
    }
}
