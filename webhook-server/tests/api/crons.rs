//! `/v1/crons`

use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Server, id},
    token,
};

const PATH: &str = "/v1/crons";
const HOOK: &str = "https://example.com/hook";

fn spec() -> Value {
    json!({ "name": "nightly", "schedule": "0 3 1 1 *", "destination": HOOK })
}

fn with(field: &str, value: Value) -> Value {
    let mut spec = spec();
    spec[field] = value;
    spec
}

async fn create(server: &Server, spec: &Value) -> Value {
    server.request("POST", PATH).json(spec).send().await.expect(201).json()
}

async fn update(server: &Server, cron: &Value, spec: &Value) -> Value {
    let path = format!("{PATH}/{}", id(cron));
    server.request("PUT", &path).json(spec).send().await.expect(200).json()
}

#[tokio::test]
async fn a_cron_is_made_read_changed_and_deleted() {
    let server = Server::start().await;
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([]));
    let cron = create(&server, &spec()).await;
    for (field, value) in [
        ("name", json!("nightly")),
        ("enabled", json!(true)),
        ("recurring", json!(true)),
        ("schedule", json!("0 3 1 1 *")),
        ("timezone", json!("UTC")),
        ("method", json!("POST")),
        ("destination", json!(HOOK)),
        ("payload", json!("")),
        ("headers", json!({})),
        ("function_id", json!("")),
    ] {
        assert_eq!(cron[field], value, "{field}");
    }
    for field in ["starts_at", "ends_at"] {
        assert!(cron.get(field).is_none(), "{field} is unset");
    }
    for field in ["next_run", "created_at", "updated_at"] {
        let moment = cron[field].as_str().expect("RFC 3339");
        assert!(moment.starts_with("20") && moment.ends_with('Z'), "{moment}");
    }
    assert!(cron["next_run"].as_str().is_some_and(|next| next.ends_with("-01-01T03:00:00Z")));

    let bucket = &cron["bucket"];
    assert_eq!((&bucket["name"], &bucket["cron_id"]), (&json!("nightly"), &cron["id"]));
    let output = &bucket["outputs"][0];
    assert_eq!((&output["destination"], &output["cron_id"]), (&json!(HOOK), &cron["id"]));
    let read = server.get(&format!("/v1/buckets/{}", id(bucket))).await.expect(200).json();
    assert_eq!(&read, bucket);
    let path = format!("{PATH}/{}", id(&cron));
    assert_eq!(server.get(&path).await.expect(200).json(), cron);
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([cron]));

    let elsewhere = "https://example.com/elsewhere";
    let spec = json!({
        "schedule": "@every 90m",
        "timezone": "europe/berlin",
        "method": "put",
        "destination": elsewhere,
        "payload": "{}",
        "headers": {"x-one": "1"},
        "starts_at": "2100-01-01T00:00:00+01:00",
        "ends_at": "2100-02-01T00:00:00Z",
        "next_run": "2001-01-01T00:00:00Z",
        "bucket": {"name": "other"},
        "id": "",
    });
    let changed = update(&server, &cron, &spec).await;
    for (field, value) in [
        ("id", &cron["id"]),
        ("name", &json!("nightly")),
        ("timezone", &json!("Europe/Berlin")),
        ("method", &json!("PUT")),
        ("headers", &json!({"X-One": ["1"]})),
        ("starts_at", &json!("2099-12-31T23:00:00Z")),
        ("ends_at", &json!("2100-02-01T00:00:00Z")),
        ("next_run", &json!("2099-12-31T23:00:00Z")),
        ("created_at", &cron["created_at"]),
    ] {
        assert_eq!(&changed[field], value, "{field}");
    }
    assert_eq!(changed["bucket"]["outputs"][0]["destination"], elsewhere);
    assert_eq!(changed["bucket"]["outputs"][0]["id"], output["id"]);
    assert_eq!(changed["bucket"]["name"], "nightly");

    let deleted = server.request("DELETE", &path).send().await.expect(204);
    assert!(deleted.body.is_empty());
    for method in ["GET", "DELETE"] {
        server.request(method, &path).send().await.expect_error(404, "cron not found");
    }
    server.request("PUT", &path).json(&spec).send().await.expect_error(404, "cron not found");
    server.get(&format!("/v1/buckets/{}", id(bucket))).await.expect_error(404, "bucket");
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([]));
}

#[tokio::test]
async fn what_go_clients_send_for_unset_is_unset() {
    let server = Server::start().await;
    let zero = "0001-01-01T00:00:00Z";
    let mut junk = spec();
    for (field, value) in [
        ("id", json!("")),
        ("created_at", json!(zero)),
        ("starts_at", json!(zero)),
        ("ends_at", json!("")),
        ("next_run", json!(zero)),
        ("headers", Value::Null),
        ("timezone", json!("")),
        ("method", json!("")),
        ("bucket", json!({"id": "", "inputs": null})),
    ] {
        junk[field] = value;
    }
    let cron = create(&server, &junk).await;
    assert!(cron.get("starts_at").is_none() && cron.get("ends_at").is_none());
    assert_eq!((&cron["timezone"], &cron["method"]), (&json!("UTC"), &json!("POST")));
}

