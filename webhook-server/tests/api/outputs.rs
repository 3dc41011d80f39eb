//! `/v1/buckets/{id}/outputs`

use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Server, id},
};

const DESTINATION: &str = "http://127.0.0.1:9/hook";

fn path(bucket: &Value) -> String {
    format!("/v1/buckets/{}/outputs", id(bucket))
}

#[tokio::test]
async fn create_answers_the_whole_output() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let rules = json!({"match": {"type": "value", "value": "push",
        "parameter": {"source": "header", "name": "X-Event"}}});
    let spec = json!({
        "name": "ci",
        "description": "builds",
        "destination": DESTINATION,
        "headers": {"Host": "ci.example.com", "X-Token": ["t"]},
        "rules": rules,
        "internal": false,
        "disabled": true,
        "lock_path": true,
        "retries": -1,
        "timeout": 180,
        "tls_verification": false,
        "throttle": {"enabled": true, "mode": "concurrency", "rate": 0, "interval": "minute",
            "max_concurrent": 3, "max_queue_depth": 10, "deadline": 60_000_000_000_i64},
        "durability": {"enabled": true, "schedule": "custom",
            "custom_delays": [1_000_000_000_i64], "deadline": 3_600_000_000_000_i64,
            "handoff_after": 0},
        "replay_missing": {"enabled": false, "lookback": 60_000_000_000_i64, "limit": 5},
    });
    let output = server.output(&bucket, spec.clone()).await;
    for (field, value) in spec.as_object().expect("an object") {
        assert_eq!(
            output[field],
            match field.as_str() {
                "headers" => json!({"Host": ["ci.example.com"], "X-Token": ["t"]}),
                _ => value.clone(),
            },
            "{field}"
        );
    }
    assert_eq!(output["bucket_id"], bucket["id"]);
    let stored = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    assert_eq!(stored["outputs"], json!([output]));
}

#[tokio::test]
async fn defaults() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let output = server.output(&bucket, json!({"destination": DESTINATION, "rules": null})).await;
    assert_eq!(output["tls_verification"], true);
    assert_eq!(output["rules"], json!({}));
    assert_eq!(output["headers"], json!({}));
    assert_eq!(output["function_id"], "");
    assert_eq!(output["throttle"]["enabled"], false);
    assert_eq!(output["durability"]["schedule"], "long");
    let all = json!({"enabled": false, "lookback": 0, "limit": 0});
    assert_eq!(output["replay_missing"], all);
    assert_eq!((&output["retries"], &output["timeout"]), (&json!(0), &json!(0)));
}

#[tokio::test]
async fn only_internal_outputs_that_no_input_answers_from_replay() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let [outputs, inputs] =
        ["outputs", "inputs"].map(|kind| format!("/v1/buckets/{}/{kind}", id(&bucket)));
    let post = |path: &str, spec: Value| server.request("POST", path).json(&spec).send();
    let replay = json!({"enabled": true, "lookback": 3_600_000_000_000_i64, "limit": 10});
    let public = json!({"destination": DESTINATION, "replay_missing": replay});
    post(&outputs, public).await.expect_error(400, "replay_missing: ");
    let beyond = json!({"internal": true, "replay_missing": {"lookback": i64::MAX}});
    post(&outputs, beyond).await.expect_error(400, "replay_missing.lookback: ");
    let internal = json!({"name": "agent", "internal": true, "replay_missing": replay});
    let output = post(&outputs, internal.clone()).await.expect(201).json();
    assert_eq!(output["replay_missing"], replay);
    for from in [id(&output), "anyOutput"] {
        let input = json!({"response_from_output": from});
        post(&inputs, input).await.expect_error(400, "response_from_output: ");
    }
    let path = format!("{outputs}/{}", id(&output));
    let put = |spec: Value| server.request("PUT", &path).json(&spec).send();
    let output = put(json!({"internal": true})).await.expect(200).json();
    assert_eq!(output["replay_missing"]["enabled"], false, "PUT replaces");
    let input = json!({"response_from_output": id(&output)});
    post(&inputs, input).await.expect(201);
    put(internal).await.expect_error(400, "replay_missing: ");
}

#[tokio::test]
async fn create_refuses() {
    let server = Server::start_with(&[("WEBHOOK_MAX_OUTPUTS", "2")]).await;
    let bucket = server.bucket("b").await;
    let post = |path: String, spec: Value| server.request("POST", &path).json(&spec).send();
    let valid = json!({"name": "ci", "destination": DESTINATION});
    let missing = format!("/v1/buckets/{NOBODY}/outputs");
    post(missing, valid.clone()).await.expect_error(404, "bucket not found");
    post("/v1/buckets/b/outputs".into(), valid.clone()).await.expect_error(404, "not found");
    post(path(&bucket), json!({})).await.expect_error(400, "destination: ");
    let function = json!({"destination": DESTINATION, "function_id": NOBODY});
    post(path(&bucket), function).await.expect_error(400, "function_id: ");
    let function = json!({"destination": DESTINATION, "response_function_id": NOBODY});
    post(path(&bucket), function).await.expect_error(400, "response_function_id: ");

    post(path(&bucket), valid.clone()).await.expect(201);
    post(path(&bucket), valid).await.expect_error(412, "name");
    post(path(&bucket), json!({"internal": true})).await.expect(201);
    post(path(&bucket), json!({"internal": true})).await.expect_error(412, "2 outputs");
}

#[tokio::test]
async fn the_same_name_is_free_in_another_bucket() {
    let server = Server::start().await;
    for bucket in [server.bucket("a").await, server.bucket("b").await] {
        server.output(&bucket, json!({"name": "ci", "destination": DESTINATION})).await;
    }
}

