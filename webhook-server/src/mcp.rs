//! `mcp`: a server of the Model Context Protocol over standard input and output, so that a
//! person's assistant can look at webhooks with the person's credential.
//!
//! Messages are JSON-RPC 2.0, one on each line, as the specification's stdio transport says
//! (<https://modelcontextprotocol.io/specification/2025-06-18/basic/transports>). Each tool is an
//! operation of the public interface; without `--write` there are none that change or send
//! anything.

mod tools;

use std::{io, io::BufRead, sync::Arc, thread};

use serde_json::{Value, json};
use tokio::sync::mpsc;
use webhook_core::model::Secret;

use crate::{
    agent::{Access, Api},
    failure::Failure,
    print::print,
};
use tools::Tool;

/// The versions of the protocol that are spoken, the newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];
/// The longest message that is read.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// Codes of JSON-RPC 2.0.
const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;

/// Lets an assistant look at webhooks.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Mcp {
    /// Also offers tools that send webhooks again and run functions.
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    access: Access,
}

/// `mcp`, until standard input ends.
pub(crate) async fn run(options: Mcp, key: Option<Secret>) -> Result<(), Failure> {
    let Mcp { write, access } = options;
    let session = Session { api: Arc::new(access.api(key)?), write };
    // One message waits at most: the assistant writes no faster than it is answered.
    let (say, mut said) = mpsc::channel(1);
    let read = move || {
        let mut input = io::stdin().lock();
        while let Some(line) = line(&mut input).transpose() {
            let is_over = line.as_ref().is_err_and(|error| error.kind() != TOO_LONG);
            if say.blocking_send(line).is_err() || is_over {
                return;
            }
        }
    };
    // Not of the runtime, which would wait for its next line at the end.
    let started = thread::Builder::new().name("mcp-input".to_owned()).spawn(read);
    started.map_err(|error| Failure::io("cannot start a thread", error))?;
    while let Some(line) = said.recv().await {
        let answer = match line {
            Ok(line) if line.trim_ascii().is_empty() => continue,
            Ok(line) => match serde_json::from_slice(&line) {
                Ok(message) => session.answer(message).await,
                Err(error) => Some(failed(Value::Null, PARSE_ERROR, error.to_string())),
            },
            Err(error) if error.kind() == TOO_LONG => {
                Some(failed(Value::Null, INVALID_REQUEST, error.to_string()))
            }
            Err(error) => return Err(Failure::io("cannot read standard input", error)),
        };
        if let Some(answer) = answer {
            print(&format!("{answer}\n"))?;
        }
    }
    Ok(())
}

/// What a message that is too long is told by.
const TOO_LONG: io::ErrorKind = io::ErrorKind::InvalidData;

/// The next line; of one that is too long the rest is read and forgotten.
fn line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let (mut line, mut too_long) = (Vec::new(), false);
    loop {
        let part = input.fill_buf()?;
        if part.is_empty() {
            return Ok((!line.is_empty()).then_some(line));
        }
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(part.len(), |end| end + 1);
        if line.len() + taken > MAX_MESSAGE_BYTES {
            too_long = true;
            line.clear();
        }
        if !too_long {
            line.extend_from_slice(&part[..taken]);
        }
        input.consume(taken);
        if end.is_some() {
            let reason = format!("the message is longer than {MAX_MESSAGE_BYTES} bytes");
            return match too_long {
                true => Err(io::Error::new(TOO_LONG, reason)),
                false => Ok(Some(line)),
            };
        }
    }
}

struct Session {
    api: Arc<Api>,
    write: bool,
}

impl Session {
    /// The answer to a message; a notification has none.
    async fn answer(&self, message: Value) -> Option<Value> {
        let Some(method) = message["method"].as_str() else {
            // An answer to something that was never asked, or no message at all.
            let is_answer = message.get("result").is_some() || message.get("error").is_some();
            let id = message.get("id").cloned().unwrap_or_default();
            return (!is_answer).then(|| failed(id, INVALID_REQUEST, "there is no method"));
        };
        let id = message.get("id").cloned()?;
        if !id.is_string() && !id.is_number() {
            let reason = "id must be a text or a number";
            return Some(failed(Value::Null, INVALID_REQUEST, reason));
        }
        let parameters = message.get("params").cloned().unwrap_or_else(|| json!({}));
        let result = match method {
            "initialize" => Ok(self.initialize(&parameters)),
            "ping" => Ok(json!({})),
            "tools/list" => {
                Ok(json!({ "tools": self.tools().map(Tool::described).collect::<Vec<_>>() }))
            }
            "tools/call" => self.call(&parameters).await,
            other => Err((METHOD_NOT_FOUND, format!("there is no method {other:?}"))),
        };
        Some(match result {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, reason)) => failed(id, code, reason),
        })
    }

    fn initialize(&self, parameters: &Value) -> Value {
        let asked = parameters["protocolVersion"].as_str().unwrap_or_default();
        let version = VERSIONS.into_iter().find(|version| *version == asked);
        let instructions = match self.write {
            true => {
                "Reads webhooks, buckets, functions and crons; sends webhooks again and runs functions."
            }
            false => "Reads webhooks, buckets, functions and crons. It changes nothing.",
        };
        json!({
            "protocolVersion": version.unwrap_or(VERSIONS[0]),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "webhook-server", "version": env!("CARGO_PKG_VERSION") },
            "instructions": instructions,
        })
    }

    fn tools(&self) -> impl Iterator<Item = &'static Tool> {
        let write = self.write;
        tools::ALL.iter().filter(move |tool| write || !tool.writes)
    }

    /// Calls a tool. What it is refused is a result for the assistant to read; what there is not
    /// is an error.
    async fn call(&self, parameters: &Value) -> Result<Value, (i64, String)> {
        let name = parameters["name"].as_str().unwrap_or_default();
        let known = tools::ALL.iter().find(|tool| tool.name == name);
        let tool = known.ok_or_else(|| (INVALID_PARAMS, format!("there is no tool {name:?}")))?;
        if tool.writes && !self.write {
            return Err((INVALID_PARAMS, format!("{name} needs webhook-server mcp --write")));
        }
        let none = json!({});
        let arguments = parameters.get("arguments").filter(|arguments| !arguments.is_null());
        let done = tool.call(&self.api, arguments.unwrap_or(&none)).await;
        let (text, is_error) = match done {
            Ok(value) => (format!("{value:#}"), false),
            Err(reason) => (reason, true),
        };
        Ok(json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
    }
}

fn failed(id: Value, code: i64, reason: impl Into<String>) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": { "code": code, "message": reason.into() }})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded() {
        let long = "x".repeat(MAX_MESSAGE_BYTES);
        let text = format!("one\n{long}\ntwo\nend");
        let mut input = text.as_bytes();
        assert_eq!(line(&mut input).expect("a line"), Some(b"one\n".to_vec()));
        let error = line(&mut input).expect_err("too long");
        assert!(error.to_string().contains("longer than 4194304 bytes"));
        assert_eq!(line(&mut input).expect("a line"), Some(b"two\n".to_vec()));
        assert_eq!(line(&mut input).expect("a line"), Some(b"end".to_vec()));
        assert_eq!(line(&mut input).expect("the end"), None);
    }
}
