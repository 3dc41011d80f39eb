//! The real server, set up over its own API.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use super::{
    Running, Started, Target,
    postgres::{self, Schema},
};
use crate::{
    Outcome,
    api::{Api, KEY, input_path, text},
    options::Context,
    process::Process,
    seed::Seed,
    work::{
        dashboard::{self, Visitor},
        load::{Code, Inputs, Load, Place},
        search::Searchers,
        sink::Sink,
    },
};

/// Where nobody listens.
const REFUSING: &str = "http://127.0.0.1:1/";

/// What a function of an ordinary kind does: reads the payload, decides, and
/// adds something. The body stays as it was.
const LUA: &str = r#"
local json = require("json")
local event = json.decode(r.RequestBody)
if event.id == nil then
    r:StopForwarding()
    return
end
r:SetRequestHeader("X-Event", string.sub(event.id, 1, 10))
"#;

/// The same in JavaScript.
const JAVASCRIPT: &str = r#"
const event = JSON.parse(r.body);
if (event.id === undefined) r.stopForwarding();
else r.setHeader("X-Event", event.id.slice(0, 10));
"#;

/// A message for a chat, which says its number and its length as the sink wants it.
const MESSAGE: &str = r#"
const event = JSON.parse(r.body);
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const text = `*Event ${escaped(event.id)}*\n> ${escaped(event.text).slice(0, 300)}`;
const message = { id: event.id, size: event.size, text };
message.size = String(JSON.stringify(message).length).padStart(10, "0");
r.setBody(JSON.stringify(message));
r.setHeader("Content-Type", "application/json");
"#;

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    pub(crate) api: Api,
    /// Where its dashboard is, if it has one.
    pub(crate) dashboard: Option<SocketAddr>,
    /// Kept open, so that the server can go on printing.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Starts on a data folder, with these variables and defaults otherwise.
    pub(crate) fn start(
        context: &Context,
        folder: &Path,
        variables: &[(&str, &str)],
    ) -> Outcome<Self> {
        let log = folder.join("server.log");
        let mut command = Command::new(&context.server);
        command
            .env_clear()
            .env("WEBHOOK_LISTEN", "127.0.0.1:0")
            .env("WEBHOOK_DATA_DIR", folder)
            .env("WEBHOOK_ALLOW_PRIVATE_DESTINATIONS", "true")
            .env("WEBHOOK_API_KEY", KEY)
            .envs(context.variables.iter().chain(variables).copied())
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(&log)?);
        let mut process = Process::spawn(&mut command)?;
        let mut stdout = process.stdout()?;
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let Some(address) = line.trim().strip_prefix("listening on http://") else {
            let log = std::fs::read_to_string(&log).unwrap_or_default();
            return Err(format!("the server did not start\n{log}").into());
        };
        let address = address.parse()?;
        let dashboard = match variables.contains(&dashboard::LISTEN) {
            true => Some(dashboard_address(&mut stdout)?),
            false => None,
        };
        Ok(Self { process, address, dashboard, api: Api(address), _stdout: stdout })
    }
}

/// What the server prints of its dashboard.
fn dashboard_address(stdout: &mut impl BufRead) -> Outcome<SocketAddr> {
    let mut line = String::new();
    stdout.read_line(&mut line)?;
    let address = line.strip_prefix("dashboard at http://").and_then(|it| it.split('/').next());
    Ok(address.ok_or_else(|| format!("no dashboard: {line}"))?.parse()?)
}

