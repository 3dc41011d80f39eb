//! What outputs sign and authenticate with, as accounts write and see it.

use serde_json::{Value, json};

use super::harness::{Server, id};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// An output as clients of the interface write it.
fn as_clients_write(destination: &str) -> Value {
    json!({
        "name": "renamed", "description": "", "destination": destination, "function_id": "",
        "response_function_id": "", "headers": {}, "rules": {}, "internal": false,
        "disabled": false, "lock_path": false, "retries": 0, "timeout": 0,
        "tls_verification": true,
    })
}

#[tokio::test]
async fn they_are_kept_masked_replaced_and_taken_away() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let destination = "https://example.com/hook";
    let plain =
        server.output(&bucket, json!({ "name": "plain", "destination": destination })).await;
    assert!(plain.get("signing").is_none() && plain.get("auth").is_none(), "{plain}");
    let auth = json!({ "type": "basic", "username": "me", "password": "a long and good password" });
    let spec = json!({
        "name": "o", "destination": destination, "auth": auth,
        "signing": { "secrets": [{ "secret": SECRET }] },
    });
    let output = server.output(&bucket, spec).await;
    let signing = json!({
        "enabled": true, "format": "standard_webhooks", "prefix": "webhook-",
        "secrets": [{ "secret": "********LaSw", "expires_at": 0 }],
    });
    let auth = json!({ "type": "basic", "username": "me", "password": "********word" });
    let shown = |output: &Value| (output["signing"].clone(), output["auth"].clone());
    assert_eq!(shown(&output), (signing.clone(), auth.clone()));

    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    let put = async |spec: &Value| server.request("PUT", &path).json(spec).send().await;
    // Clients that do not know them leave them; what is shown can be written again.
    let updated = put(&as_clients_write(destination)).await.expect(200).json();
    assert_eq!(updated["name"], "renamed");
    assert_eq!(shown(&updated), (signing.clone(), auth.clone()));
    assert_eq!(shown(&put(&updated).await.expect(200).json()), (signing.clone(), auth.clone()));
    let bucket_now = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200);
    assert!(!bucket_now.text().contains("MfKQ") && !bucket_now.text().contains("good password"));

    // A mask of what is not stored is nobody's secret.
    let wrong = json!({
        "destination": destination, "auth": { "type": "bearer", "token": "********word" },
    });
    put(&wrong).await.expect_error(400, "auth.token: no stored secret has this mask");
    let bearer = json!({ "destination": destination, "auth": { "type": "bearer", "token": "t" }, "signing": null });
    let replaced = put(&bearer).await.expect(200).json();
    assert_eq!(replaced["auth"], json!({ "type": "bearer", "token": "********" }));
    assert!(replaced.get("signing").is_none(), "{replaced}");
    let reset = put(&json!({ "destination": destination, "auth": null })).await.expect(200).json();
    assert!(reset.get("auth").is_none(), "{reset}");
}

#[tokio::test]
async fn what_cannot_be_used_names_its_field() {
    let server = Server::start_with(&[("WEBHOOK_ALLOW_PRIVATE_DESTINATIONS", "false")]).await;
    let bucket = server.bucket("b").await;
    let path = format!("/v1/buckets/{}/outputs", id(&bucket));
    let oauth2 = |url: &str| {
        json!({ "auth": {
            "type": "oauth2_client_credentials", "token_url": url, "client_id": "a",
            "client_secret": "b",
        } })
    };
    for (extension, said) in [
        (json!({ "signing": { "secrets": [] } }), "signing.secrets: must be one or two"),
        (
            json!({ "signing": { "secrets": [{ "secret": SECRET }, { "secret": "x" }] } }),
            "signing.secrets[1].secret: must be whsec_",
        ),
        (
            json!({ "signing": { "secrets": [{ "secret": SECRET, "expires_at": 1 }] } }),
            "signing.secrets[0].expires_at: has passed",
        ),
        (
            json!({ "signing": { "secrets": [{ "secret": "********LaSw" }] } }),
            "signing.secrets[0].secret: no stored secret has this mask",
        ),
        (json!({ "signing": { "format": "md5" } }), "md5"),
        (json!({ "signing": [] }), "signing"),
        (json!({ "auth": "basic" }), "auth"),
        (json!({ "auth": { "type": "digest" } }), "digest"),
        (json!({ "auth": { "type": "bearer" } }), "auth.token: must not be empty"),
        (json!({ "auth": { "type": "basic", "username": "a:b" } }), "auth.username: must not"),
        (oauth2("ftp://example.com"), "auth.token_url: must be an absolute url"),
        (oauth2("http://127.0.0.1:1/token"), "auth.token_url: "),
        (oauth2("http://169.254.169.254/latest"), "auth.token_url: "),
        (
            json!({ "auth": { "type": "gcp_service_account", "service_account": "{}" } }),
            "auth.service_account: has no client_email",
        ),
    ] {
        let mut spec = json!({ "name": "o", "destination": "https://example.com" });
        let fields = extension.as_object().expect("an object").clone();
        spec.as_object_mut().expect("an object").extend(fields);
        let answer = server.request("POST", &path).json(&spec).send().await;
        answer.expect_error(400, said);
    }
    let outputs = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    assert_eq!(outputs["outputs"], json!([]), "nothing is half-done");
}

#[tokio::test]
async fn another_account_neither_sees_nor_takes_them() {
    let mut server = Server::start().await;
    let bucket = server.bucket("mine").await;
    let destination = "https://example.com/hook";
    let auth = json!({ "type": "bearer", "token": "a long and good token".replace(' ', "-") });
    let spec = json!({
        "name": "o", "destination": destination, "auth": auth,
        "signing": { "secrets": [{ "secret": SECRET }] },
    });
    let output = server.output(&bucket, spec).await;
    server.terminate().await;
    let other = server.account("second").await;
    let server = server.restart().await;
    let request = |method: &str, path: &str| {
        server.anonymous(method, path).header("authorization", &format!("Bearer {other}"))
    };
    let path = format!("/v1/buckets/{}", id(&bucket));
    let seen = request("GET", &path).send().await.expect(403).text();
    assert!(!seen.contains("LaSw") && !seen.contains("oken"), "{seen}");
    let masked = json!({
        "name": "o", "destination": destination, "auth": { "type": "bearer", "token": "********oken" },
    });
    let theirs = format!("{path}/outputs/{}", id(&output));
    request("PUT", &theirs).json(&masked).send().await.expect_error(404, "bucket not found");
    let own = request("POST", "/v1/buckets").json(&json!({ "name": "own" })).send().await;
    let own = format!("/v1/buckets/{}/outputs", id(&own.expect(201).json()));
    let taken = request("POST", &own).json(&masked).send().await;
    taken.expect_error(400, "auth.token: no stored secret has this mask");
}
