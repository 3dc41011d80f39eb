//! Fields that clients of the interface do not know.

use serde_json::{Value, json};

use super::harness::{Server, id};

/// An input as clients of the interface write it: with every field that they know.
fn as_clients_write(input: &Value) -> Value {
    json!({
        "id": input["id"], "bucket_id": input["bucket_id"], "created_at": input["created_at"],
        "updated_at": input["updated_at"], "created_by": input["created_by"],
        "name": "renamed", "description": "", "function_id": "", "status_code": 202,
        "headers": {}, "body": "", "response_from_output": "", "custom_domain": "",
        "path_prefix": "", "strip_path_prefix": false, "tls_version": "", "legacy_tls": false,
    })
}

#[tokio::test]
async fn clients_that_do_not_know_a_field_leave_it_as_it_was() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let bucket_path = format!("/v1/buckets/{}", id(&bucket));
    let path = format!("{bucket_path}/inputs");
    let written =
        json!({"window": 60_000_000_000_i64, "key": [{"source": "header", "name": "X-Id"}]});
    let spec = json!({"name": "in", "deduplication": written});
    let input = server.request("POST", &path).json(&spec).send().await.expect(201).json();
    let stored = &input["deduplication"];
    assert_eq!((&stored["window"], &stored["key"]), (&written["window"], &written["key"]));
    assert_eq!((&stored["enabled"], &stored["answer"]), (&json!(true), &json!("same")));

    let path = format!("{path}/{}", id(&input));
    let update = as_clients_write(&input);
    let updated = server.request("PUT", &path).json(&update).send().await.expect(200).json();
    assert_eq!((&updated["name"], &updated["deduplication"]), (&json!("renamed"), stored));
    let renamed = json!({"name": "other", "inputs": [update]});
    server.request("PUT", &bucket_path).json(&renamed).send().await.expect(200);
    let whole = server.get(&bucket_path).await.expect(200).json();
    let now = whole["inputs"].as_array().expect("inputs").iter().find(|it| it["id"] == input["id"]);
    assert_eq!(now.expect("the input")["deduplication"], *stored);

    // What answers say can be written again as it is.
    let again = server.request("PUT", &path).json(&updated).send().await.expect(200).json();
    assert_eq!(again["deduplication"], *stored);

    // An object replaces it whole, and null takes it away.
    let other = json!({"deduplication": {"answer": 204}});
    let replaced = server.request("PUT", &path).json(&other).send().await.expect(200).json();
    assert_eq!(replaced["deduplication"]["answer"], 204);
    assert_eq!(replaced["deduplication"]["key"], json!([]));
    let reset = json!({"deduplication": null});
    let reset = server.request("PUT", &path).json(&reset).send().await.expect(200).json();
    assert!(reset.get("deduplication").is_none(), "{reset}");
}

#[tokio::test]
async fn a_wrong_extension_names_its_field() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let path = format!("/v1/buckets/{}/inputs", id(&bucket));
    let too_many = vec![json!({"source": "header", "name": "x"}); 9];
    for (spec, said) in [
        (json!({"deduplication": {"window": 999_999_999}}), "deduplication.window: "),
        (json!({"deduplication": {"window": 2_592_000_000_000_001_i64}}), "deduplication.window: "),
        (json!({"deduplication": {"key": too_many}}), "deduplication.key: "),
        (
            json!({"deduplication": {"key": [{"source": "header", "name": "a b"}]}}),
            "deduplication.key[0].name: ",
        ),
        (json!({"deduplication": {"key": [{"source": "cookie", "name": "x"}]}}), "deduplication"),
        (json!({"deduplication": {"exclude": ["body.x"]}}), "deduplication.exclude[0]: "),
        (json!({"deduplication": {"answer": 99}}), "deduplication.answer: "),
        (json!({"deduplication": {"answer": "other"}}), "deduplication"),
        (json!({"deduplication": {"windows": 0}}), "windows"),
        (json!({"deduplication": []}), "deduplication"),
        (json!({"signature": {"provider": "nobody"}}), "signature.provider: "),
        (json!({"signature": true}), "signature"),
    ] {
        let answer = server.request("POST", &path).json(&spec).send().await;
        answer.expect_error(400, said);
    }
}
