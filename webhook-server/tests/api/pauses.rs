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
    ] {
        let request = server.request("PUT", &format!("{path}/{what}")).json(&body);
        request.send().await.expect_error(400, named);
    }
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
