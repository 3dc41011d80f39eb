//! A bucket as the way that its webhooks take.

use askama::Template;
use axum::{
    body::Bytes,
    extract::{Extension, Path, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::Response,
};
use webhook_core::{
    FunctionId, Timestamp,
    admin::{LogQuery, MinuteQuery},
    model::{Bucket, Function, Input, Output, ResponseFromOutput},
    relay::ClientAddr,
};

use crate::{
    Dashboard, PATH,
    bars::{self, Bars, Sums},
    form::Submitted,
    page::{Frame, Problem, page_with},
    screen::{
        self, Asked, done, inputs, outputs,
        rows::{Names, Rows},
        webhook::send,
    },
    session::Session,
};

/// How many outputs are counted one by one.
const COUNTED_OUTPUTS: usize = 50;

#[derive(Template)]
#[template(path = "flow.html")]
struct Flow {
    frame: Frame,
    crumbs: Vec<(String, String)>,
    id: String,
    suspended: bool,
    inputs: Vec<InputNode>,
    outputs: Vec<OutputNode>,
    sums: Sums,
    bars: Bars,
    rows: Rows,
}

struct InputNode {
    id: String,
    name: String,
    url: String,
    /// What becomes of those that are not verified; empty when nobody asks.
    signature: String,
    function: String,
    domain: String,
    answer: String,
}

struct OutputNode {
    id: String,
    name: String,
    class: &'static str,
    sign: &'static str,
    word: &'static str,
    disabled: bool,
    /// Whether it can be paused, and whether it is.
    pausable: bool,
    paused: bool,
    pause_reason: String,
    rules: String,
    function: String,
    destination: String,
    sums: Sums,
}

pub(crate) async fn show(
    State(dashboard): State<Dashboard>,
    session: Session,
    Path(id): Path<String>,
    asked: Asked,
) -> Result<Response, Problem> {
    let bucket = screen::bucket(&dashboard, &session, &id).await?;
    flow(&dashboard, &session, bucket, asked.get("done"), StatusCode::OK).await
}

async fn flow(
    dashboard: &Dashboard,
    session: &Session,
    bucket: Bucket,
    notice: Option<&str>,
    status: StatusCode,
) -> Result<Response, Problem> {
    let admin = dashboard.admin();
    let functions = screen::functions(dashboard, session).await?;
    let mut logs = LogQuery::default();
    logs.bucket = Some(bucket.id.into());
    logs.limit = 10;
    let latest = admin.logs(&session.caller, &logs).await?;
    let mut query = MinuteQuery::default();
    query.bucket = Some(bucket.id.into());
    let minutes = admin.minutes(&session.caller, &query).await?;
    let mut outputs = Vec::with_capacity(bucket.outputs.len());
    for (number, output) in bucket.outputs.iter().enumerate() {
        query.output_id = Some(output.id);
        let counted = match number < COUNTED_OUTPUTS {
            true => admin.minutes(&session.caller, &query).await?,
            false => Vec::new(),
        };
        outputs.push(output_node(output, &functions, Sums::of(&counted), dashboard.now()));
    }
    let mut frame = Frame::new(session, "Buckets", bucket.spec.name.clone()).noticing(notice);
    frame.live = true;
    let list = format!("{PATH}/webhooks?bucket={}&", bucket.id);
    let page = Flow {
        frame,
        crumbs: vec![("Buckets".to_owned(), format!("{PATH}/buckets"))],
        id: bucket.id.to_string(),
        suspended: bucket.suspended,
        inputs: bucket.inputs.iter().map(|it| input_node(dashboard, it, &functions)).collect(),
        outputs,
        sums: Sums::of(&minutes),
        bars: bars::hours(&minutes, dashboard.now(), &list),
        rows: Rows::of(&latest.logs, &Names::of(std::slice::from_ref(&bucket))),
    };
    Ok(page_with(status, &page))
}

fn input_node(dashboard: &Dashboard, input: &Input, functions: &[Function]) -> InputNode {
    let spec = &input.spec;
    let domain = match spec.custom_domain.is_empty() {
        true => String::new(),
        false => format!("{}{}", spec.custom_domain, spec.path_prefix),
    };
    let status = if spec.status_code == 0 { 200 } else { spec.status_code };
    InputNode {
        id: input.id.to_string(),
        name: spec.name.clone(),
        url: dashboard.input_url(input.id),
        signature: match spec.signature.is_unset() {
            true => String::new(),
            false => inputs::signature::state(spec),
        },
        function: function_name(spec.function_id, functions),
        domain,
        answer: match spec.response_from_output {
            ResponseFromOutput::Static => status.to_string(),
            ResponseFromOutput::Any => "as the first output does".to_owned(),
            ResponseFromOutput::Output(_) => "as an output does".to_owned(),
        },
    }
}

fn output_node(output: &Output, functions: &[Function], sums: Sums, now: Timestamp) -> OutputNode {
    let spec = &output.spec;
    let pause = output.pauses.current(now);
    let (class, sign, word) = match (spec.disabled, pause, sums.failed) {
        (true, ..) => ("quiet", "‖", "disabled"),
        (false, Some(_), _) => ("warn", "‖", "paused"),
        (false, None, 0) => ("good", "✓", "enabled"),
        (false, None, _) => ("warn", "!", "failing"),
    };
    OutputNode {
        id: output.id.to_string(),
        name: spec.name.clone(),
        class,
        sign,
        word,
        disabled: spec.disabled,
        pausable: !spec.internal,
        paused: pause.is_some(),
        pause_reason: pause.map(|pause| pause.reason.clone()).unwrap_or_default(),
        rules: match spec.rules.is_empty() {
            true => "no rules: everything passes".to_owned(),
            false => outputs::rules::state(spec),
        },
        function: function_name(spec.function_id, functions),
        destination: match spec.internal {
            true => "connected clients".to_owned(),
            false => spec.destination.clone(),
        },
        sums,
    }
}

/// What a function is called; its identifier where the caller does not reach it.
fn function_name(id: Option<FunctionId>, functions: &[Function]) -> String {
    let Some(id) = id else { return String::new() };
    let known = functions.iter().find(|function| function.id == id);
    known.map_or_else(|| id.to_string(), |function| function.spec.name.clone())
}

/// Sends a webhook as any sender would.
pub(crate) async fn test(
    State(dashboard): State<Dashboard>,
    session: Session,
    Path(id): Path<String>,
    client: Option<Extension<ClientAddr>>,
    submitted: Submitted,
) -> Result<Response, Problem> {
    let bucket = screen::bucket(&dashboard, &session, &id).await?;
    let wanted = submitted.text("input");
    let input = bucket.inputs.iter().find(|input| input.id.to_string() == wanted);
    let input = input.ok_or_else(|| Problem::no("input"))?;
    let body = Bytes::from(submitted.text("body").to_owned());
    let mut headers = axum::http::HeaderMap::new();
    let json = axum::http::HeaderValue::from_static("application/json");
    headers.insert(CONTENT_TYPE, json);
    let request = webhook_core::model::Request {
        method: axum::http::Method::POST,
        extra_path: String::new(),
        raw_query: String::new(),
        headers,
        body,
    };
    let client = client.map(|Extension(client)| client);
    send::send(&dashboard, &bucket, input.id, request, client).await?;
    Ok(done(&format!("/buckets/{id}"), "sent"))
}
