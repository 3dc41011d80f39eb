//! Functions: the list, and what is done with a whole one.

mod editor;
mod generate;
mod outcome;
mod runs;
mod variables;
mod versions;

use askama::Template;
use axum::{
    Router,
    routing::{get, post},
};
use webhook_core::{
    FunctionId,
    model::{Bucket, Function},
};

use super::{Asked, On, done};
use crate::{
    Dashboard, PATH,
    page::{Frame, Reply, page},
    session::Session,
    show,
};

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/functions", get(list))
        .route("/functions/new", get(editor::new).post(editor::create))
        .route("/functions/generate", get(generate::show).post(generate::submit))
        .route("/functions/{function}", get(editor::show).post(editor::save))
        .route("/functions/{function}/duplicate", post(duplicate))
        .route("/functions/{function}/delete", post(delete))
        .route("/functions/{function}/variables", post(variables::put))
        .route("/functions/{function}/variables/delete", post(variables::delete))
        .route("/functions/{function}/runs", get(runs::list))
        .route("/functions/{function}/runs/{run}", get(runs::show))
        .route("/functions/{function}/versions", get(versions::list))
        .route("/functions/{function}/versions/{version}", get(versions::show))
        .route("/functions/{function}/versions/{version}/restore", post(versions::restore))
}

/// How many functions' runs are looked at, and how many of each: a run is kept with what it
/// was given.
const COUNTED: usize = 25;
const COUNTED_RUNS: usize = 10;

#[derive(Template)]
#[template(path = "functions.html")]
struct Functions {
    frame: Frame,
    rows: Vec<Row>,
}

struct Row {
    id: String,
    name: String,
    driver: String,
    size: String,
    updated: String,
    users: Vec<User>,
    /// How its latest runs ended.
    runs: runs::Tally,
}

/// An input or an output that uses a function.
struct User {
    name: String,
    path: String,
}

async fn list(session: Session, asked: Asked) -> Reply {
    let functions = session.admin().functions(&session.caller).await?;
    let buckets = session.admin().buckets(&session.caller).await?;
    let mut rows = Vec::with_capacity(functions.len());
    for (number, function) in functions.into_iter().enumerate() {
        let runs = match number < COUNTED {
            true => runs::tally(&session, function.id, COUNTED_RUNS).await?,
            false => runs::Tally::default(),
        };
        rows.push(Row {
            id: function.id.to_string(),
            users: users(function.id, &buckets),
            driver: function.spec.driver.to_string(),
            size: show::size(function.payload_size),
            updated: show::moment(function.updated),
            name: function.spec.name,
            runs,
        });
    }
    let frame = Frame::new(&session, "Functions", "Functions").noticing(asked.get("done"));
    Ok(page(&Functions { frame, rows }))
}

/// What uses the function, and has to let go of it before it can be deleted.
fn users(id: FunctionId, buckets: &[Bucket]) -> Vec<User> {
    let mut users = Vec::new();
    for bucket in buckets {
        let (name, path) = (&bucket.spec.name, format!("{PATH}/buckets/{}", bucket.id));
        for input in bucket.inputs.iter().filter(|it| it.spec.function_id == Some(id)) {
            let path = format!("{path}/inputs/{}", input.id);
            users.push(User { name: format!("{name} › {}", input.spec.name), path });
        }
        for output in &bucket.outputs {
            let path = format!("{path}/outputs/{}", output.id);
            if output.spec.function_id == Some(id) {
                let name = format!("{name} › {}", output.spec.name);
                users.push(User { name, path: path.clone() });
            }
            if output.spec.response_function_id == Some(id) {
                let name = format!("{name} › answers of {}", output.spec.name);
                users.push(User { name, path });
            }
        }
    }
    users
}

/// The frame of a page below the list of functions.
fn frame(session: &Session, title: impl Into<String>) -> Frame {
    Frame::new(session, "Functions", title).below("Functions", "/functions")
}

/// The frame of a page below that of a function, whose name ends the title.
fn frame_of(session: &Session, function: &Function, title: &str) -> Frame {
    let (name, path) = (&function.spec.name, format!("/functions/{}", function.id));
    frame(session, format!("{title} {name}")).below(name.as_str(), &path)
}

/// Makes a function that does the same: with the source, the labels and the variables.
async fn duplicate(On(session, function): On<Function>) -> Reply {
    let name = format!("{} copy", function.spec.name);
    let copy = session.admin().duplicate_function(&session.caller, function.id, name).await?;
    Ok(done(&format!("/functions/{}", copy.id), "created"))
}

async fn delete(On(session, function): On<Function>) -> Reply {
    match session.admin().delete_function(&session.caller, function.id).await {
        Ok(()) => Ok(done("/functions", "deleted")),
        Err(error) => editor::refuse_with(&session, &function, error).await,
    }
}
