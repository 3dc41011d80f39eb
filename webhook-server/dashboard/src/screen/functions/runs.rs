//! The runs of a function.

use askama::Template;
use axum::extract::Path;
use webhook_core::{
    Error, ExecutionId, FunctionId,
    admin::ExecutionQuery,
    model::{Execution, ExecutionStatus, Function},
};

use super::{
    frame_of,
    outcome::{Outcome, milliseconds},
};
use crate::{
    PATH,
    page::{Frame, Problem, Reply, page},
    screen::{Asked, On},
    session::Session,
    show::{self, Mark},
};

#[derive(Template)]
#[template(path = "runs.html")]
struct Runs {
    frame: Frame,
    total: usize,
    rows: Vec<Row>,
    older: Option<String>,
}

struct Row {
    path: String,
    mark: Mark,
    at: String,
    took: String,
    /// For how many runs it stands; empty when for itself alone.
    stands_for: String,
    error: String,
}

fn mark(status: ExecutionStatus) -> Mark {
    let (class, sign, word) = match status {
        ExecutionStatus::Success => ("good", "✓", "ran"),
        ExecutionStatus::Error => ("bad", "✕", "failed"),
        ExecutionStatus::None => ("wait", "◷", "running"),
    };
    Mark { class, sign, word }
}

fn row(run: &Execution) -> Row {
    let error = run.execute_response["error"].as_str().unwrap_or_default();
    Row {
        path: format!("{PATH}/functions/{}/runs/{}", run.function_id, run.id),
        mark: mark(run.status),
        at: show::moment(run.created),
        took: milliseconds(run.duration),
        stands_for: match run.stands_for {
            0 | 1 => String::new(),
            runs => format!("stands for {runs} runs"),
        },
        error: error.chars().take(200).collect(),
    }
}

/// How the latest runs of a function ended.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) runs: u64,
    pub(super) failed: u64,
}

/// Reads the latest records, `limit` at most. A record stands for one run or more.
pub(super) async fn tally(session: &Session, id: FunctionId, limit: usize) -> Result<Tally, Error> {
    let mut query = ExecutionQuery::default();
    query.limit = limit;
    let found = session.admin().executions(&session.caller, id, &query).await?.executions;
    Ok(found.iter().fold(Tally::default(), |tally, run| {
        let is_failed = run.status == ExecutionStatus::Error;
        Tally {
            runs: tally.runs + run.stands_for,
            failed: tally.failed + u64::from(is_failed) * run.stands_for,
        }
    }))
}

/// How the latest runs ended, in words.
pub(super) async fn latest(session: &Session, id: FunctionId) -> Result<String, Problem> {
    let limit = ExecutionQuery::default().limit;
    Ok(match tally(session, id, limit).await? {
        Tally { runs: 0, .. } => "It has not run yet.".to_owned(),
        Tally { runs, failed } => format!("Latest runs: {runs}, of which {failed} failed."),
    })
}

pub(super) async fn list(On(session, function): On<Function>, asked: Asked) -> Reply {
    let mut query = ExecutionQuery::default();
    query.offset = asked.get("offset").and_then(|it| it.parse().ok()).unwrap_or_default();
    let found = session.admin().executions(&session.caller, function.id, &query).await?;
    let next = query.offset.saturating_add(query.limit);
    let older = (next < found.total).then(|| {
        format!(
            "{PATH}/functions/{}/runs?{}",
            function.id,
            asked.with(&[("offset", &next.to_string())])
        )
    });
    Ok(page(&Runs {
        frame: frame_of(&session, &function, "Runs of"),
        total: found.total,
        rows: found.executions.iter().map(row).collect(),
        older,
    }))
}

#[derive(Template)]
#[template(path = "run.html")]
struct Run {
    frame: Frame,
    at: String,
    id: String,
    again: String,
    outcome: Outcome,
}

pub(super) async fn show(
    On(session, function): On<Function>,
    Path((_, run)): Path<(String, String)>,
) -> Reply {
    let run: ExecutionId = run.parse().map_err(|_| Problem::no("run"))?;
    let run = session.admin().execution_of(&session.caller, function.id, run).await;
    let run = run.map_err(Problem::looking_up)?;
    let runs = format!("/functions/{}/runs", function.id);
    Ok(page(&Run {
        frame: frame_of(&session, &function, "A run of").below("Runs", &runs),
        at: show::moment(run.created),
        id: run.id.to_string(),
        again: format!("{PATH}/functions/{}?run={}", function.id, run.id),
        outcome: Outcome::of(&run.execute_request, &run.execute_response, Some(run.duration)),
    }))
}