#[tokio::test]
async fn bad_input_names_the_field() {
    let server = Server::start().await;
    let cron = create(&server, &spec()).await;
    let path = format!("{PATH}/{}", id(&cron));
    for (field, value, said) in [
        ("schedule", json!(""), "schedule: must not be empty"),
        ("schedule", json!("* * * *"), "schedule: must have five fields"),
        ("schedule", json!("60 * * * *"), "schedule: minute: 60 is not from 0 to 59"),
        ("schedule", json!("* 24 * * *"), "schedule: hour: 24"),
        ("schedule", json!("* * 0 * *"), "schedule: day of month: 0"),
        ("schedule", json!("* * * FOO *"), "schedule: month: \"FOO\""),
        ("schedule", json!("* * * * 8"), "schedule: day of week: 8"),
        ("schedule", json!("0 0 31 2 *"), "schedule: day of month: 31 never comes in the month 2"),
        ("schedule", json!("@fortnightly"), "schedule: \"@fortnightly\""),
        ("schedule", json!("@every soon"), "schedule: @every: \"soon\""),
        ("schedule", json!("@every 0s"), "schedule: @every: the period must be whole seconds"),
        ("schedule", json!(7), "schedule: "),
        ("timezone", json!("Mars/Phobos"), "timezone: \"Mars/Phobos\""),
        ("method", json!("TRACE"), "method: "),
        ("method", json!("GE T"), "method: "),
        ("destination", json!(""), "destination: must not be empty"),
        ("destination", json!("example.com"), "destination: "),
        ("destination", json!("ftp://example.com"), "destination: "),
        ("payload", json!("x".repeat((256 << 10) + 1)), "payload: "),
        ("payload", json!({}), "payload: "),
        ("headers", json!({"bad name": "x"}), "headers"),
        ("headers", json!({"Content-Length": "1"}), "headers.Content-Length: "),
        ("headers", json!({"Host": "example.com"}), "headers.Host: "),
        ("function_id", json!("x"), "function_id: "),
        ("function_id", json!(NOBODY), "function_id: the account has no function"),
        ("starts_at", json!("tomorrow"), "starts_at: \"tomorrow\""),
        ("ends_at", json!(1), "ends_at: "),
        ("name", json!(" x"), "name: "),
        ("enabled", json!("yes"), "enabled: "),
        ("recurring", json!(1), "recurring: "),
    ] {
        let spec = with(field, value);
        server.request("POST", PATH).json(&spec).send().await.expect_error(400, said);
        server.request("PUT", &path).json(&spec).send().await.expect_error(400, said);
    }
    let mut reversed = with("starts_at", json!("2100-01-02T00:00:00Z"));
    reversed["ends_at"] = json!("2100-01-01T00:00:00Z");
    let said = "ends_at: must not be before starts_at";
    server.request("POST", PATH).json(&reversed).send().await.expect_error(400, said);
    for body in ["[]", "", "{"] {
        server.request("POST", PATH).body(body).send().await.expect_error(400, "body: ");
    }
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([cron]), "nothing has changed");
    assert_eq!(server.get("/v1/buckets").await.expect(200).json(), json!([cron["bucket"]]));
}

#[tokio::test]
async fn answers_repeat_the_schedule_and_show_its_zone() {
    let server = Server::start().await;
    for (schedule, zone, shown) in [
        ("TZ=europe/berlin 0 9 * * 5#2", "", "Europe/Berlin"),
        ("CRON_TZ=Asia/Tokyo  30 0 9 LW * ?", "UTC", "Asia/Tokyo"),
    ] {
        let mut spec = with("schedule", json!(schedule));
        spec["timezone"] = json!(zone);
        spec["name"] = json!(shown);
        let cron = create(&server, &spec).await;
        assert_eq!((&cron["schedule"], &cron["timezone"]), (&json!(schedule), &json!(shown)));
        // A client can write back the cron that it read.
        assert_eq!(update(&server, &cron, &cron).await["next_run"], cron["next_run"]);
    }
    let mut spec = with("schedule", json!("TZ=Asia/Tokyo @daily"));
    spec["timezone"] = json!("Europe/London");
    let request = server.request("POST", PATH).json(&spec);
    request.send().await.expect_error(400, "timezone: the schedule begins with TZ=Asia/Tokyo");
}

