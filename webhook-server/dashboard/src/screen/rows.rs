//! Lists of webhooks.

use std::collections::HashMap;

use askama::Template;
use webhook_core::{
    BucketId, OutputId,
    model::{Bucket, DeliveryStatus, LogHead},
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
    /// Whether each has a box to be chosen by.
    chosen: bool,
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
    pub(crate) fn of(heads: &[LogHead], names: &Names) -> Self {
        let rows: Vec<Row> = heads.iter().map(|head| row(head, names)).collect();
        let signed = rows.iter().any(|row| row.verified.is_some());
        Self { rows, signed, chosen: false, nothing: "No webhook yet." }
    }

    /// With a box in each row, for the form that the list is in.
    pub(crate) fn with_choice(self) -> Self {
        Self { chosen: true, ..self }
    }

    pub(crate) fn saying(self, nothing: &'static str) -> Self {
        Self { nothing, ..self }
    }
}

fn row(head: &LogHead, names: &Names) -> Row {
    let attempted = head.attempts > 0 && head.status != DeliveryStatus::Rejected;
    Row {
        id: head.id.to_string(),
        mark: show::mark(head.status),
        reason: head.reason.map(show::reason).unwrap_or_default(),
        verified: head.verified.map(show::verified),
        duplicates: head.duplicates,
        moment: show::moment(head.created_at),
        time: show::time(head.created_at),
        method: head.method.to_string(),
        path: if head.path.is_empty() { "/".to_owned() } else { head.path.clone() },
        bucket: names.bucket(head.bucket_id).to_owned(),
        output: names.output(head.output_id).to_owned(),
        code: match head.status_code {
            code if attempted && code > 0 => code.to_string(),
            _ => "–".to_owned(),
        },
        took: match attempted {
            true => format!("{} ms", head.duration.as_millis()),
            false => "–".to_owned(),
        },
        size: show::bytes(head.body_bytes),
    }
}
