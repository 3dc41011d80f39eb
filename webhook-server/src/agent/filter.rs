//! Which logs a command is about, in the words of the API.

use serde::Serialize;
use serde_json::{Value, json};
use webhook_core::DeliveryId;

/// Which logs.
#[derive(Clone, Debug, Default, Serialize, clap::Args)]
#[command(next_help_heading = "Which webhooks")]
pub(super) struct Filter {
    /// Of this bucket, by its name or ID.
    #[arg(long, value_name = "NAME")]
    bucket: Option<String>,
    /// Received at this input, by its ID.
    #[arg(long, value_name = "ID")]
    input: Option<String>,
    /// For this output, by its ID.
    #[arg(long, value_name = "ID")]
    output: Option<String>,
    /// With this status: failed, rejected, sent, …
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Whose last attempt came to this: 404, 5xx; 0 is no answer.
    #[arg(long, value_name = "CODE")]
    status_code: Option<String>,
    /// That ended for this reason: rules, signature, attempts_exhausted, …
    #[arg(long, value_name = "REASON")]
    reason: Option<String>,
    /// Received with this method.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// With this in what follows the input's address.
    #[arg(long, value_name = "TEXT")]
    path: Option<String>,
    /// Whose last attempt took so long: 300ms, 1.5s.
    #[arg(long, value_name = "DURATION")]
    min_duration: Option<String>,
    /// Whether they are from whom they say they are: true or false.
    #[arg(long, value_name = "BOOL")]
    verified: Option<String>,
    /// Received from this moment on: 2026-11-24, 2026-11-24T09:30:00Z, or unix seconds.
    #[arg(long, value_name = "MOMENT")]
    from: Option<String>,
    /// Received up to this moment; of a day, the whole day.
    #[arg(long, value_name = "MOMENT")]
    to: Option<String>,
    /// With this in the path, a header, the body, the answer or the error.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// With this in a header: Name:text; Name: finds any text.
    #[arg(long, value_name = "NAME:TEXT")]
    header: Option<String>,
    /// With this in the body: path:text.
    #[arg(long, value_name = "PATH:TEXT")]
    payload: Option<String>,
    /// This log; given more than once, these.
    #[arg(long = "id", value_name = "LOG")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ids: Vec<DeliveryId>,
}

impl Filter {
    /// The options that are given, as the API takes them.
    pub(super) fn spec(&self) -> Value {
        let mut spec = json!(self);
        if let Some(fields) = spec.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        spec
    }
}