#[tokio::test]
async fn bounds_are_400() {
    let options = [
        ("WEBHOOK_MAX_CRONS", "2"),
        ("WEBHOOK_MAX_BUCKETS", "2"),
        ("WEBHOOK_MIN_CRON_PERIOD", "5m"),
        ("WEBHOOK_MAX_CRON_PAYLOAD_BYTES", "4"),
    ];
    let server = Server::start_with(&options).await;
    for (field, value) in [
        ("schedule", "@every 299s"),
        ("schedule", "*/4 * * * *"),
        ("schedule", "58,1 * * * *"),
        ("schedule", "*/30 0 * * * *"),
        ("payload", "five!"),
    ] {
        let request = server.request("POST", PATH).json(&with(field, json!(value)));
        request.send().await.expect_error(400, &format!("{field}: "));
    }
    let first = create(&server, &with("schedule", json!("*/5 * * * *"))).await;
    create(&server, &with("schedule", json!("@every 5m"))).await;
    let third = || server.request("POST", PATH).json(&spec());
    third().send().await.expect_error(400, "crons: the account has all of its 2");
    let path = format!("{PATH}/{}", id(&first));
    server.request("DELETE", &path).send().await.expect(204);
    server.bucket("one more").await;
    third().send().await.expect_error(400, "buckets: the account has all of its 2");
}

#[tokio::test]
async fn what_does_not_run_has_no_next_run() {
    let server = Server::start().await;
    let disabled = create(&server, &with("enabled", json!(false))).await;
    assert!(disabled.get("next_run").is_none());
    let over = create(&server, &with("ends_at", json!("2001-01-01T00:00:00Z"))).await;
    assert!(over.get("next_run").is_none());
    let enabled = update(&server, &disabled, &spec()).await;
    assert!(enabled["next_run"].is_string());
    let disabled = update(&server, &enabled, &with("enabled", json!(false))).await;
    assert!(disabled.get("next_run").is_none());
}

#[tokio::test]
async fn the_bucket_has_a_free_name() {
    let server = Server::start().await;
    server.bucket("nightly").await;
    let named = create(&server, &spec()).await;
    let unnamed = create(&server, &with("name", Value::Null)).await;
    for (cron, start) in [(named, "nightly-"), (unnamed, "cron-")] {
        let name = cron["bucket"]["name"].as_str().expect("a name");
        let tail = name.strip_prefix(start).expect(name);
        assert!(id(&cron).ends_with(tail) && tail.len() == 12, "{name}");
    }
}

#[tokio::test]
async fn a_cron_goes_with_its_bucket_and_gets_its_output_back() {
    let server = Server::start().await;
    let cron = create(&server, &spec()).await;
    let bucket = format!("/v1/buckets/{}", id(&cron["bucket"]));
    server.request("DELETE", &bucket).send().await.expect_error(412, "force=true");
    let output = format!("{bucket}/outputs/{}", id(&cron["bucket"]["outputs"][0]));
    server.request("DELETE", &output).send().await.expect(200);
    let changed = update(&server, &cron, &spec()).await;
    assert_eq!(changed["bucket"]["outputs"][0]["destination"], HOOK);
    assert_ne!(changed["bucket"]["outputs"][0]["id"], cron["bucket"]["outputs"][0]["id"]);
    let again = update(&server, &cron, &spec()).await;
    assert_eq!(again["bucket"]["outputs"], changed["bucket"]["outputs"]);

    server.request("DELETE", &format!("{bucket}?force=true")).send().await.expect(200);
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([]));
    let path = format!("{PATH}/{}", id(&cron));
    server.get(&path).await.expect_error(404, "cron not found");
}

#[tokio::test]
async fn crons_are_the_accounts_own_and_closed_to_scoped_tokens() {
    let mut server = Server::start().await;
    let cron = create(&server, &spec()).await;
    let path = format!("{PATH}/{}", id(&cron));
    for method in ["GET", "POST"] {
        server.anonymous(method, PATH).send().await.expect_error(401, "unauthorized");
    }
    for restricted in [json!({"scopes": {"buckets": ["nightly"]}}), json!({"api_access": 1})] {
        let credential = token(&server, restricted).await;
        for (method, path) in
            [("GET", PATH), ("POST", PATH), ("GET", &path), ("PUT", &path), ("DELETE", &path)]
        {
            let request = server.anonymous(method, path).header("authorization", &credential);
            request.json(&spec()).send().await.expect_error(403, "forbidden");
        }
    }
    server.terminate().await;
    let second = format!("Bearer {}", server.account("second").await);
    let server = server.restart().await;
    let theirs = |method: &'static str, path: &str| {
        server.anonymous(method, path).header("authorization", &second).json(&spec())
    };
    assert_eq!(theirs("GET", PATH).send().await.expect(200).json(), json!([]));
    for method in ["GET", "PUT", "DELETE"] {
        theirs(method, &path).send().await.expect_error(404, "cron not found");
        theirs(method, "/v1/crons/no-id").send().await.expect_error(404, "not found");
    }
    assert_eq!(server.get(&path).await.expect(200).json(), cron);
}