/// Starts a server with one bucket, or many, that forward to the sink.
pub(super) fn start(context: &Context, load: &Load, sink: &Sink) -> Outcome<Started> {
    let folder = context.scratch()?;
    let (server, paths) = match load.inputs {
        Inputs::Buckets(_) | Inputs::Many => {
            let seeded = match load.inputs {
                Inputs::Buckets(buckets) => Seed::Buckets.make(context, buckets)?,
                _ => Seed::Inputs.make(context, context.scale.inputs)?,
            };
            seeded.copy_to(folder.path(), &sink.url(0))?;
            let server = Server::start(context, folder.path(), &[])?;
            (server, seeded.inputs.iter().map(|input| input_path(input)).collect())
        }
        Inputs::Archives => {
            let seeded = Seed::Archives.make(context, context.scale.archived)?;
            seeded.copy_to(folder.path(), &sink.url(0))?;
            let keep = ("WEBHOOK_LOG_RETENTION", "forever");
            let server = Server::start(context, folder.path(), &[keep])?;
            let (bucket, input) = server.api.bucket("load")?;
            outputs(&server.api, &bucket, load, sink, &Value::Null)?;
            (server, vec![input_path(&input)])
        }
        Inputs::One => {
            let variables: &[_] = if load.watchers > 0 { &[dashboard::LISTEN] } else { &[] };
            let server = Server::start(context, folder.path(), variables)?;
            if let Some(address) = server.dashboard {
                let visitor = Visitor::sign_in(address)?;
                for _ in 0..load.watchers {
                    visitor.watch()?;
                }
            }
            let (bucket, input) = server.api.bucket("load")?;
            let (mut of_input, mut of_output) = (Value::Null, Value::Null);
            if let Some((place, code)) = load.function {
                let Some(function) = function(&server.api, code)? else {
                    let reason = "this server does not run functions";
                    return Ok(Started::Skipped(reason.to_owned()));
                };
                match place {
                    Place::Input => of_input = function,
                    Place::Output => of_output = function,
                }
            }
            outputs(&server.api, &bucket, load, sink, &of_output)?;
            if load.answer_from_output || !of_input.is_null() || load.secret.is_some() {
                let path = format!("/v1/buckets/{}/inputs/{input}", text(&bucket["id"])?);
                let mut spec = json!({ "function_id": of_input });
                if load.answer_from_output {
                    spec["response_from_output"] = "anyOutput".into();
                }
                if let Some(secret) = load.secret {
                    let secrets = [json!({ "secret": secret })];
                    spec["signature"] = json!({ "provider": "github", "secrets": secrets });
                }
                server.api.json("PUT", &path, Some(&spec))?;
            }
            (server, vec![input_path(&input)])
        }
    };
    Ok(Started::Target(Box::new(Target {
        address: server.address,
        api: Some(server.api),
        searchers: load.searching.then(|| Searchers::start(server.address)),
        schema: None,
        paths,
        running: Running::Server(server),
        _folder: folder,
    })))
}

/// Starts a server on a schema of its own.
pub(super) fn start_on_postgres(context: &Context, load: &Load, sink: &Sink) -> Outcome<Started> {
    let Some(schema) = Schema::create(context.postgres.as_deref())? else {
        return Ok(Started::Skipped(postgres::SKIPPED.to_owned()));
    };
    let folder = context.scratch()?;
    let url = schema.url();
    let server = Server::start(context, folder.path(), &[("WEBHOOK_DATABASE_URL", &*url)])?;
    let buckets = if let Inputs::Buckets(buckets) = load.inputs { buckets } else { 1 };
    let mut paths = Vec::with_capacity(buckets);
    for number in 0..buckets {
        let (bucket, input) = server.api.bucket(&format!("load-{number}"))?;
        outputs(&server.api, &bucket, load, sink, &Value::Null)?;
        paths.push(input_path(&input));
    }
    Ok(Started::Target(Box::new(Target {
        address: server.address,
        api: Some(server.api),
        searchers: None,
        schema: Some(schema),
        paths,
        running: Running::Server(server),
        _folder: folder,
    })))
}

fn outputs(api: &Api, bucket: &Value, load: &Load, sink: &Sink, function: &Value) -> Outcome<()> {
    let live = (0..load.outputs).map(|number| sink.url(number));
    let refusing = load.refusing.then(|| REFUSING.to_owned());
    let hanging = load.hanging.then(|| sink.hanging_url());
    let throttle = load.throttled.then(
        || json!({ "enabled": true, "mode": "concurrency", "max_concurrent": load.connections }),
    );
    for (number, destination) in live.chain(refusing).chain(hanging).enumerate() {
        let name = format!("output-{number}");
        let mut spec = json!({ "name": name, "destination": destination, "function_id": function });
        if let Some(throttle) = &throttle {
            spec["throttle"] = throttle.clone();
        }
        api.output(bucket, &spec)?;
    }
    Ok(())
}

/// The ID of a function; none when the server has no functions.
fn function(api: &Api, code: Code) -> Outcome<Option<Value>> {
    let (driver, source) = match code {
        Code::Lua => ("lua", LUA),
        Code::LuaIf => ("lua", "if r.RequestMethod ~= \"POST\" then r:StopForwarding() end"),
        Code::JavaScript => ("js", JAVASCRIPT),
        Code::JavaScriptIf => ("js", "if (r.method !== \"POST\") r.stopForwarding();"),
        Code::JavaScriptMessage => ("js", MESSAGE),
    };
    let spec = json!({ "name": "load", "driver": driver, "payload": source });
    match api.call("POST", "/v1/functions", Some(&spec))? {
        (404, _) => Ok(None),
        (201, body) => Ok(Some(serde_json::from_str::<Value>(&body)?["id"].clone())),
        (status, body) => Err(format!("POST /v1/functions: {status} {body}").into()),
    }
}
