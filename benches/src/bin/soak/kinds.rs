//! The kinds of webhooks, each with a bucket of its own, and ten crons.

use std::net::SocketAddr;

use benches::{
    Outcome,
    api::{Api, input_path, text},
};
use serde_json::{Value, json};

/// The names of the kinds, which are the paths at the sink, too.
pub(crate) const KINDS: [&str; 7] =
    ["plain", "lua", "js", "duplicates", "throttled", "in-order", "failing"];

/// The kind of a webhook, by its number.
pub(crate) fn kind(number: u64) -> usize {
    (number % KINDS.len() as u64) as usize
}

/// Its name.
pub(crate) fn name(number: u64) -> &'static str {
    KINDS[kind(number)]
}

/// A kind: each of its webhooks is sent twice.
pub(crate) const DUPLICATES: usize = 3;

const LUA: &str = "r:SetRequestHeader('X-Length', tostring(#r.RequestBody)) \
                   cfg:GetValue('none') local t = {} for i = 1, 500 do t[i] = {i} end";
const JS: &str = "const all = []; for (let i = 0; i < 500; i++) all.push({ i }); \
                  r.setHeader('X-Length', String(all.length));";
const CRONS: usize = 10;

/// Makes everything at the server; the path of the input of each kind.
pub(crate) fn configure(api: Api, sink: SocketAddr) -> Outcome<Vec<String>> {
    let function = |driver: &str, payload: &str| {
        let spec = json!({ "name": driver, "driver": driver, "payload": payload });
        let function = api.json("POST", "/v1/functions", Some(&spec))?;
        Outcome::Ok(text(&function["id"])?.to_owned())
    };
    let (lua, js) = (function("lua", LUA)?, function("js", JS)?);
    let mut inputs = Vec::new();
    for kind in KINDS {
        let (bucket, input) = api.bucket(kind)?;
        let mut output = json!({ "name": kind, "destination": format!("http://{sink}/{kind}") });
        match kind {
            "lua" => output["function_id"] = json!(lua),
            "js" => output["function_id"] = json!(js),
            "throttled" => {
                output["throttle"] = json!({ "enabled": true, "mode": "rate", "rate": 1_000,
                    "interval": "second" });
            }
            "in-order" => {
                output["throttle"] = json!({ "enabled": true, "mode": "concurrency",
                    "max_concurrent": 1 });
            }
            "failing" => output["retries"] = json!(-1),
            _ => {}
        }
        api.output(&bucket, &output)?;
        if kind == KINDS[DUPLICATES] {
            let path = format!("/v1/buckets/{}/inputs/{input}", text(&bucket["id"])?);
            let spec: Value = json!({ "deduplication": { "window": 600_000_000_000_u64,
                "key": [{ "source": "payload", "name": "id" }] } });
            api.json("PUT", &path, Some(&spec))?;
        }
        inputs.push(input_path(&input));
    }
    for number in 0..CRONS {
        let cron = json!({ "name": format!("cron {number}"), "schedule": "@every 1s",
            "destination": format!("http://{sink}/cron"), "payload": "{}" });
        api.json("POST", "/v1/crons", Some(&cron))?;
    }
    Ok(inputs)
}
