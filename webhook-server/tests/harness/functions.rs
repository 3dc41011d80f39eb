//! Functions, and what came of webhooks.

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{PATIENCE, Server, default_input, id};

impl Server {
    /// A function of this source in Lua, as it was answered.
    pub(crate) async fn function(&self, source: &str) -> Value {
        self.function_of(json!({ "name": "f", "payload": source })).await
    }

    /// A function, as it was answered.
    pub(crate) async fn function_of(&self, spec: Value) -> Value {
        self.request("POST", "/v1/functions").json(&spec).send().await.expect(201).json()
    }

    /// Gives a function another source.
    pub(crate) async fn change_function(&self, function: &Value, source: &str) {
        let path = format!("/v1/functions/{}", id(function));
        let spec = json!({ "payload": source });
        self.request("PUT", &path).json(&spec).send().await.expect(200);
    }

    /// Sets what the bucket's default input is.
    pub(crate) async fn set_default_input(&self, bucket: &Value, spec: Value) {
        let path = format!("/v1/buckets/{}/inputs/{}", id(bucket), default_input(bucket));
        self.request("PUT", &path).json(&spec).send().await.expect(200);
    }

    /// Runs a function on a request.
    pub(crate) async fn invoke(&self, function: &Value, request: Value) -> Value {
        let path = format!("/v1/functions/{}/invoke", id(function));
        self.request("POST", &path).json(&request).send().await.expect(200).json()
    }

    /// The runs of a function, newest first.
    pub(crate) async fn runs(&self, function: &Value) -> Vec<Value> {
        let page = self.get(&format!("/v1/functions/{}/logs", id(function))).await;
        page.expect(200).json()["execute_logs"].as_array().expect("a list").clone()
    }

    /// Waits until there are so many logs and all of them are final; newest first.
    pub(crate) async fn ended_logs(&self, count: usize) -> Vec<Value> {
        let waiting = async {
            loop {
                let page = self.get("/v1/logs?limit=100").await.expect(200).json();
                let logs = page["data"].as_array().expect("a list").clone();
                let ended = |log: &Value| !["received", "preparing"].contains(&status(log));
                if logs.len() >= count && logs.iter().all(ended) {
                    return logs;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, waiting).await.expect("the webhooks end in time")
    }

    /// Sends the webhook of a log again.
    pub(crate) async fn resend(&self, log: &Value, policy: &str) -> super::Answer {
        let action = json!({ "action": "resend", "process_policy": policy });
        let path = format!("/v1/logs/{}/action", id(log));
        self.request("POST", &path).json(&action).send().await
    }
}

fn status(log: &Value) -> &str {
    log["status"].as_str().expect("a status")
}
