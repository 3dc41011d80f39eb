//! A bucket as the way that its webhooks take.

use askama::Template;
use webhook_core::{
    FunctionId, Timestamp,
    admin::{LogQuery, MinuteQuery},
    model::{AuthType, Bucket, Function, Input, Output, ResponseFromOutput},
    store::MinuteCount,
};

use super::{
    rates::{self, InputRate, Latest},
    test_webhook::{Arrival, Way},
};
use crate::{
    PATH,
    bars::{self, Bars, Sums},
    page::{Frame, Reply, page},
    screen::{
        self, Asked, On, inputs, outputs,
        rows::{Names, Rows},
    },
    session::Session,
    show::{self, Mark},
};

/// How many outputs are counted one by one.
const COUNTED_OUTPUTS: usize = 50;
/// How many of the latest deliveries are listed.
const LISTED: usize = 10;

#[derive(Template)]
#[template(path = "flow.html")]
struct Flow {
    frame: Frame,
    id: String,
    suspended: bool,
    inputs: Vec<InputNode>,
    outputs: Vec<OutputNode>,
    sums: Sums,
    /// Deliveries of the last hour.
    rate: String,
    bars: Bars,
    rows: Rows,
}

struct InputNode {
    id: String,
    name: String,
    mark: Mark,
    came: InputRate,
    url: String,
    /// The command that sends it a webhook.
    curl: String,
    /// Whether the test webhook came in here.
    lit: bool,
    /// What becomes of those that are not verified; empty when nobody asks.
    signature: String,
    function: String,
    domain: String,
    answer: String,
}

struct OutputNode {
    id: String,
    name: String,
    mark: Mark,
    disabled: bool,
    /// Whether it can be paused, and whether it is.
    pausable: bool,
    paused: bool,
    pause_reason: String,
    rules: String,
    function: String,
    destination: String,
    sums: Sums,
    /// Its deliveries of the last hour.
    rate: String,
    /// How many of a hundred its rules and its function let pass; none before any came.
    passed: Option<u64>,
    /// What became of the test webhook.
    arrival: Option<Arrival>,
}

pub(crate) async fn show(On(session, bucket): On<Bucket>, asked: Asked) -> Reply {
    let way = Way::read(&session, &bucket, &asked).await?;
    let admin = session.admin();
    let functions = screen::functions(&session).await?;
    let logs = screen::latest(bucket.id, LogQuery::MAX_LIMIT);
    let latest = admin.log_heads(&session.caller, &logs).await?;
    let came = Latest::of(&latest.heads, latest.next.is_some(), session.now());
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
        let mut node = output_node(output, &functions, &counted, session.now());
        node.arrival = way.arrival(output.id);
        outputs.push(node);
    }
    let inputs = bucket.inputs.iter().map(|input| InputNode {
        lit: way.begins(input.id),
        ..input_node(&session, input, &bucket, &functions, came.at(input.id))
    });
    let frame = Frame::new(&session, "Buckets", bucket.spec.name.clone());
    let mut frame = frame.below("Buckets", "/buckets").noticing(asked.get("done"));
    frame.live = true;
    let list = format!("{PATH}/webhooks?bucket={}&", bucket.id);
    let flow = Flow {
        frame,
        id: bucket.id.to_string(),
        suspended: bucket.suspended,
        inputs: inputs.collect(),
        outputs,
        sums: Sums::of(&minutes),
        rate: rates::of_last_hour(&minutes, session.now()),
        bars: bars::hours(&minutes, session.now(), &list),
        rows: Rows::of(
            &latest.heads[..latest.heads.len().min(LISTED)],
            &Names::of(std::slice::from_ref(&bucket)),
        ),
    };
    Ok(page(&flow))
}

fn input_node(
    session: &Session,
    input: &Input,
    bucket: &Bucket,
    functions: &[Function],
    came: InputRate,
) -> InputNode {
    let url = session.dashboard.input_url(input.id);
    let spec = &input.spec;
    let domain = match spec.custom_domain.is_empty() {
        true => String::new(),
        false => format!("{}{}", spec.custom_domain, spec.path_prefix),
    };
    let status = if spec.status_code == 0 { 200 } else { spec.status_code };
    InputNode {
        id: input.id.to_string(),
        name: spec.name.clone(),
        mark: match (bucket.suspended, came.webhooks, came.refused) {
            (true, ..) => Mark { class: "warn", sign: "‖", word: "suspended" },
            (false, 0, _) => Mark { class: "quiet", sign: "○", word: "quiet" },
            (false, _, 0) => Mark { class: "good", sign: "✓", word: "receiving" },
            (false, ..) => Mark { class: "warn", sign: "!", word: "refusing" },
        },
        came,
        curl: curl(bucket, &url),
        url,
        lit: false,
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

fn output_node(
    output: &Output,
    functions: &[Function],
    minutes: &[MinuteCount],
    now: Timestamp,
) -> OutputNode {
    let (spec, sums) = (&output.spec, Sums::of(minutes));
    let pause = output.pauses.current(now);
    OutputNode {
        id: output.id.to_string(),
        name: spec.name.clone(),
        mark: match (spec.disabled, pause, sums.failed) {
            (true, ..) => Mark { class: "quiet", sign: "‖", word: "disabled" },
            (false, Some(_), _) => Mark { class: "warn", sign: "‖", word: "paused" },
            (false, None, 0) => Mark { class: "good", sign: "✓", word: "enabled" },
            (false, None, _) => Mark { class: "warn", sign: "!", word: "failing" },
        },
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
        rate: rates::of_last_hour(minutes, now),
        passed: sums.passed_of_hundred(),
        sums,
        arrival: None,
    }
}

/// The command that sends the input a webhook, with a place for the bucket's credentials.
fn curl(bucket: &Bucket, url: &str) -> String {
    let credentials = match bucket.spec.auth.kind {
        AuthType::None => "",
        AuthType::Basic => " -u USER:PASSWORD",
        AuthType::Token => " -H 'Authorization: Bearer TOKEN'",
    };
    let url = show::quoted(url);
    format!("curl -i {url}{credentials} -H 'Content-Type: application/json' -d '{{\"id\": 17}}'")
}

/// What a function is called; its identifier where the caller does not reach it.
fn function_name(id: Option<FunctionId>, functions: &[Function]) -> String {
    let Some(id) = id else { return String::new() };
    let known = functions.iter().find(|function| function.id == id);
    known.map_or_else(|| id.to_string(), |function| function.spec.name.clone())
}
