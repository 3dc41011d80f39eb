//! The tools: each an operation of the interface, and what explains a webhook, which is several.

use http::Method;
use serde_json::{Map, Value, json};
use webhook_manifest::is_secret;

use crate::agent::{Api, escaped};

/// The longest text of a webhook or a run that is shown, in characters: an assistant reads all of
/// what it is given.
const MAX_TEXT: usize = 20_000;

/// Something that an assistant may ask for.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    description: &'static str,
    /// Whether it sends or runs anything.
    pub(super) writes: bool,
    parameters: &'static [Parameter],
    does: Does,
}

#[derive(Debug)]
struct Parameter {
    name: &'static str,
    description: &'static str,
    kind: Kind,
    required: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Count,
    Object,
}

#[derive(Debug)]
enum Does {
    /// Reads this path; parameters take the place of their names in it or become its query.
    Get(&'static str),
    /// Sends what is left of the parameters as the body.
    Post(&'static str),
    Explain,
}

const fn text(name: &'static str, description: &'static str) -> Parameter {
    Parameter { name, description, kind: Kind::Text, required: false }
}

const fn id(description: &'static str) -> Parameter {
    Parameter { name: "id", description, kind: Kind::Text, required: true }
}

const fn limit() -> Parameter {
    let description = "How many, 1 to 100; 25 when it is not said";
    Parameter { name: "limit", description, kind: Kind::Count, required: false }
}

/// A part of a list of configured things.
const PAGE: &[Parameter] = &[
    Parameter {
        name: "limit",
        description: "How many; all when it is not said",
        kind: Kind::Count,
        required: false,
    },
    Parameter {
        name: "offset",
        description: "How many to skip",
        kind: Kind::Count,
        required: false,
    },
];

const fn read(
    name: &'static str,
    description: &'static str,
    parameters: &'static [Parameter],
    path: &'static str,
) -> Tool {
    Tool { name, description, writes: false, parameters, does: Does::Get(path) }
}

pub(super) static ALL: &[Tool] = &[
    read("list_buckets", "Lists the buckets with their inputs and outputs.", PAGE, "/v1/buckets"),
    read("list_functions", "Lists the functions with their sources.", PAGE, "/v1/functions"),
    read("list_crons", "Lists the crons and when they run next.", PAGE, "/v1/crons"),
    read(
        "list_webhooks",
        "Lists the logs of webhooks, newest first: one for each output that a webhook went to.",
        &[
            text("bucket", "The bucket's name or ID"),
            text("status", "received, sent, failed, rejected, …"),
            text("from", "The first moment: YYYY-MM-DD, RFC 3339 or unix seconds"),
            text("to", "The last moment"),
            text("cursor", "The next_cursor of the page before"),
            limit(),
        ],
        "/v1/logs",
    ),
    read(
        "get_webhook",
        "Reads one log, with request and answer.",
        &[id("The log's ID")],
        "/v1/logs/{id}",
    ),
    Tool {
        name: "explain_webhook",
        description: "Says what became of a webhook and why: the verdict, what decided, each attempt; its \
            log, the output as it is now, and the runs of its functions.",
        writes: false,
        parameters: &[id("The log's ID")],
        does: Does::Explain,
    },
    read(
        "count_webhooks",
        "Counts webhooks by day and status.",
        &[
            text("bucket", "The bucket's name or ID"),
            text("from", "The first day"),
            text("to", "The last day"),
        ],
        "/v1/logs-stats",
    ),
    read(
        "list_runs",
        "Lists the runs of a function, newest first, with what they were given, left and printed.",
        &[id("The function's ID"), limit()],
        "/v1/functions/{id}/logs",
    ),
    Tool {
        name: "replay_webhook",
        description: "Sends a webhook again. skip sends what was sent; force runs rules and functions anew.",
        writes: true,
        parameters: &[
            id("The log's ID"),
            text("output", "The ID of another output of the bucket"),
            text("process_policy", "skip, which is meant by nothing, or force"),
        ],
        does: Does::Post("/v1/logs/{id}/action"),
    },
    Tool {
        name: "test_function",
        description: "Runs a function once on a request that you give, and shows what it does. Nothing \
            is forwarded; requests that the function itself sends are sent, and values that it keeps are kept.",
        writes: true,
        parameters: &[
            id("The function's ID"),
            text("method", "POST unless set"),
            text("path", "What follows the input's address"),
            text("raw_query", "The query"),
            text("request_body", "The body"),
            Parameter {
                name: "headers",
                description: "Lists of values by name",
                kind: Kind::Object,
                required: false,
            },
        ],
        does: Does::Post("/v1/functions/{id}/invoke"),
    },
];

impl Tool {
    /// As `tools/list` answers it.
    pub(super) fn described(&self) -> Value {
        let properties: Map<_, _> = self
            .parameters
            .iter()
            .map(|parameter| {
                let kind = match parameter.kind {
                    Kind::Text => "string",
                    Kind::Count => "integer",
                    Kind::Object => "object",
                };
                let schema = json!({"type": kind, "description": parameter.description});
                (parameter.name.to_owned(), schema)
            })
            .collect();
        let required = self.parameters.iter().filter(|parameter| parameter.required);
        let required: Vec<_> = required.map(|parameter| parameter.name).collect();
        json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": !self.writes, "destructiveHint": false },
        })
    }

