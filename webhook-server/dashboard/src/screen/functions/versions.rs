//! What a function was: its versions, each with what differs from its code now.

use askama::Template;
use axum::extract::Path;
use webhook_core::model::{Function, FunctionVersion};

use super::frame_of;
use crate::{
    PATH,
    diff::Diff,
    page::{Frame, Problem, Reply, page, page_with},
    screen::{On, done, edit::refusal},
    session::Session,
    show,
};

#[derive(Template)]
#[template(path = "versions.html")]
struct Versions {
    frame: Frame,
    rows: Vec<Row>,
}

struct Row {
    path: String,
    version: u32,
    since: String,
    driver: String,
    size: String,
    hash: String,
    current: bool,
}

impl Row {
    fn of(function: &Function, version: FunctionVersion) -> Self {
        let FunctionVersion { version, mut hash, created, driver, payload_size, current, .. } =
            version;
        // As many digits as tell the versions of a function apart.
        hash.truncate(12);
        Self {
            path: format!("{PATH}/functions/{}/versions/{version}", function.id),
            version,
            since: show::moment(created),
            driver: driver.to_string(),
            size: show::size(payload_size),
            hash,
            current,
        }
    }
}

pub(super) async fn list(On(session, function): On<Function>) -> Reply {
    let versions = session.admin().function_versions(&session.caller, function.id).await?;
    let rows = versions.into_iter().map(|version| Row::of(&function, version));
    Ok(page(&Versions {
        frame: frame_of(&session, &function, "Versions of"),
        rows: rows.collect(),
    }))
}

#[derive(Template)]
#[template(path = "version.html")]
struct Version {
    frame: Frame,
    error: Option<String>,
    row: Row,
    /// None when it is the same as the function's code.
    diff: Option<Diff>,
    code: String,
}

async fn one(session: &Session, function: &Function, version: &str) -> Result<Version, Problem> {
    let number: u32 = version.parse().map_err(|_| Problem::no("version"))?;
    let found = session.admin().function_version(&session.caller, function.id, number).await;
    let mut found = found.map_err(Problem::looking_up)?;
    let code = found.payload.take().unwrap_or_default();
    let diff = Diff::between("From this version to the code now", &code, &function.spec.payload);
    let versions = format!("/functions/{}/versions", function.id);
    let frame = frame_of(session, function, &format!("Version {number} of"));
    Ok(Version {
        frame: frame.below("Versions", &versions),
        error: None,
        row: Row::of(function, found),
        diff: (!diff.is_empty()).then_some(diff),
        code,
    })
}

pub(super) async fn show(
    On(session, function): On<Function>,
    Path((_, version)): Path<(String, String)>,
) -> Reply {
    Ok(page(&one(&session, &function, &version).await?))
}

pub(super) async fn restore(
    On(session, function): On<Function>,
    Path((_, version)): Path<(String, String)>,
) -> Reply {
    let mut shown = one(&session, &function, &version).await?;
    let number = shown.row.version;
    match session.admin().restore_function(&session.caller, function.id, number).await {
        Ok(_) => Ok(done(&format!("/functions/{}", function.id), "restored")),
        Err(error) => {
            let (status, error) = refusal(error)?;
            shown.error = Some(error.to_string());
            Ok(page_with(status, &shown))
        }
    }
}
