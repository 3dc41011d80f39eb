//! The page of a webhook.

use askama::Template;
use axum::http::HeaderMap;
use webhook_core::{
    Error,
    model::{Bucket, Log},
};

use super::{sample, siblings, why::Why};
use crate::{
    PATH,
    page::{Frame, Reply, page},
    screen::{Asked, On, functions, rows::Names},
    session::Session,
    show::{self, Mark},
};

#[derive(Template)]
#[template(path = "webhook.html")]
struct Webhook {
    frame: Frame,
    id: String,
    mark: Mark,
    received: String,
    ago: String,
    bucket_id: String,
    bucket: String,
    input: String,
    output: String,
    sender: String,
    reason: String,
    verified: Option<Mark>,
    /// Where its signature can be looked at again, when it was not verified.
    test: Option<String>,
    /// Where the rules that let it pass or stopped it are tried on it.
    rules: Option<String>,
    event: String,
    duplicate_of: String,
    duplicates: u32,
    attempts: String,
    next: String,
    runs: Vec<(&'static str, String)>,
    /// What it can be tried on.
    samples: Vec<(String, String)>,
    outputs: Vec<(String, String)>,
    method: String,
    path: String,
    ephemeral: bool,
    headers: Vec<(String, String)>,
    size: String,
    views: Vec<(&'static str, String, bool)>,
    body: String,
    whole: bool,
    curl: Option<String>,
    answer: Option<Answer>,
    siblings: Vec<Sibling>,
    /// Its trace; none when it cannot be computed.
    trace: Option<Why>,
}

struct Answer {
    code: u16,
    took: String,
    headers: Vec<(String, String)>,
    body: String,
}

struct Sibling {
    id: String,
    mark: Mark,
    output: String,
}

pub(crate) async fn show(On(session, log): On<Log>, asked: Asked) -> Reply {
    let Log { webhook, delivery } = &log;
    let buckets = session.admin().buckets(&session.caller).await?;
    let names = Names::of(&buckets);
    let bucket = buckets.iter().find(|bucket| bucket.id == webhook.bucket_id);
    let functions = functions(&session).await?;
    let siblings = siblings(&session, &log, &names).await?;
    let trace = session.admin().trace_of(&session.caller, &log).await.ok().map(Why::from);
    let request = delivery.processed.as_ref().unwrap_or(&webhook.request);
    let (view, (body, whole)) = body(&request.headers, &request.body, asked.get("view"));
    let query = if request.raw_query.is_empty() { "" } else { "?" };
    let last = delivery.last.as_ref();
    let runs = [
        ("input function's run", webhook.input_execution_id),
        ("output function's run", delivery.output_execution_id),
    ];
    let runs = runs.into_iter().filter(|_| session.has_account());
    let page_ = Webhook {
        frame: Frame::new(&session, "Webhooks", format!("{} webhook", request.method))
            .below("Webhooks", "/webhooks")
            .noticing(asked.get("done")),
        id: delivery.id.to_string(),
        mark: show::mark(delivery.status),
        received: show::moment(webhook.received_at),
        ago: show::ago(webhook.received_at, session.now()),
        bucket_id: webhook.bucket_id.to_string(),
        bucket: names.bucket(webhook.bucket_id).to_owned(),
        input: input_name(bucket, &log),
        output: names.output(delivery.output_id).to_owned(),
        sender: webhook.remote_addr.map_or("unknown".to_owned(), |ip| ip.to_string()),
        reason: delivery.reason.map(show::reason).unwrap_or_default(),
        verified: webhook.checks.verified.map(show::verified),
        test: bucket.and_then(|bucket| test_of_signature(bucket, &log)),
        rules: bucket.and_then(|bucket| rules_of_output(bucket, &log)),
        event: webhook.checks.event.clone().unwrap_or_default(),
        duplicate_of: webhook.checks.duplicate_of.map(|it| it.to_string()).unwrap_or_default(),
        duplicates: webhook.checks.duplicates,
        attempts: delivery.attempts.to_string(),
        next: delivery.due_at.map(show::moment).unwrap_or_default(),
        runs: runs.filter_map(|(name, run)| Some((name, run?.to_string()))).collect(),
        samples: match webhook.ephemeral {
            // Its content is forgotten.
            true => Vec::new(),
            false => sample::choices(bucket, &functions),
        },
        trace,
        outputs: other_outputs(bucket, &log),
        method: request.method.to_string(),
        path: format!("{}{query}{}", request.extra_path, request.raw_query),
        ephemeral: webhook.ephemeral,
        headers: show::headers(&request.headers),
        size: show::size(request.body.len()),
        views: ["pretty", "raw", "hex"]
            .map(|name| {
                (name, format!("{PATH}/webhooks/{}?view={name}", log.delivery.id), name == view)
            })
            .into(),
        body,
        whole,
        curl: show::curl(request, &session.dashboard.input_url(webhook.input_id)),
        answer: last.filter(|last| last.status_code > 0 || last.error.is_none()).map(|last| {
            Answer {
                code: last.status_code,
                took: format!("{} ms", last.duration.as_millis()),
                headers: show::headers(&last.response_headers),
                body: show::text(&show::content(&last.response_headers, &last.response_body)).0,
            }
        }),
        siblings,
    };
    Ok(page(&page_))
}

/// The body in the view that was asked for: its name, the text, and whether it is whole.
/// Hexadecimal are the bytes as they came, everything else is what they mean.
fn body(
    headers: &HeaderMap,
    received: &[u8],
    view: Option<&str>,
) -> (&'static str, (String, bool)) {
    let body = show::content(headers, received);
    let is_text = std::str::from_utf8(&body).is_ok();
    match view {
        Some("hex") => ("hex", show::hex(received)),
        None if !is_text => ("hex", show::hex(received)),
        Some("raw") => ("raw", show::text(&body)),
        _ => match show::pretty(headers, received) {
            Some(pretty) => ("pretty", (show::text(pretty.as_bytes()).0, true)),
            None => ("raw", show::text(&body)),
        },
    }
}

/// Where the rules of its output are, when they decided anything.
fn rules_of_output(bucket: &Bucket, log: &Log) -> Option<String> {
    let output = bucket.outputs.iter().find(|it| Some(it.id) == log.delivery.output_id)?;
    let (bucket, log_) = (bucket.id, log.delivery.id);
    let decided = !output.spec.rules.is_empty() && !log.webhook.ephemeral;
    decided.then(|| format!("{PATH}/buckets/{bucket}/outputs/{}/rules?sample={log_}", output.id))
}

/// Where it can be asked why the webhook was not verified.
fn test_of_signature(bucket: &Bucket, log: &Log) -> Option<String> {
    let asked = log.webhook.checks.verified == Some(false) && !log.webhook.ephemeral;
    let input = bucket.inputs.iter().find(|it| it.id == log.webhook.input_id && asked)?;
    let (bucket, input, log) = (bucket.id, input.id, log.delivery.id);
    Some(format!("{PATH}/buckets/{bucket}/inputs/{input}/signature?log={log}#test"))
}

fn input_name(bucket: Option<&Bucket>, log: &Log) -> String {
    let inputs = bucket.into_iter().flat_map(|bucket| &bucket.inputs);
    let input = inputs.into_iter().find(|input| input.id == log.webhook.input_id);
    input.map_or("(deleted)".to_owned(), |input| input.spec.name.clone())
}

fn other_outputs(bucket: Option<&Bucket>, log: &Log) -> Vec<(String, String)> {
    let outputs = bucket.into_iter().flat_map(|bucket| &bucket.outputs);
    let others = outputs.filter(|output| Some(output.id) != log.delivery.output_id);
    others.map(|output| (output.id.to_string(), output.spec.name.clone())).collect()
}

/// The deliveries of the same webhook to other outputs, which were stored with it.
async fn siblings(session: &Session, log: &Log, names: &Names) -> Result<Vec<Sibling>, Error> {
    let bucket = log.webhook.bucket_id;
    let stored = log.delivery.created_at;
    let found = siblings::find(session, bucket, log.webhook.id, stored).await?;
    let others = found.iter().filter(|it| it.id != log.delivery.id);
    let siblings = others.map(|it| Sibling {
        id: it.id.to_string(),
        mark: show::mark(it.status),
        output: names.output(it.output_id).to_owned(),
    });
    Ok(siblings.collect())
}
