//! Lists of webhooks.

use std::collections::HashMap;

use askama::Template;
use webhook_core::{
    BucketId, OutputId,
    model::{Bucket, DeliveryStatus, Log},
};

use crate::show::{self, Mark};

/// One delivery in a list.
pub(crate) struct Row {
    id: String,
    mark: Mark,
    /// Why it ended so, in a word or two; empty when it was sent, or goes on.
    reason: String,
    /// What was said of its signature; none when nobody asked.
    verified: Option<Mark>,
    /// How often it came again.
    duplicates: u32,
    moment: String,
    time: String,
    method: String,
    path: String,
    bucket: String,
    output: String,
    code: String,
    took: String,
    size: String,
}

/// A list of deliveries, which writes itself into a page.
#[derive(Template)]
#[template(path = "rows.html")]
pub(crate) struct Rows {
    rows: Vec<Row>,
    /// Whether a signature was looked at in any of them.
    signed: bool,
    nothing: &'static str,
}

/// What buckets and outputs are called.
pub(crate) struct Names {
    buckets: HashMap<BucketId, String>,
    outputs: HashMap<OutputId, String>,
}

impl Names {
    pub(crate) fn of(buckets: &[Bucket]) -> Self {
        let outputs = buckets.iter().flat_map(|bucket| &bucket.outputs);
        Self {
            buckets: buckets.iter().map(|it| (it.id, it.spec.name.clone())).collect(),
            outputs: outputs.map(|it| (it.id, it.spec.name.clone())).collect(),
        }
    }

    pub(crate) fn bucket(&self, id: BucketId) -> &str {
        self.buckets.get(&id).map_or("(deleted)", String::as_str)
    }

    pub(crate) fn output(&self, id: Option<OutputId>) -> &str {
        id.map_or("–", |id| self.outputs.get(&id).map_or("(deleted)", String::as_str))
    }
}

impl Rows {
    pub(crate) fn of(logs: &[Log], names: &Names) -> Self {
        let rows: Vec<Row> = logs.iter().map(|log| row(log, names)).collect();
        let signed = rows.iter().any(|row| row.verified.is_some());
        Self { rows, signed, nothing: "No webhook yet." }
    }

    pub(crate) fn saying(self, nothing: &'static str) -> Self {
        Self { nothing, ..self }
    }
}

fn row(log: &Log, names: &Names) -> Row {
    let Log { webhook, delivery } = log;
    let request = delivery.processed.as_ref().unwrap_or(&webhook.request);
    let attempted = delivery.attempts > 0 && delivery.status != DeliveryStatus::Rejected;
    let last = delivery.last.as_ref().filter(|_| attempted);
    let query = if request.raw_query.is_empty() { "" } else { "?" };
    let path = format!("{}{query}{}", request.extra_path, request.raw_query);
    Row {
        id: delivery.id.to_string(),
        mark: show::mark(delivery.status),
        reason: delivery.reason.map(show::reason).unwrap_or_default(),
        verified: webhook.checks.verified.map(show::verified),
        duplicates: webhook.checks.duplicates,
        moment: show::moment(delivery.created_at),
        time: show::time(delivery.created_at),
        method: request.method.to_string(),
        path: if path.is_empty() { "/".to_owned() } else { path.chars().take(200).collect() },
        bucket: names.bucket(webhook.bucket_id).to_owned(),
        output: names.output(delivery.output_id).to_owned(),
        code: last
            .filter(|it| it.status_code > 0)
            .map_or("–".to_owned(), |it| it.status_code.to_string()),
        took: last.map_or("–".to_owned(), |it| format!("{} ms", it.duration.as_millis())),
        size: show::size(request.body.len()),
    }
}
