//! Access tokens.

use askama::Template;
use webhook_core::{
    TokenId,
    model::{AccessToken, ApiAccess, TokenSpec},
};

use crate::{
    PATH,
    form::{Field, Form, Submitted},
    page::{Frame, Problem, Reply, page},
    screen::{
        Named, On, done,
        edit::{Edit, Remove},
    },
    session::Session,
};

fn form(action: String, submit: &'static str, spec: &TokenSpec) -> Form {
    let api = spec.api_access != ApiAccess::Disabled;
    Form::new(action, submit).fields([
        Field::text("description", "What it is for").value(spec.description.as_str()),
        Field::area("scopes.buckets", "Buckets that it reaches")
            .help(
                "A name or an identifier in each line. Empty means all of them, and what \
                       belongs to the account as a whole.",
            )
            .value(spec.scopes.buckets.join("\n")),
        Field::check("api_access", "It may use the API and the dashboard")
            .help("Without it, the token can only subscribe.")
            .value(api.to_string()),
    ])
}

/// What was typed into what is there.
fn read(mut spec: TokenSpec, submitted: &Submitted) -> TokenSpec {
    spec.description = submitted.text("description").trim().to_owned();
    let lines = submitted.text("scopes.buckets").lines().map(str::trim);
    spec.scopes.buckets = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
    spec.api_access = match submitted.has("api_access") {
        true => ApiAccess::Enabled,
        false => ApiAccess::Disabled,
    };
    spec
}

fn frame(session: &Session, title: &str) -> Frame {
    Frame::new(session, "Keys", title).below("Keys and tokens", "/keys")
}

fn creating(session: &Session) -> Edit {
    let form = form(format!("{PATH}/keys/tokens/new"), "Create", &TokenSpec::default());
    Edit::new(frame(session, "New token"), form).lead("Its secret is shown once, when it is made.")
}

pub(super) async fn new(session: Session) -> Reply {
    session.caller.require_account()?;
    Ok(creating(&session).show())
}

#[derive(Template)]
#[template(path = "token.html")]
struct Made {
    frame: Frame,
    key: String,
    secret: String,
}

pub(super) async fn create(session: Session, submitted: Submitted) -> Reply {
    let spec = read(TokenSpec::default(), &submitted);
    match session.admin().create_token(&session.caller, spec).await {
        Ok(made) => Ok(page(&Made {
            frame: frame(&session, "The new token"),
            key: made.token.id.to_string(),
            secret: made.secret.expose().to_owned(),
        })),
        Err(error) => creating(&session).refuse(&submitted, error),
    }
}

impl Named for AccessToken {
    async fn find(session: &Session, id: &str) -> Result<Self, Problem> {
        let id: TokenId = id.parse().map_err(|_| Problem::no("token"))?;
        let tokens = session.admin().tokens(&session.caller).await?;
        tokens.into_iter().find(|token| token.id == id).ok_or_else(|| Problem::no("token"))
    }
}

fn editing(session: &Session, token: &AccessToken) -> Edit {
    let path = format!("{PATH}/keys/tokens/{}", token.id);
    let remove = Remove::new(
        "Delete the token",
        format!("{path}/delete"),
        "It is refused from then on, and its subscriptions end.",
    );
    Edit::new(frame(session, "A token"), form(path, "Save", &token.spec))
        .lead(format!("Its key is {}.", token.id))
        .removed_by(remove)
}

pub(super) async fn show(On(session, token): On<AccessToken>) -> Reply {
    Ok(editing(&session, &token).show())
}

pub(super) async fn save(On(session, token): On<AccessToken>, submitted: Submitted) -> Reply {
    let spec = read(token.spec.clone(), &submitted);
    match session.admin().update_token(&session.caller, token.id, spec).await {
        Ok(_) => Ok(done("/keys", "saved")),
        Err(error) => editing(&session, &token).refuse(&submitted, error),
    }
}

pub(super) async fn delete(On(session, token): On<AccessToken>) -> Reply {
    session.admin().delete_token(&session.caller, token.id).await?;
    Ok(done("/keys", "deleted"))
}
