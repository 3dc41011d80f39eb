//! The management operations of the server, as anybody would call them.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::{Value, json};

use crate::Outcome;

/// The API key of every server that the harness starts.
pub const KEY: &str = "sk-0123456789abcdefghijklmnopqrstuv";

/// The API key of one of several accounts, of which the first has [`KEY`].
pub fn key_of(account: usize) -> String {
    match account {
        0 => KEY.to_owned(),
        _ => format!("{}{account:02}", &KEY[..KEY.len() - 2]),
    }
}

const PATIENCE: Duration = Duration::from_secs(60);

/// A server's address.
#[derive(Clone, Copy, Debug)]
pub struct Api(pub SocketAddr);

impl Api {
    /// The status and the body of an answer, over a connection of its own.
    pub fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Outcome<(u16, String)> {
        self.call_as(KEY, method, path, body)
    }

    /// The same with another API key.
    pub fn call_as(
        &self,
        key: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Outcome<(u16, String)> {
        let mut stream = TcpStream::connect(self.0)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {key}\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.0,
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").ok_or("no answer")?;
        let status = head.split_whitespace().nth(1).ok_or("no status")?.parse()?;
        Ok((status, body.to_owned()))
    }

    /// The JSON of a 2xx answer.
    pub fn json(&self, method: &str, path: &str, body: Option<&Value>) -> Outcome<Value> {
        match self.call(method, path, body)? {
            (200..=299, body) => Ok(serde_json::from_str(&body)?),
            (status, body) => Err(format!("{method} {path}: {status} {body}").into()),
        }
    }

    /// A new bucket, and the ID of its input.
    pub fn bucket(&self, name: &str) -> Outcome<(Value, String)> {
        let bucket = self.json("POST", "/v1/buckets", Some(&json!({ "name": name })))?;
        let input = text(&bucket["inputs"][0]["id"])?.to_owned();
        Ok((bucket, input))
    }

    /// A new output of this bucket, as it was answered.
    pub fn output(&self, bucket: &Value, spec: &Value) -> Outcome<Value> {
        let path = format!("/v1/buckets/{}/outputs", text(&bucket["id"])?);
        self.json("POST", &path, Some(spec))
    }

    /// Deliveries that wait for an attempt or its end.
    pub fn pending(&self) -> Outcome<u64> {
        let (_, metrics) = self.call("GET", "/metrics", None)?;
        let line = metrics.lines().find_map(|l| l.strip_prefix("webhook_pending_deliveries "));
        Ok(line.ok_or("the server does not count what is pending")?.trim().parse()?)
    }
}

/// Where webhooks of this input go.
pub fn input_path(input: &str) -> String {
    format!("/v1/webhooks/{input}")
}

/// A text, such as an ID.
pub fn text(value: &Value) -> Outcome<&str> {
    value.as_str().ok_or_else(|| format!("{value} is no text").into())
}
