//! The recipes of `docs/signing.md`, each run on a webhook that the server has signed.

use std::{fs, io::ErrorKind, path::Path, process::Command};

use super::*;
use crate::sink::Arrived;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const SEED: &str = "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const PUBLIC_KEY: &str = "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";
const TEXT: &str = "any text";
/// What is read back as bytes must be: not only ASCII.
const BODY: &str = "{\"name\": \"Grüße\"}\n";

/// The fenced blocks of the page in this language, in their order.
fn recipes(language: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/signing.md");
    let page = fs::read_to_string(page).expect("the page");
    let blocks = page.split("\n```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| block.split_once('\n'));
    let own = blocks.filter(|(kind, _)| *kind == language);
    own.map(|(_, source)| source.to_owned()).collect()
}

/// What an output sends that signs in this format.
async fn signed(server: &Server, format: &str, secret: &str) -> Arrived {
    let sink = Sink::start().await;
    let bucket = server.bucket(format).await;
    let signing = json!({ "format": format, "secrets": [{ "secret": secret }] });
    server
        .output(&bucket, json!({ "name": "o", "destination": sink.base, "signing": signing }))
        .await;
    server.anonymous("POST", &input_path(&bucket)).body(BODY).send().await.expect(200);
    sink.received(1).await.remove(0)
}

/// Runs a program in a language, with a secret and the headers as arguments, and says what
/// it printed; nothing when the language is not installed.
fn run(language: &str, source: &str, arguments: &[&str]) -> Option<String> {
    let flag = match language {
        "python3" => "-c",
        "php" => "-r",
        _ => "-e",
    };
    let source = source.strip_prefix("<?php").unwrap_or(source);
    let mut command = Command::new(language);
    let output = match command.args([flag, source, "--"]).args(arguments).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            println!("skipped: {language} is not installed");
            return None;
        }
        output => output.expect("it runs"),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    assert!(output.status.success(), "{language}: {}", text(&output.stderr));
    Some(text(&output.stdout))
}

/// Whether a recipe accepts this request, and not one that differs.
fn expect_verifies(language: &str, recipe: &str, secret: &str, arrived: &Arrived) {
    let main = match language {
        "python3" => {
            "import json, sys\nargs = sys.argv[-3:]\n\
             print(verify(args[0], json.loads(args[1]), bytes.fromhex(args[2])))"
        }
        "node" => {
            "const args = process.argv.slice(-3);\n\
             console.log(verify(args[0], JSON.parse(args[1]), Buffer.from(args[2], \"hex\")));"
        }
        "ruby" => {
            "require \"json\"\nargs = ARGV.last(3)\n\
             puts verify(args[0], JSON.parse(args[1]), [args[2]].pack(\"H*\"))"
        }
        _ => {
            "$args = array_slice($argv, -3);\n\
             echo verify($args[0], json_decode($args[1], true), hex2bin($args[2])) ? \"true\" : \"false\";"
        }
    };
    let source = format!("{recipe}\n{main}\n");
    let headers = |change: Option<(&str, &str)>| {
        let all = arrived.head.headers.iter();
        let all = all.map(|(name, value)| (name.as_str(), value.to_str().expect("text")));
        let mut all: std::collections::BTreeMap<_, _> = all.collect();
        all.extend(change);
        json!(all).to_string()
    };
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let said = |headers: &str, body: &[u8]| {
        run(language, &source, &[secret, headers, &hex(body)]).map(|said| said.to_lowercase())
    };
    let Some(right) = said(&headers(None), &arrived.body) else { return };
    assert_eq!(right, "true", "{language}:\n{recipe}");
    let other = [arrived.body.as_ref(), b" "].concat();
    assert_eq!(said(&headers(None), &other).as_deref(), Some("false"), "{language}:\n{recipe}");
    if arrived.head.headers.contains_key("webhook-timestamp") {
        let old = headers(Some(("webhook-timestamp", "1614265330")));
        assert_eq!(said(&old, &arrived.body).as_deref(), Some("false"), "{language}:\n{recipe}");
    }
}

#[tokio::test]
async fn every_recipe_verifies_what_the_server_signs() {
    let server = Server::start().await;
    let standard = signed(&server, "standard_webhooks", SECRET).await;
    let ed25519 = signed(&server, "ed25519", SEED).await;
    let body = signed(&server, "hmac_body", TEXT).await;
    let timestamp_body = signed(&server, "hmac_timestamp_body", TEXT).await;

    let python = recipes("python");
    let [first, of_body, of_timestamp_body] = &python[..] else { panic!("three in Python") };
    expect_verifies("python3", first, SECRET, &standard);
    expect_verifies("python3", of_body, TEXT, &body);
    expect_verifies("python3", of_timestamp_body, TEXT, &timestamp_body);
    let js = recipes("js");
    let [first, made, by_public_key] = &js[..] else { panic!("three in JavaScript") };
    expect_verifies("node", first, SECRET, &standard);
    expect_verifies("node", by_public_key, PUBLIC_KEY, &ed25519);
    expect_verifies("ruby", &recipes("ruby")[0], SECRET, &standard);
    expect_verifies("php", &recipes("php")[0], SECRET, &standard);

    if let Some(keys) = run("node", made, &[]) {
        let words: Vec<_> = keys.split(' ').collect();
        let [_, secret, _, _, public_key] = words[..] else { panic!("{keys}") };
        let server = Server::start().await;
        let arrived = signed(&server, "ed25519", secret).await;
        expect_verifies("node", by_public_key, public_key, &arrived);
    }
}

/// The libraries of others, where they are installed.
#[tokio::test]
async fn the_library_of_standard_webhooks_verifies_what_the_server_signs() {
    let installed = "import importlib.util as i; print(bool(i.find_spec('standardwebhooks')))";
    if run("python3", installed, &[]).as_deref() != Some("True") {
        println!("skipped: standardwebhooks is not installed");
        return;
    }
    let server = Server::start().await;
    let arrived = signed(&server, "standard_webhooks", SECRET).await;
    let recipe = "import standardwebhooks\n\
        def verify(secret, headers, body):\n    \
            try:\n        standardwebhooks.Webhook(secret).verify(body.decode(), headers)\n        return True\n    \
            except standardwebhooks.WebhookVerificationError:\n        return False";
    expect_verifies("python3", recipe, SECRET, &arrived);
}

/// The examples of the page are outputs that the server takes.
#[tokio::test]
async fn the_examples_are_taken() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let page = recipes("json");
    let first: Value = serde_json::from_str(&page[0]).expect("JSON");
    let output = server.output(&bucket, first.clone()).await;
    let rotating = "whsec_bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3";
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/signing.md"));
    let text = text.expect("the page");
    let line = text.lines().find(|line| line.contains(rotating)).expect("the second example");
    let signing: Value = serde_json::from_str(line.trim()).expect("JSON");
    let spec = json!({ "destination": first["destination"], "signing": signing });
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    let updated = server.request("PUT", &path).json(&spec).send().await.expect(200).json();
    assert_eq!(updated["signing"]["secrets"][1]["secret"], "********LaSw");
}