#[tokio::test]
async fn private_destinations_are_refused_unless_allowed() {
    let server = Server::start_with(&[("WEBHOOK_ALLOW_PRIVATE_DESTINATIONS", "10.0.0.0/8")]).await;
    let bucket = server.bucket("b").await;
    server.output(&bucket, json!({"destination": "http://10.1.2.3/hook"})).await;
    for destination in [
        "http://127.0.0.1/",
        "http://localhost:3000/",
        "http://[::1]/",
        "http://192.168.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
    ] {
        let spec = json!({"destination": destination});
        let refused = server.request("POST", &path(&bucket)).json(&spec).send().await;
        refused.expect_error(400, "destination: ");
    }
}

#[tokio::test]
async fn update_replaces() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let output = server
        .output(&bucket, json!({"name": "old", "destination": DESTINATION, "retries": 5}))
        .await;
    let path = format!("{}/{}", path(&bucket), id(&output));
    let body = json!({"destination": "http://127.0.0.1:10/", "tls_verification": null});
    let updated = server.request("PUT", &path).json(&body).send().await.expect(200).json();
    assert_eq!(updated["name"], "old", "an absent name keeps the old one");
    assert_eq!(updated["destination"], body["destination"]);
    assert_eq!(updated["retries"], 0);
    assert_eq!(updated["tls_verification"], true);
    assert_eq!(updated["id"], output["id"]);
    assert_eq!(updated["created_at"], output["created_at"]);
}

#[tokio::test]
async fn update_refuses() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    server.output(&bucket, json!({"name": "taken", "destination": DESTINATION})).await;
    let output = server.output(&bucket, json!({"name": "ci", "destination": DESTINATION})).await;
    let path = format!("{}/{}", path(&bucket), id(&output));
    for (body, status, said) in [
        (json!({"destination": "nowhere"}), 400, "destination: "),
        (json!({"destination": DESTINATION, "timeout": 181}), 400, "timeout: "),
        (json!({"destination": DESTINATION, "function_id": NOBODY}), 400, "function_id: "),
        (json!({"destination": DESTINATION, "name": "taken"}), 412, "name"),
    ] {
        let refused = server.request("PUT", &path).json(&body).send().await;
        refused.expect_error(status, said);
    }
    let stored = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    assert_eq!(stored["outputs"][1], output, "nothing half-changed");
}

#[tokio::test]
async fn update_and_delete_refuse_what_is_missing() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let other = server.bucket("other").await;
    let output = server.output(&bucket, json!({"internal": true})).await;
    for path in [
        format!("{}/{NOBODY}", path(&bucket)),
        format!("{}/first", path(&bucket)),
        format!("{}/{}", path(&other), id(&output)),
        format!("/v1/buckets/{NOBODY}/outputs/{}", id(&output)),
    ] {
        let update = server.request("PUT", &path).json(&json!({"internal": true})).send().await;
        update.expect_error(404, "not found");
        server.request("DELETE", &path).send().await.expect_error(404, "not found");
    }
}

#[tokio::test]
async fn delete_answers_what_was_deleted() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let output = server.output(&bucket, json!({"internal": true})).await;
    let path = format!("{}/{}", path(&bucket), id(&output));
    let answer = server.request("DELETE", &path).send().await.expect(200).json();
    assert_eq!(answer, json!({"id": output["id"], "status": "deleted"}));
    let stored = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    assert_eq!(stored["outputs"], json!([]));
}

#[tokio::test]
async fn how_answers_are_judged_is_kept_replaced_and_reset() {
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let rules = json!({"match": {"type": "value", "value": "true",
        "parameter": {"source": "payload", "name": "ok"}}});
    let lists = json!({"success": ["2xx", "409"], "retry": ["404"], "final": []});
    let given = json!({"name": "shop", "destination": "https://example.com/hook",
        "outcomes": {"success": ["2xx", "409"], "retry": ["404"]}, "success_when": rules});
    let output = server.output(&bucket, given).await;
    assert_eq!((&output["outcomes"], &output["success_when"]), (&lists, &rules));
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    let put = async |mut spec: Value| {
        spec["destination"] = "https://example.com/hook".into();
        server.request("PUT", &path).json(&spec).send().await
    };
    for (spec, named) in [
        (
            json!({"outcomes": {"success": ["409"], "final": ["409"]}}),
            "outcomes.final[0]: 409 is in success",
        ),
        (
            json!({"outcomes": {"retry": ["404", "40x"]}}),
            "outcomes.retry[1]: \"40x\" must be a code",
        ),
        (json!({"outcomes": {"retry": [404]}}), "outcomes.retry[0]"),
        (json!({"outcomes": {"retries": []}}), "outcomes.retries"),
        (json!({"outcomes": []}), "outcomes"),
        (
            json!({"success_when": {"match": {"type": "value"}}}),
            "success_when.match.value: is missing",
        ),
        (json!({"success_when": []}), "success_when: must be an object"),
        (json!({"success_when": true}), "success_when: must be an object"),
        (
            json!({"rules": {"match": {"type": "exists", "parameter": {"source": "status"}}}}),
            "rules.match.parameter.source: unknown source \"status\"",
        ),
    ] {
        put(spec).await.expect_error(400, named);
    }
    let kept = put(json!({})).await.expect(200).json();
    assert_eq!((&kept["outcomes"], &kept["success_when"]), (&lists, &rules), "absent keeps");
    let replaced = json!({"outcomes": {"final": ["5xx"]}});
    let replaced = put(replaced).await.expect(200).json();
    assert_eq!(replaced["outcomes"], json!({"success": [], "retry": [], "final": ["5xx"]}));
    let reset = put(json!({"outcomes": null, "success_when": null})).await.expect(200).json();
    assert!(reset.get("outcomes").is_none() && reset.get("success_when").is_none(), "{reset}");
}
