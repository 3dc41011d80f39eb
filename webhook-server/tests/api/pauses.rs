//! Pausing and resuming outputs, as far as it is read and written.

use serde_json::{Value, json};

use crate::harness::{Server, id};

async fn output(server: &Server, spec: Value) -> (Value, String) {
    let bucket = server.bucket("orders").await;
    let output = server.output(&bucket, spec).await;
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    (bucket, path)
}

#[tokio::test]
async fn a_pause_is_shown_changed_and_kept_by_an_update() {
    let server = Server::start().await;
    let spec = json!({"name": "shop", "destination": "https://example.com/hook"});
    let (bucket, path) = output(&server, spec).await;
    let put = async |path: String, body: Value| {
        server.request("PUT", &path).json(&body).send().await.expect(200).json()
    };
    // An empty body will do.
    let paused = server.request("PUT", &format!("{path}/pause")).send().await.expect(200).json();
    let at = paused["paused_at"].as_i64().expect("unix seconds");
    assert!(at > 1_700_000_000 && paused["paused_until"].is_null(), "{paused}");
    let until = at + 3_600;
    let body = json!({"reason": "they move", "until": until});
    let paused = put(format!("{path}/pause"), body).await;
    assert_eq!((&paused["paused_at"], &paused["paused_until"]), (&json!(at), &json!(until)));
    // Official clients write whole outputs, without what they do not know.
    let updated = put(path.clone(), json!({"destination": "https://example.com/new"})).await;
    assert_eq!(
        (&updated["paused_at"], &updated["pause_reason"]),
        (&json!(at), &json!("they move"))
    );
    let read = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    assert_eq!(read["outputs"][0]["paused_by"], "caller");
    for _ in 0..2 {
        let resumed = put(format!("{path}/resume"), json!({"rate": 5, "interval": "minute"})).await;
        assert!(resumed.get("paused_at").is_none(), "{resumed}");
    }
}

#[tokio::test]
async fn what_a_disabled_output_does_with_what_comes_is_kept_and_reset() {
    let server = Server::start().await;
    let spec = json!({"name": "shop", "destination": "https://example.com/hook",
        "on_disabled": "park"});
    let (bucket, path) = output(&server, spec).await;
    let put = async |body: Value| {
        server.request("PUT", &path).json(&body).send().await.expect(200).json()
    };
    let kept = put(json!({"destination": "https://example.com/hook", "disabled": true})).await;
    assert_eq!((&kept["on_disabled"], &kept["disabled"]), (&json!("park"), &json!(true)));
    crate::send(&server, &bucket, "parked").await;
    let logs = server.get("/v1/logs").await.expect(200).json();
    let parked = &logs["data"][0];
    assert_eq!((&parked["status"], &parked["output_id"]), (&json!("received"), &kept["id"]));
    let reset = json!({"destination": "https://example.com/hook", "disabled": true,
        "on_disabled": null});
    let reset = put(reset).await;
    assert!(reset.get("on_disabled").is_none(), "{reset}");
    crate::send(&server, &bucket, "goes nowhere").await;
    let logs = server.get("/v1/logs").await.expect(200).json();
    assert_eq!(logs["data"][0]["output_id"], "");
}

#[tokio::test]
async fn the_state_of_an_output_says_what_waits_since_when_and_whether_it_is_tried() {
    let server = Server::start().await;
    let circuit = json!({"circuit": {"failures": 1}});
    let spec = json!({"name": "shop", "destination": "http://127.0.0.1:1", "health": circuit});
    let (bucket, path) = output(&server, spec).await;
    let state = async || server.get(&format!("{path}/state")).await.expect(200).json();
    assert_eq!(state().await, json!({"waiting": 0, "circuit": "closed"}));
    server.request("PUT", &format!("{path}/pause")).send().await.expect(200);
    for _ in 0..3 {
        crate::send(&server, &bucket, "waits").await;
    }
    let told = state().await;
    assert_eq!((&told["waiting"], &told["circuit"]), (&json!(3), &json!("closed")));
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a date").as_secs();
    let since = told["oldest_waiting_at"].as_u64().expect("unix seconds");
    assert!(since.is_multiple_of(60) && (now - 120..=now).contains(&since), "{told}");

    server.request("PUT", &format!("{path}/resume")).send().await.expect(200);
    let opened = async {
        loop {
            let told = state().await;
            if told["circuit"] == "open" {
                return told;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let told = tokio::time::timeout(crate::harness::PATIENCE, opened).await.expect("it opens");
    assert!(told["circuit_tries_at"].as_u64() > Some(now), "{told}");
    assert_eq!(told["waiting"], 3, "each is tried again");
    let nobody = format!("/v1/buckets/{}/outputs/{}/state", id(&bucket), id(&bucket));
    server.get(&nobody).await.expect_error(404, "output");
}

#[tokio::test]
async fn what_is_wrong_is_named_and_changes_nothing() {
    let server = Server::start().await;
    let spec = json!({"name": "shop", "destination": "https://example.com/hook"});
    let (bucket, path) = output(&server, spec).await;
    for (what, body, named) in [
        ("pause", json!({"until": 1_000}), "until"),
        ("pause", json!({"until": "soon"}), "until"),
        ("pause", json!({"reason": "x".repeat(5_000)}), "reason"),
        ("pause", json!({"reason": "\u{0}"}), "reason"),
        ("pause", json!({"why": "x"}), "why"),
        ("resume", json!({"rate": -1}), "rate"),
        ("resume", json!({"rate": 1_000_001}), "rate"),
        ("resume", json!({"interval": "year"}), "interval"),
        ("resume", json!({"discard_before": "now"}), "discard_before"),
        ("resume", json!({"discard_before": 4_102_444_800_i64}), "discard_before"),
    ] {
        let request = server.request("PUT", &format!("{path}/{what}")).json(&body);
        request.send().await.expect_error(400, named);
    }
    let spec = json!({"destination": "https://example.com/hook", "on_disabled": "drop"});
    server.request("PUT", &path).json(&spec).send().await.expect_error(400, "on_disabled");
    for (health, named) in [
        (json!([]), "health"),
        (json!({"on": true}), "health"),
        (json!({"circuit": {"failures": 0}}), "health.circuit.failures"),
        (json!({"circuit": {"failures": 1_001}}), "health.circuit.failures"),
        (json!({"circuit": {"ratio": 0}}), "health.circuit.ratio"),
        (json!({"circuit": {"ratio": 1.01}}), "health.circuit.ratio"),
        (json!({"circuit": {"window": 1}}), "health.circuit.window"),
        (json!({"circuit": {"open_for": 3_600_000_000_001_i64}}), "health.circuit.open_for"),
        (
            json!({"circuit": {"open_for": 60_000_000_000_i64, "max_open_for": 30_000_000_000_i64}}),
            "health.circuit.max_open_for",
        ),
    ] {
        let spec = json!({"destination": "https://example.com/hook", "health": health});
        server.request("PUT", &path).json(&spec).send().await.expect_error(400, named);
    }
    let read = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    let output = &read["outputs"][0];
    assert!(output.get("paused_at").is_none() && output.get("health").is_none(), "{read}");
    let internal = server.output(&bucket, json!({"name": "agent", "internal": true})).await;
    let path = format!("/v1/buckets/{}/outputs/{}/pause", id(&bucket), id(&internal));
    server.request("PUT", &path).send().await.expect_error(400, "internal");
    let nobody = format!("/v1/buckets/{}/outputs/{}/pause", id(&bucket), id(&bucket));
    server.request("PUT", &nobody).send().await.expect_error(404, "output");
    server.anonymous("PUT", &path).send().await.expect(401);
}
