//! What a server has, asked for.

use http::Method;
use serde_json::Value;
use webhook_manifest::Answers;

use crate::{agent::Api, failure::Failure};

pub(super) async fn fetch(api: &Api) -> Result<Answers, Failure> {
    let mut answers = Answers {
        functions: list(api, "/v1/functions").await?,
        domains: list(api, "/v1/domains").await?,
        buckets: list(api, "/v1/buckets").await?,
        crons: list(api, "/v1/crons").await?,
        ..Answers::default()
    };
    for function in &answers.functions {
        let id = function["id"].as_str().unwrap_or_default();
        let variables = list(api, &format!("/v1/functions/{id}/config")).await?;
        answers.variables.insert(id.to_owned(), variables);
    }
    Ok(answers)
}

async fn list(api: &Api, path: &str) -> Result<Vec<Value>, Failure> {
    match api.json(Method::GET, path, None).await? {
        Value::Array(items) => Ok(items),
        _ => Err(Failure::new(format!("GET {path}: the server's answer is not a list"))),
    }
}
