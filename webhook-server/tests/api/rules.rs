//! `/v1/buckets/{id}/outputs/{detailed}/rules`

use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Server, id},
};

fn is_push() -> Value {
    json!({"match": {"type": "value", "value": "push",
        "parameter": {"source": "header", "name": "X-Event"}}})
}

#[tokio::test]
async fn put_replaces_the_rules_and_nothing_else() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let mut output = server
        .output(&bucket, json!({"name": "ci", "destination": "http://127.0.0.1:9", "retries": 7}))
        .await;
    let path = format!("/v1/buckets/{}/outputs/{}/rules", id(&bucket), id(&output));

    for rules in
        [json!({"and": [is_push(), {"not": [is_push()]}]}), json!({"or": []}), is_push(), json!({})]
    {
        let answer = server.request("PUT", &path).json(&rules).send().await.expect(200).json();
        output["rules"] = rules;
        output["updated_at"] = answer["updated_at"].clone();
        assert_eq!(answer, output);
    }
}

#[tokio::test]
async fn delete_removes_the_rules() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let output = server.output(&bucket, json!({"internal": true, "rules": is_push()})).await;
    let path = format!("/v1/buckets/{}/outputs/{}/rules", id(&bucket), id(&output));
    let answer = server.request("DELETE", &path).send().await.expect(200).json();
    assert_eq!(answer["rules"], json!({}));
    let stored = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    assert_eq!(stored["outputs"][0]["rules"], json!({}));
    server.request("DELETE", &path).send().await.expect(200);
}

#[tokio::test]
async fn put_refuses_rules_that_are_wrong() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let output = server.output(&bucket, json!({"internal": true, "rules": is_push()})).await;
    let path = format!("/v1/buckets/{}/outputs/{}/rules", id(&bucket), id(&output));
    let deep = format!("{}{}{}", r#"{"not":"#.repeat(5_000), "{}", "}".repeat(5_000));
    let deeper_than_rules = format!("{}{}{}", r#"{"not":"#.repeat(33), "{}", "}".repeat(33));
    for (body, said) in [
        ("[]", "body: "),
        ("", "body: "),
        (r#"{"xor": []}"#, "rules"),
        (r#"{"and": {}}"#, "rules"),
        (r#"{"match": {"type": "exact"}}"#, "rules.match.type: "),
        (
            r#"{"match": {"type": "value", "value": "x", "parameter": {"source": "moon"}}}"#,
            "rules.match.parameter.source: ",
        ),
        (
            r#"{"match": {"type": "regex", "regex": "(", "parameter": {"source": "body"}}}"#,
            "rules.match.regex: ",
        ),
        (&deep, "levels deep"),
        (&deeper_than_rules, "rules are more than 32 deep"),
    ] {
        server.request("PUT", &path).body(body.to_owned()).send().await.expect_error(400, said);
    }
    let stored = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    assert_eq!(stored["outputs"][0], output, "nothing half-changed");
}

#[tokio::test]
async fn put_and_delete_refuse_what_is_missing() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let output = server.output(&bucket, json!({"internal": true})).await;
    for path in [
        format!("/v1/buckets/{}/outputs/{NOBODY}/rules", id(&bucket)),
        format!("/v1/buckets/{NOBODY}/outputs/{}/rules", id(&output)),
        format!("/v1/buckets/{}/outputs/ci/rules", id(&bucket)),
    ] {
        let put = server.request("PUT", &path).json(&json!({})).send().await;
        put.expect_error(404, "not found");
        server.request("DELETE", &path).send().await.expect_error(404, "not found");
    }
}
