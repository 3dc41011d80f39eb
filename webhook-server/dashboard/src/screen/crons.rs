//! Crons: what runs when, and how it went.

mod run;
mod settings;
mod words;

use askama::Template;
use axum::{
    Router,
    routing::{get, post},
};
use jiff::tz::TimeZone;
use webhook_core::{Timestamp, admin::BucketCron, cron::Timetable, model::Cron};

use super::{
    Asked, On,
    edit::{Edit, Remove},
    functions, heads, latest,
    rows::{Names, Rows},
};
use crate::{
    Dashboard, PATH,
    form::Form,
    page::{Frame, Problem, Reply, page},
    session::Session,
};

/// How many of the runs to come are shown.
const NEXT_RUNS: usize = 5;
/// How many of the webhooks that runs became are shown.
const LATEST: usize = 10;

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/crons", get(list))
        .route("/crons/new", get(settings::new).post(settings::create))
        .route("/crons/{cron}", get(show).post(settings::save))
        .route("/crons/{cron}/pause", post(settings::pause))
        .route("/crons/{cron}/run", post(run::now))
        .route("/crons/{cron}/delete", post(settings::delete))
}

#[derive(Template)]
#[template(path = "crons.html")]
struct Crons {
    frame: Frame,
    rows: Vec<Row>,
}

struct Row {
    path: String,
    name: String,
    schedule: String,
    enabled: bool,
    next: String,
    destination: String,
}

async fn list(session: Session, asked: Asked) -> Reply {
    let crons = session.admin().crons(&session.caller).await?;
    let rows = crons.into_iter().map(|BucketCron { cron, .. }| Row {
        path: format!("{PATH}/crons/{}", cron.id),
        schedule: said(&cron),
        enabled: cron.spec.enabled,
        next: cron.next_run.map_or("–".to_owned(), |it| local(it, &cron.spec.timezone)),
        destination: cron.spec.destination.clone(),
        name: cron.spec.name,
    });
    let frame = Frame::new(&session, "Crons", "Crons").noticing(asked.get("done"));
    Ok(page(&Crons { frame, rows: rows.collect() }))
}

/// The schedule in words where there are some, and as it is written.
fn said(cron: &Cron) -> String {
    let schedule = &cron.spec.schedule;
    match words::of(schedule) {
        Some(words) => format!("{words} ({schedule})"),
        None => schedule.clone(),
    }
}

/// A moment in the cron's zone, which it names.
fn local(moment: Timestamp, zone: &str) -> String {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let moment = jiff::Timestamp::from_millisecond(moment.as_millis());
    moment.map_or_else(
        |_| "–".to_owned(),
        |it| it.to_zoned(zone).strftime("%a %Y-%m-%d %H:%M:%S %Z").to_string(),
    )
}

/// The runs to come.
fn next_runs(cron: &Cron, now: Timestamp) -> Vec<String> {
    let Some(first) = cron.next_run else { return Vec::new() };
    let count = if cron.spec.recurring { NEXT_RUNS } else { 1 };
    let Ok(timetable) = Timetable::new(&cron.spec, cron.created_at) else { return Vec::new() };
    let from = first.max(now);
    let first = if first >= now { Some(first) } else { timetable.next_after(from) };
    let runs = std::iter::successors(first, |run| timetable.next_after(*run));
    runs.take(count).map(|run| local(run, &cron.spec.timezone)).collect()
}

#[derive(Template)]
#[template(path = "cron.html")]
struct CronPage {
    frame: Frame,
    path: String,
    schedule: String,
    zone: String,
    enabled: bool,
    next: Vec<String>,
    bucket: Option<String>,
    rows: Rows,
    form: Form,
    remove: Remove,
}

async fn cron_page(session: &Session, found: &BucketCron, edit: Edit) -> Result<CronPage, Problem> {
    let BucketCron { cron, bucket } = found;
    let heads = heads(session, &latest(cron.bucket_id, LATEST)).await?;
    let names = Names::of(bucket.as_slice());
    Ok(CronPage {
        path: format!("{PATH}/crons/{}", cron.id),
        schedule: said(cron),
        zone: cron.spec.timezone.clone(),
        enabled: cron.spec.enabled,
        next: next_runs(cron, session.now()),
        bucket: bucket.as_ref().map(|bucket| format!("{PATH}/buckets/{}", bucket.id)),
        rows: Rows::of(&heads, &names).saying("It has not run yet."),
        frame: edit.frame,
        form: edit.form,
        remove: settings::remove(cron),
    })
}

async fn show(On(session, found): On<BucketCron>, asked: Asked) -> Reply {
    let functions = functions(&session).await?;
    let edit = settings::editing(&session, &found.cron, &functions);
    let mut shown = cron_page(&session, &found, edit).await?;
    shown.frame = shown.frame.noticing(asked.get("done"));
    Ok(page(&shown))
}

#[cfg(test)]
mod tests {
    use webhook_core::model::CronSpec;

    use super::*;

    fn id<K>() -> webhook_core::Id<K> {
        "00000000-0000-7000-8000-000000000001".parse().expect("an ID")
    }

    #[test]
    fn moments_are_in_the_zone_of_the_cron() {
        // The clock is set forward on 29 March 2026 at 01:00 UTC.
        let before = Timestamp::from_secs(1_774_742_400);
        assert_eq!(local(before, "UTC"), "Sun 2026-03-29 00:00:00 UTC");
        assert_eq!(local(before, "nowhere"), "Sun 2026-03-29 00:00:00 UTC");
    }

    #[test]
    fn what_is_paused_has_no_next_runs_and_what_runs_once_has_one() {
        let now = Timestamp::from_secs(1_774_742_400);
        let mut cron = Cron {
            version: 1,
            id: id(),
            account_id: id(),
            created_at: now,
            updated_at: now,
            next_run: Some(now + std::time::Duration::from_secs(3_600)),
            bucket_id: id(),
            input_id: id(),
            output_id: id(),
            spec: CronSpec::new("@hourly", "https://example.com"),
        };
        let next = next_runs(&cron, now);
        assert_eq!(next.len(), NEXT_RUNS);
        assert_eq!(next[1], "Sun 2026-03-29 02:00:00 UTC");
        cron.spec.recurring = false;
        assert_eq!(next_runs(&cron, now).len(), 1);
        cron.next_run = None;
        assert!(next_runs(&cron, now).is_empty());
    }
}
