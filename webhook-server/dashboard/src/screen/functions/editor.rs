//! The code of a function, and a request to try it on.

use askama::Template;
use axum::http::StatusCode;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use webhook_core::{
    Error, ExecutionId,
    admin::LogQuery,
    model::{Function, FunctionSpec, Headers, InvokeRequest, InvokedRequest, Log, LogHead},
};

use super::{
    User, frame,
    outcome::{self, Outcome},
    users,
};
use crate::{
    PATH,
    form::{Field, Form, Submitted},
    page::{Frame, Problem, Reply, page, page_with},
    screen::{Asked, Named, On, done, edit::Edit, edit::refusal},
    session::Session,
    show,
};

/// What a new function begins with.
const BEGINNING: &str = "-- r is the request: r.RequestBody, r.RequestHeader, r.RequestQuery …\n\
    local json = require(\"json\")\n\
    local body = json.decode(r.RequestBody)\n\
    body.seen = true\n\
    r:SetRequestBody(json.encode(body))\n";
/// How many stored webhooks there are to choose from.
const CHOICE: usize = 20;

#[derive(Template)]
#[template(path = "function.html")]
struct FunctionPage {
    frame: Frame,
    path: String,
    form: Form,
    outcome: Option<Outcome>,
    users: Vec<User>,
    /// Keys, and when each was set.
    variables: Vec<(String, String)>,
    /// How the latest runs ended.
    latest: String,
}

/// The name, the language and the source of a function. WebAssembly is no text.
fn code_form(action: String, submit: &'static str, spec: &FunctionSpec) -> Form {
    let languages = [("lua", "Lua"), ("js", "JavaScript")];
    Form::new(action, submit).of(spec).with("driver", |field| field.options(languages))
}

/// The form of a function that there is not yet.
pub(super) fn creating(session: &Session, spec: &FunctionSpec, lead: String) -> Edit {
    let form = code_form(format!("{PATH}/functions/new"), "Create", spec);
    Edit::new(frame(session, "New function"), form).lead(lead)
}

pub(super) async fn new(session: Session) -> Reply {
    session.caller.require_account()?;
    let mut spec = FunctionSpec::default();
    spec.payload = BEGINNING.to_owned();
    let lead = "It changes, filters or answers webhooks of the inputs and outputs that name it.";
    Ok(creating(&session, &spec, lead.to_owned()).show())
}

pub(super) async fn create(session: Session, submitted: Submitted) -> Reply {
    let page = creating(&session, &FunctionSpec::default(), String::new());
    let then = async |spec: FunctionSpec| {
        let function = session.admin().create_function(&session.caller, spec).await?;
        Ok(done(&format!("/functions/{}", function.id), "created"))
    };
    page.submit(FunctionSpec::default(), &submitted, then).await
}

async fn editing(
    session: &Session,
    function: &Function,
    chosen: Option<&Log>,
) -> Result<FunctionPage, Problem> {
    let (admin, caller) = (session.admin(), &session.caller);
    let buckets = admin.buckets(caller).await?;
    let variables = admin.variables(caller, function.id).await?;
    let mut query = LogQuery::default();
    query.limit = CHOICE;
    let mut heads = admin.log_heads(caller, &query).await?.heads;
    if let Some(chosen) = chosen.filter(|it| heads.iter().all(|head| head.id != it.delivery.id)) {
        heads.push(LogHead::of(chosen));
    }
    let path = format!("{PATH}/functions/{}", function.id);
    let form = code_form(path.clone(), "Save", &function.spec)
        .also("run", "Save and run")
        .open_section("Test request")
        .fields(test_fields(&heads));
    Ok(FunctionPage {
        frame: frame(session, format!("Function {}", function.spec.name)),
        path,
        form,
        outcome: None,
        users: users(function.id, &buckets),
        variables: variables.into_iter().map(|it| (it.key, show::moment(it.updated_at))).collect(),
        latest: super::runs::latest(session, function.id).await?,
    })
}

fn test_fields(heads: &[LogHead]) -> Vec<Field> {
    let name = |head: &LogHead| {
        let path: String = head.path.chars().take(60).collect();
        let (at, size) = (show::time(head.created_at), show::bytes(head.body_bytes));
        format!("{at}  {} {path} {size}", head.method)
    };
    let below = (String::new(), "the request below".to_owned());
    let stored = heads.iter().map(|head| (head.id.to_string(), name(head)));
    vec![
        Field::select("log", "Run on").options(std::iter::once(below).chain(stored)),
        Field::text("method", "Method").value("POST"),
        Field::text("path", "Path after the input's address"),
        Field::text("raw_query", "Query"),
        Field::area("headers", "Headers").rows(3).value("Content-Type: application/json"),
        Field::area("request_body", "Body").rows(6).value("{\"id\": 17}"),
    ]
}

/// With the request of this recorded run to run on again.
async fn prefill(session: &Session, run: &str, form: Form) -> Result<Form, Problem> {
    let id: ExecutionId = run.parse().map_err(|_| Problem::no("run"))?;
    let run = session.admin().execution(&session.caller, id).await;
    let run = run.map_err(Problem::looking_up)?;
    let request = &run.execute_request["request"];
    let body = String::from_utf8_lossy(&outcome::body(request)).into_owned();
    let text = |name: &str| request[name].as_str().unwrap_or_default();
    Ok(form
        .with("method", |field| field.value(text("method")))
        .with("path", |field| field.value(text("path")))
        .with("raw_query", |field| field.value(text("raw_query")))
        .with("headers", |field| field.value(outcome::header_lines(request)))
        .with("request_body", |field| field.value(body)))
}