    /// Does it, or says why not.
    pub(super) async fn call(&self, api: &Api, arguments: &Value) -> Result<Value, String> {
        let arguments = self.checked(arguments)?;
        let id = arguments.get("id").and_then(Value::as_str).unwrap_or_default();
        let mut answer = match self.does {
            Does::Get(path) => {
                let mut path = path.replace("{id}", id);
                for (index, (name, value)) in
                    arguments.iter().filter(|(name, _)| *name != "id").enumerate()
                {
                    path.push(if index == 0 { '?' } else { '&' });
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    path.push_str(&format!("{name}={}", escaped(&value)));
                }
                ask(api, Method::GET, &path, None).await?
            }
            Does::Post(path) => {
                let mut body = arguments.clone();
                body.shift_remove("id");
                if self.name == "replay_webhook" {
                    body.insert("action".to_owned(), json!("resend"));
                }
                let path = path.replace("{id}", id);
                ask(api, Method::POST, &path, Some(&Value::Object(body))).await?
            }
            Does::Explain => explain(api, id).await?,
        };
        shorten(&mut answer);
        Ok(answer)
    }

    fn checked(&self, arguments: &Value) -> Result<Map<String, Value>, String> {
        let arguments = arguments.as_object().ok_or("arguments: must be an object")?;
        for (name, value) in arguments {
            let parameter = self.parameters.iter().find(|parameter| parameter.name == name);
            let Some(parameter) = parameter else {
                return Err(format!("{name}: {} has no such argument", self.name));
            };
            let (fits, wanted) = match parameter.kind {
                Kind::Text => (value.is_string(), "text"),
                Kind::Count => (value.is_u64(), "a whole number"),
                Kind::Object => (value.is_object(), "an object"),
            };
            if !fits {
                return Err(format!("{name}: must be {wanted}"));
            }
        }
        for parameter in self.parameters.iter().filter(|parameter| parameter.required) {
            // What goes into a path is an identifier and nothing else.
            let value = arguments.get(parameter.name).and_then(Value::as_str).unwrap_or_default();
            let is_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            if value.is_empty() || !value.bytes().all(is_id) {
                return Err(format!("{}: must be an ID", parameter.name));
            }
        }
        Ok(arguments.clone())
    }
}

/// A log with what is known about why it is as it is.
async fn explain(api: &Api, id: &str) -> Result<Value, String> {
    let log = ask(api, Method::GET, &format!("/v1/logs/{id}"), None).await?;
    let mut explained = json!({});
    explained["trace"] = ask(api, Method::GET, &format!("/v1/logs/{id}/trace"), None).await?;
    for (field, name) in [
        ("input_function_execution_id", "run_of_input_function"),
        ("output_function_execution_id", "run_of_output_function"),
    ] {
        let run = log[field].as_str().unwrap_or_default();
        if !run.is_empty() {
            // Runs are kept for less long than logs.
            let run = ask(api, Method::GET, &format!("/v1/exec-logs/{run}"), None).await;
            explained[name] = run.unwrap_or_else(Value::String);
        }
    }
    if let Some(bucket) = log["bucket_id"].as_str() {
        let bucket = ask(api, Method::GET, &format!("/v1/buckets/{bucket}"), None).await;
        if let Ok(bucket) = bucket {
            let outputs = bucket["outputs"].as_array().into_iter().flatten();
            let output = outputs.into_iter().find(|output| {
                output["id"].as_str().is_some_and(|id| log["output_id"].as_str() == Some(id))
            });
            explained["output_now"] = output.cloned().unwrap_or_default();
        }
    }
    explained["log"] = log;
    Ok(explained)
}

async fn ask(api: &Api, method: Method, path: &str, body: Option<&Value>) -> Result<Value, String> {
    api.json(method, path, body).await.map_err(|broken| broken.to_string())
}

/// Cuts long texts, and says so. Each text that an export has a variable for is hidden: credentials
/// of senders and destinations are of no use to an assistant.
fn shorten(value: &mut Value) {
    // A trace has a header's name in one field and its values in others.
    let is_secret =
        ["name", "header"].iter().any(|key| value[*key].as_str().is_some_and(is_secret));
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(MAX_TEXT) {
                let left = text[end..].chars().count();
                *text = format!("{}… ({left} characters more)", &text[..end]);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => {
            for (key, field) in fields {
                match self::is_secret(key)
                    || (is_secret && matches!(&**key, "value" | "from" | "to"))
                {
                    true => hide(field),
                    false => shorten(field),
                }
            }
        }
        _ => {}
    }
}

/// Puts a mark in the place of each text.
fn hide(value: &mut Value) {
    match value {
        Value::String(text) if !text.is_empty() => *value = json!("(secret)"),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(fields) => fields.values_mut().for_each(hide),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_export_hides_is_hidden() {
        let mut value = json!({
            "headers": {"X-Api-Key": ["k1"], "Cookie": ["c=k2"], "X-Gitlab-Token": ["k3"], "X-A": ["a"]},
            "auth": {"type": "aws_sigv4", "secret_access_key": "k4", "session_token": "k5", "username": "u"},
            "signature": {"secrets": [{"secret": "k6", "expires_at": 7}], "provider": "github"},
            "key": {"type": "gcp", "private_key": "k7"},
            "execute_request": {"header": {"Authorization": {"values": ["k8"]}}},
            "rules": {"match": {"type": "payload-hmac-sha1", "secret": "k9"}},
            "changes": [{"part": "header", "name": "X-Api-Key", "from": "k10", "to": "k11"},
                {"part": "header", "name": "X-A", "from": "b", "to": "c"}],
            "password": "", "token": null,
        });
        shorten(&mut value);
        let text = value.to_string();
        assert!((1..=11).all(|number| !text.contains(&format!("k{number}\""))), "{text}");
        for kept in ["\"a\"", "\"u\"", "\"github\"", "\"b\"", "\"c\"", "payload-hmac-sha1"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        assert_eq!((&value["password"], &value["token"]), (&json!(""), &Value::Null));
        assert_eq!(value["signature"]["secrets"][0]["expires_at"], 7);
    }
}