pub(super) async fn show(On(session, function): On<Function>, asked: Asked) -> Reply {
    let chosen = match asked.get("log") {
        Some(log) => Some(Log::find(&session, log).await?),
        None => None,
    };
    let mut shown = editing(&session, &function, chosen.as_ref()).await?;
    if let Some(log) = &chosen {
        let id = log.delivery.id.to_string();
        shown.form = shown.form.with("log", |field| field.value(id));
    }
    if let Some(run) = asked.get("run") {
        shown.form = prefill(&session, run, shown.form).await?;
    }
    shown.frame = shown.frame.noticing(asked.get("done"));
    Ok(page(&shown))
}

/// The page with what is wrong, when the function itself cannot be changed as asked.
pub(super) async fn refuse_with(session: &Session, function: &Function, error: Error) -> Reply {
    let mut shown = editing(session, function, None).await?;
    let (status, error) = refusal(error)?;
    shown.form.error = Some(error.to_string());
    Ok(page_with(status, &shown))
}

/// Saves what was changed, and runs it when that was asked for.
pub(super) async fn save(On(session, function): On<Function>, submitted: Submitted) -> Reply {
    let chosen = match submitted.text("log") {
        "" => None,
        log => Some(Log::find(&session, log).await?),
    };
    let form = editing(&session, &function, chosen.as_ref()).await?.form;
    let runs = submitted.text("then") == "run";
    let ran = match request(&form, &submitted, chosen.clone().filter(|_| runs)) {
        Ok(request) => match store(&session, &function, &form, &submitted).await {
            Ok(()) if !runs => return Ok(done(&format!("/functions/{}", function.id), "saved")),
            Ok(()) => try_out(&session, &function, request).await,
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    // Its name may be another one now, and it has one more run.
    let function = Function::find(&session, &function.id.to_string()).await?;
    let mut shown = editing(&session, &function, chosen.as_ref()).await?;
    let (status, error) = match ran {
        Ok(outcome) => {
            shown.outcome = Some(outcome);
            (StatusCode::OK, None)
        }
        Err(error) => {
            let (status, error) = refusal(error)?;
            (status, Some(error))
        }
    };
    shown.form = shown.form.retyped(&submitted, error.as_ref());
    Ok(page_with(status, &shown))
}

/// What the function is to run on: a stored webhook, or what was typed.
fn request(
    form: &Form,
    submitted: &Submitted,
    chosen: Option<Log>,
) -> Result<InvokeRequest, Error> {
    let request: InvokeRequest = match chosen {
        Some(log) => stored(log),
        None => {
            let mut request = InvokeRequest::default();
            form.only_of(&request).read(&mut request, submitted)?;
            request
        }
    };
    // What cannot be part of a request is known before anything is saved.
    request.clone().into_invoked()?;
    Ok(request)
}

async fn store(
    session: &Session,
    function: &Function,
    form: &Form,
    submitted: &Submitted,
) -> Result<(), Error> {
    let mut spec = function.spec.clone();
    form.only_of(&spec).read(&mut spec, submitted)?;
    if spec != function.spec {
        session.admin().update_function(&session.caller, function.id, spec).await?;
    }
    Ok(())
}

async fn try_out(
    session: &Session,
    function: &Function,
    request: InvokeRequest,
) -> Result<Outcome, Error> {
    let given = given(request.clone())?;
    let left = session.admin().invoke(&session.caller, function.id, request).await?;
    // How long it took is known from its record, which is there unless the store failed.
    let id = left["request_id"].as_str().and_then(|id| id.parse().ok());
    let took = match id {
        Some(id) => session.admin().execution(&session.caller, id).await.ok(),
        None => None,
    };
    Ok(Outcome::of(&given, &left, took.map(|run| run.duration)))
}

/// A stored webhook as it was received.
fn stored(log: Log) -> InvokeRequest {
    let request = log.webhook.request;
    let given = InvokedRequest {
        method: request.method.to_string(),
        path: request.extra_path,
        raw_query: request.raw_query,
        headers: Headers(request.headers),
        body: STANDARD.encode(&request.body),
        ..InvokedRequest::default()
    };
    InvokeRequest { request: Some(given), ..InvokeRequest::default() }
}

/// What a function is given, in the shape in which runs are recorded.
fn given(request: InvokeRequest) -> Result<Value, Error> {
    let request = request.into_invoked()?.request;
    let headers = show::headers(&request.headers);
    let mut header = serde_json::Map::new();
    for (name, value) in headers {
        let values = header.entry(name).or_insert_with(|| json!({ "values": [] }));
        if let Some(values) = values["values"].as_array_mut() {
            values.push(json!(value));
        }
    }
    Ok(json!({ "request": {
        "method": request.method.as_str(), "path": request.extra_path,
        "raw_query": request.raw_query, "header": header, "body": STANDARD.encode(&request.body),
    }}))
}
