//! `webhook-server apply`, `export` and `import`

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::harness::{Server, command};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("it can be written");
        path
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What a command prints on standard output, and on standard error.
    async fn run(
        &self,
        server: Option<&Server>,
        arguments: &[&str],
    ) -> Result<(String, String), String> {
        let mut command = command(self.0.path());
        if let Some(server) = server {
            command.env("WEBHOOK_SERVER_URL", &server.base).env("WEBHOOK_API_KEY", &server.key);
        }
        let output = command.env("FROM_OUTSIDE", "env-value").args(arguments).output().await;
        let output = output.expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.success() {
            true => Ok((text(&output.stdout), text(&output.stderr))),
            false => Err(text(&output.stderr)),
        }
    }

    async fn apply(
        &self,
        server: &Server,
        file: &Path,
        options: &[&str],
    ) -> Result<String, String> {
        let allowed = ["--secret", "FROM_OUTSIDE"];
        let mut arguments = vec!["apply", file.to_str().expect("text"), allowed[0], allowed[1]];
        arguments.extend(options);
        self.run(Some(server), &arguments).await.map(|(out, _)| out)
    }

    async fn export(&self, server: &Server, options: &[&str]) -> String {
        let mut arguments = vec!["export"];
        arguments.extend(options);
        self.run(Some(server), &arguments).await.expect("it is exported").0
    }
}

/// Something of everything, most fields of it away from their defaults.
const MANIFEST: &str = r#"
version: 1
functions:
  - name: verify
    file: verify.lua
    metadata: {team: shop}
    variables: {KEY: "${FROM_FILE}", "odd/key é": plain}
  - name: shape
    driver: js
    payload: |
      r.RequestBody = `${r.RequestBody}!`;
domains: [hooks.example.org]
buckets:
  - name: shop
    description: "Costs $${5}"
    ephemeral: true
    auth: {type: basic, username: shop, password: "${FROM_FILE}"}
    inputs:
      - name: orders
        function: verify
        status_code: 202
        headers: {X-Answer: [a, b]}
        body: "{}"
        response_from_output: erp
        custom_domain: hooks.example.org
        path_prefix: /orders
        strip_path_prefix: true
        tls_version: "1.3"
      - name: any
        response_from_output: anyOutput
    outputs:
      - name: erp
        destination: http://127.0.0.1:9/hook
        function: shape
        response_function: shape
        headers: {Authorization: ["Bearer ${FROM_OUTSIDE}"]}
        lock_path: true
        timeout: 7
        tls_verification: false
        throttle: {enabled: true, mode: concurrency, max_concurrent: 1, deadline: 60000000000}
        durability: {enabled: true, schedule: custom, custom_delays: [2000000000], handoff_after: 1000000000}
        rules:
          and:
            - match: {type: value, value: "yes", parameter: {source: header, name: X-Go}}
            - not: {match: {type: substring, substring: "12.50", parameter: {source: payload, name: a.b}}}
      - name: pull
        internal: true
        disabled: true
        retries: 4
  - name: plain
    outputs:
      - name: "on"
        internal: true
        replay_missing: {enabled: true, limit: 3}
crons:
  - name: nightly
    schedule: "0 3 * * *"
    timezone: europe/berlin
    method: put
    destination: http://127.0.0.1:9/cron
    payload: '{"a": 1}'
    headers: {X-Cron: ["1"]}
    function: verify
    ends_at: 2199-01-01T00:00:00Z
  - name: once
    enabled: false
    recurring: false
    schedule: "@every 1h"
    destination: http://127.0.0.1:9/
"#;

fn written(folder: &Folder) -> PathBuf {
    folder.write("verify.lua", "if r.RequestMethod ~= \"POST\" then\n  r:StopForwarding()\nend\n");
    folder.write("mine.env", "FROM_FILE=\"s3cret\\\"value\"\n");
    folder.write("shop.yaml", MANIFEST)
}

#[tokio::test]
async fn what_is_exported_makes_the_same_server() {
    let (folder, first, second) = (Folder::new(), Server::start().await, Server::start().await);
    let file = written(&folder);
    let secrets = folder.path("mine.env");
    let secrets = ["--secrets", secrets.to_str().expect("text")];
    let shown = folder.apply(&first, &file, &secrets).await.expect("it is applied");
    assert!(
        shown.contains("\n+ output shop/erp\n    destination: \"http://127.0.0.1:9/hook\"\n"),
        "{shown}"
    );
    assert!(shown.ends_with("to make: 14, to change: 0, to delete: 0\n"), "{shown}");
    for secret in ["s3cret", "env-value"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    // What is there now is what was said.
    let buckets = first.get("/v1/buckets").await.expect(200).json();
    let shop = &buckets[0];
    assert_eq!(shop["description"], "Costs ${5}");
    assert_eq!(shop["auth"]["password"], "s3cret\"value");
    assert_eq!(shop["outputs"][0]["headers"]["Authorization"], json!(["Bearer env-value"]));
    assert_eq!(shop["inputs"][0]["response_from_output"], shop["outputs"][0]["id"]);
    assert_eq!(shop["inputs"].as_array().map(Vec::len), Some(2));
    assert_eq!(buckets[1]["inputs"][0]["name"], "Default public endpoint");
    let functions = first.get("/v1/functions").await.expect(200).json();
    assert_eq!(functions[0]["id"], shop["inputs"][0]["function_id"]);
    assert_eq!(functions[1]["payload"], "r.RequestBody = `${r.RequestBody}!`;\n");

    // The same again changes nothing, and neither does what the server itself says.
    let nothing = "to make: 0, to change: 0, to delete: 0\n";
    let mut pruning = secrets.to_vec();
    pruning.push("--prune");
    assert_eq!(folder.apply(&first, &file, &pruning).await.as_deref(), Ok(nothing));
    let sealed = folder.path("sealed.env");
    let sealed = sealed.to_str().expect("text");
    let exported = folder.export(&first, &["--secrets", sealed]).await;
    assert!(!exported.contains("s3cret") && !exported.contains("env-value"), "{exported}");
    let again = folder.write("exported.yaml", &exported);
    let options = ["--secrets", sealed, "--prune"];
    assert_eq!(folder.apply(&first, &again, &options).await.as_deref(), Ok(nothing), "{exported}");

    // An empty server becomes the same one.
    folder.apply(&second, &again, &options).await.expect("it is applied");
    assert_eq!(folder.export(&second, &[]).await, exported);
    let as_json = folder.export(&first, &["--format", "json"]).await;
    assert_eq!(folder.export(&second, &["--format", "json"]).await, as_json);
    let json_file = folder.write("exported.json", &as_json);
    assert_eq!(folder.apply(&second, &json_file, &options).await.as_deref(), Ok(nothing));
}

#[tokio::test]
async fn changes_are_shown_and_only_then_made() {
    let (folder, server) = (Folder::new(), Server::start().await);
    let file = written(&folder);
    let secrets = folder.path("mine.env");
    let secrets = secrets.to_str().expect("text");
    folder.apply(&server, &file, &["--secrets", secrets]).await.expect("it is applied");
    server.bucket("by hand").await;
    let before = server.get("/v1/buckets").await.expect(200).json();

    let changed = MANIFEST
        .replace("retries: 4", "retries: 5")
        .replace("mode: concurrency, max_concurrent: 1, ", "mode: rate, rate: 2, ")
        .replace("      - name: any\n        response_from_output: anyOutput\n", "")
        .replace("KEY: \"${FROM_FILE}\", ", "");
    let file = folder.write("changed.yaml", &changed);
    let options = ["--secrets", secrets, "--prune", "--dry-run"];
    let shown = folder.apply(&server, &file, &options).await.expect("it is shown");
    for line in [
        "~ output shop/erp\n    throttle.mode: \"concurrency\" -> its default\n",
        "    throttle.rate: its default -> 2\n",
        "~ output shop/pull\n    retries: 4 -> 5\n",
        "- input shop/any\n",
        "- variable verify/KEY\n",
        "- bucket by hand\n",
        "to make: 0, to change: 2, to delete: 3\n",
    ] {
        assert!(shown.contains(line), "{line:?} is not in {shown}");
    }
    assert_eq!(server.get("/v1/buckets").await.expect(200).json(), before);

    // Without --prune what has another name stays.
    let kept = folder.apply(&server, &file, &options[..2]).await.expect("it is applied");
    assert!(kept.ends_with("to make: 0, to change: 2, to delete: 0\n"), "{kept}");
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    assert_eq!(buckets.as_array().map(Vec::len), before.as_array().map(Vec::len));
    assert_eq!(buckets[0]["outputs"][1]["retries"], 5);
    assert_eq!(buckets[0]["outputs"][0]["id"], before[0]["outputs"][0]["id"]);

    folder.apply(&server, &file, &options[..3]).await.expect("it is applied");
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    let names: Vec<_> =
        buckets.as_array().expect("a list").iter().map(|b| b["name"].as_str()).collect();
    assert!(!names.contains(&Some("by hand")), "{names:?}");
    assert_eq!(buckets[0]["inputs"].as_array().map(Vec::len), Some(1));
    // A list that is absent says nothing; an empty one says that there is none.
    let none = folder.write("none.yaml", "crons: []\nbuckets:\n  - name: shop\n");
    let shown = folder.apply(&server, &none, &["--prune"]).await.expect("it is applied");
    assert!(shown.contains("- cron nightly\n") && shown.contains("- bucket plain\n"), "{shown}");
    assert!(!shown.contains("function") && !shown.contains("input"), "{shown}");
    assert_eq!(server.get("/v1/crons").await.expect(200).json(), json!([]));
    assert_eq!(
        server.get("/v1/functions").await.expect(200).json().as_array().map(Vec::len),
        Some(2)
    );
}

#[tokio::test]
async fn what_is_wrong_is_said_before_anything_is_done() {
    let (folder, server) = (Folder::new(), Server::start().await);
    for (text, said) in [
        ("buckets:\n- {nam: x}", "buckets[0].nam: there is no such field"),
        (
            "buckets:\n- name: x\n  outputs: [{name: y, throttle: {rat: 1}}]",
            "outputs[0].throttle.rat: there is no",
        ),
        (
            "buckets:\n- name: x\n  outputs: [{name: y, throttle: {rate: x}}]",
            "buckets[0].outputs[0].throttle.rate: ",
        ),
        (
            "buckets:\n- name: x\n  outputs: [{name: y, rules: {match: {type: x}}}]",
            "unknown type \"x\"",
        ),
        ("buckets: [{name: x}, {name: x}]", "buckets[1].name: another one has it"),
        (
            "buckets:\n- name: x\n  inputs: [{name: y, function: z}]",
            "inputs[0].function: there is no function \"z\"",
        ),
        (
            "buckets:\n- name: x\n  inputs: [{name: y, response_from_output: z}]",
            "has no output \"z\"",
        ),
        (
            "buckets:\n- name: x\n  outputs: [{name: y, function_id: z}]",
            "function_id: is not in a manifest",
        ),
        ("buckets:\n- name: x\n  description: ${NOBODY}", "variables without a value: NOBODY"),
        ("functions: [{name: x, file: none.lua}]", "functions[0].file: cannot read"),
        ("domains: [Example.org]", "domains[0]: must be written in its ASCII form"),
        ("version: 2", "version: 2 is not 1"),
        ("bucket: []", "bucket: there is no such field"),
        ("crons: {}", "crons: must be a list"),
        ("a: [", "broken.yaml: "),
    ] {
        let file = folder.write("broken.yaml", text);
        let error = folder.apply(&server, &file, &[]).await.expect_err(text);
        assert!(error.contains(said), "{text}: {error}");
    }
    assert_eq!(server.get("/v1/buckets").await.expect(200).json(), json!([]));

    // What only the server knows stops there, and the next try goes on.
    let file = folder
        .write("late.yaml", "buckets:\n- name: x\n  outputs: [{name: y, destination: ftp://z}]");
    let error = folder.apply(&server, &file, &[]).await.expect_err("no such scheme");
    assert!(error.contains("output x/y: POST ") && error.contains("400: destination"), "{error}");
    assert!(error.contains("(1 of 2 steps are done)"), "{error}");
    let file = folder
        .write("late.yaml", "buckets:\n- name: x\n  outputs: [{name: y, destination: http://z}]");
    let shown = folder.apply(&server, &file, &[]).await.expect("it is applied");
    assert!(shown.ends_with("to make: 1, to change: 0, to delete: 0\n"), "{shown}");

    let error = folder.run(None, &["export"]).await.expect_err("nobody");
    assert!(error.contains("WEBHOOK_API_KEY"), "{error}");
}

#[tokio::test]
async fn fields_are_checked_before_anything_is_done() {
    let (folder, server) = (Folder::new(), Server::start().await);
    for (text, said) in [
        ("buckets: [{name: x, outputs: [{name: y, timeout: 999}]}]", "outputs[0].timeout: "),
        ("buckets: [{name: x}]\ncrons: [{name: c, destination: http://z}]", "crons[0].schedule: "),
        ("functions: [{name: \" f\", payload: x}]", "functions[0].name: "),
    ] {
        let file = folder.write("wrong.yaml", text);
        for options in [&["--dry-run"][..], &[]] {
            let error = folder.apply(&server, &file, options).await.expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
    }
    assert_eq!(server.get("/v1/buckets").await.expect(200).json(), json!([]));
}

#[tokio::test]
async fn parts_without_a_name_and_twins_are_told_apart_by_their_identifiers() {
    let (folder, server) = (Folder::new(), Server::start().await);
    let bucket = server.bucket("x").await;
    let path = format!("/v1/buckets/{}/inputs", bucket["id"].as_str().expect("an id"));
    let mut twins = Vec::new();
    for _ in 0..2 {
        let made = server.request("POST", &path).json(&json!({"name": "twin"})).send().await;
        twins.push(made.expect(201).json()["id"].as_str().expect("an id").to_owned());
    }
    let cron = json!({"schedule": "@daily", "destination": "http://127.0.0.1:9"});
    let cron = server.request("POST", "/v1/crons").json(&cron).send().await.expect(201).json();
    let cron = cron["id"].as_str().expect("an id");

    let exported = folder.export(&server, &[]).await;
    for name in [format!("twin#{}", twins[0]), format!("twin#{}", twins[1]), cron.to_owned()] {
        assert!(exported.contains(&format!("name: {name}")), "{name} is not in\n{exported}");
    }
    let file = folder.write("all.yaml", &exported);
    let shown = folder.apply(&server, &file, &["--prune"]).await.expect("it is applied");
    assert_eq!(shown, "to make: 0, to change: 0, to delete: 0\n");

    // A change meets the part and leaves its name.
    let name = format!("name: twin#{}", twins[1]);
    let changed = exported.replace(&name, &format!("{name}\n    body: hello"));
    let changed = changed.replace("'@daily'", "'@hourly'").replace("\"@daily\"", "\"@hourly\"");
    let file = folder.write("all.yaml", &changed);
    let shown = folder.apply(&server, &file, &[]).await.expect("it is applied");
    assert!(shown.ends_with("to make: 0, to change: 2, to delete: 0\n"), "{shown}");
    let input = server.get(&format!("{path}/{}", twins[1])).await.expect(200).json();
    assert_eq!((&input["name"], &input["body"]), (&json!("twin"), &json!("hello")));
    let cron = server.get(&format!("/v1/crons/{cron}")).await.expect(200).json();
    assert_eq!((&cron["name"], &cron["schedule"]), (&json!(""), &json!("@hourly")));

    let file = folder.write("one.yaml", "buckets: [{name: x, inputs: [{name: twin}]}]");
    let error = folder.apply(&server, &file, &[]).await.expect_err("two have the name");
    let said =
        format!("the server has more than one input x/twin: say which, as twin#{}", twins[0]);
    assert!(error.contains(&said), "{error}");
}

#[tokio::test]
async fn an_output_that_closes_a_loop_is_applied_only_when_it_is_meant() {
    let (folder, server) = (Folder::new(), Server::start().await);
    let text = "domains: [loop.example.org]\nbuckets:\n- name: x\n  \
        inputs: [{name: in, custom_domain: loop.example.org}]";
    let file = folder.write("loop.yaml", text);
    folder.apply(&server, &file, &[]).await.expect("it is applied");
    let output = "  outputs: [{name: back, destination: \"https://loop.example.org/\"}]";
    let file = folder.write("loop.yaml", &format!("{text}\n{output}"));
    let error = folder.apply(&server, &file, &[]).await.expect_err("it leads back");
    assert!(error.contains("output x/back: POST ") && error.contains("412"), "{error}");
    folder.apply(&server, &file, &["--allow-loops"]).await.expect("it is meant");
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    assert_eq!(buckets[0]["outputs"][0]["name"], "back");
}

#[tokio::test]
async fn other_services_are_imported() {
    const HUSHED: &str = "7e1d3e41a3ad9c431bdd691551eccb3a05aa64f3b4ca8b82ef9704bb0573f0bc";
    let (folder, server) = (Folder::new(), Server::start().await);
    let hookdeck = json!({"models": [{
        "id": "web_1", "full_name": "github -> ci", "source": {"id": "src_1", "name": "github",
            "config": {"auth_type": "HMAC", "auth": {"algorithm": "sha256", "encoding": "hex",
                "header_key": "X-Hub-Signature-256", "webhook_secret_key": "hush-hush"}}},
        "destination": {"name": "ci", "config": {"url": "http://127.0.0.1:9/ci"}},
        "rules": [{"type": "transform", "transformation": {"name": "t",
            "code": "addHandler('transform', (request, context) => request);"}},
            {"type": "delay", "delay": 1000}],
    }]});
    let file = folder.write("hookdeck.json", &hookdeck.to_string());
    let file = file.to_str().expect("text");
    let secrets = folder.path("import.env");
    let secrets = secrets.to_str().expect("text");
    let arguments = ["import", "hookdeck", file, "--secrets", secrets];
    let (manifest, left) = folder.run(None, &arguments).await.expect("it is imported");
    assert!(
        left.contains("not carried over: connection github -> ci: the rule \"delay\""),
        "{left}"
    );
    assert!(!manifest.contains("hush-hush"), "{manifest}");
    let manifest = folder.write("imported.yaml", &manifest);
    folder.apply(&server, &manifest, &["--secrets", secrets]).await.expect("it is applied");
    let again = folder.apply(&server, &manifest, &["--secrets", secrets]).await;
    assert_eq!(again.as_deref(), Ok("to make: 0, to change: 0, to delete: 0\n"));
    let buckets: Value = server.get("/v1/buckets").await.expect(200).json();
    let inputs = buckets[0]["inputs"].as_array().expect("a list");
    let verifies = |input: &&Value| input["signature"].is_object();
    let input = inputs.iter().find(verifies).expect("one that verifies");
    assert_eq!(input["signature"]["secrets"][0]["secret"], "********");
    let path = format!("/v1/webhooks/{}", input["id"].as_str().expect("an ID"));
    let signed = |digest: &str| {
        let request = server.anonymous("POST", &path).body("{}");
        request.header("x-hub-signature-256", digest).send()
    };
    // printf '{}' | openssl dgst -sha256 -hmac hush-hush
    signed(HUSHED).await.expect(200);
    signed(&HUSHED.replace('a', "b")).await.expect(401);

    let error = folder.run(None, &["import", "zapier", file]).await.expect_err("no such service");
    assert!(error.contains("none of hookdeck, svix, convoy and adnanh"), "{error}");
    let error = folder.run(None, &["import", "convoy", file]).await.expect_err("another service's");
    assert!(error.contains("hookdeck.json: is not Convoy's list"), "{error}");
}

#[tokio::test]
async fn a_secret_that_is_masked_is_compared_by_its_mask() {
    let (folder, server) = (Folder::new(), Server::start().await);
    let manifest =
        |signature: &str| format!("buckets: [{{name: b, inputs: [{{name: i{signature}}}]}}]\n");
    let signed = ", signature: {enabled: true, provider: github, secrets: [{secret: \"${S}\"}]}";
    let file = folder.write("b.yaml", &manifest(signed));
    let first = folder.write("first", "S=0123456789abcdef");
    let first = ["--secrets", first.to_str().expect("text")];
    folder.apply(&server, &file, &first).await.expect("it is applied");
    let nothing = "to make: 0, to change: 0, to delete: 0\n";
    assert_eq!(folder.apply(&server, &file, &first).await.as_deref(), Ok(nothing));

    let second = folder.write("second", "S=0123456789abcxyz");
    let second = ["--secrets", second.to_str().expect("text")];
    let shown = folder.apply(&server, &file, &second).await.expect("it is applied");
    assert!(
        shown.contains("~ input b/i\n    signature.secrets: (secret) -> other values\n"),
        "{shown}"
    );
    assert!(!shown.contains("xyz"), "{shown}");
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    let secret = &buckets[0]["inputs"][0]["signature"]["secrets"][0]["secret"];
    assert_eq!(secret, "********cxyz");

    // What the server answers stands for what it has, there.
    let (exported, said) = folder.run(Some(&server), &["export"]).await.expect("it is exported");
    assert!(said.contains("shows no more than the end of B_I_SIGNATURE_SECRETS_SECRET"), "{said}");
    let exported = folder.write("exported.yaml", &exported);
    let mask = folder.write("mask", "B_I_SIGNATURE_SECRETS_SECRET=********cxyz");
    let mask = ["--secrets", mask.to_str().expect("text")];
    assert_eq!(folder.apply(&server, &exported, &mask).await.as_deref(), Ok(nothing));

    // What a manifest leaves out is taken back, also what clients who do not know it leave alone.
    let file = folder.write("b.yaml", &manifest(""));
    let shown = folder.apply(&server, &file, &[]).await.expect("it is applied");
    assert!(shown.contains("to make: 0, to change: 1, to delete: 0"), "{shown}");
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    assert_eq!(buckets[0]["inputs"][0].get("signature"), None);
    assert_eq!(folder.apply(&server, &file, &[]).await.as_deref(), Ok(nothing));
}

#[tokio::test]
async fn a_manifest_has_no_variable_of_the_environment_that_is_not_named() {
    let server = Server::start().await;
    let folder = Folder::new();
    let file = folder.path("greedy.yaml");
    let manifest = "buckets: [{name: b, description: \"${WEBHOOK_API_KEY}${FROM_OUTSIDE}\"}]";
    std::fs::write(&file, manifest).expect("a file");
    let path = file.to_str().expect("text");
    let said = folder.run(Some(&server), &["apply", path]).await.expect_err("refused");
    assert!(said.contains("variables without a value: FROM_OUTSIDE, WEBHOOK_API_KEY"), "{said}");
    let hint = "--secret FROM_OUTSIDE --secret WEBHOOK_API_KEY lets the manifest have them";
    assert!(said.contains(hint) && !said.contains(&server.key), "{said}");
    // One that is named does not open the others.
    let arguments = ["apply", path, "--secret", "FROM_OUTSIDE"];
    let said = folder.run(Some(&server), &arguments).await.expect_err("refused");
    assert!(said.contains("variables without a value: WEBHOOK_API_KEY;"), "{said}");
    // The file in the folder of the manifest has both; the file of --secrets comes first.
    std::fs::write(folder.path(".env"), "WEBHOOK_API_KEY=a\nFROM_OUTSIDE=b\n").expect("a file");
    std::fs::write(folder.path("more"), "FROM_OUTSIDE=c\n").expect("a file");
    let more = folder.path("more");
    let arguments = ["apply", path, "--secrets", more.to_str().expect("text")];
    folder.run(Some(&server), &arguments).await.expect("it is applied");
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    assert_eq!(buckets[0]["description"], "ac", "{buckets}");
}

#[tokio::test]
async fn texts_of_a_server_move_no_cursor() {
    let (folder, server) = (Folder::new(), Server::start().await);
    let bucket = server.bucket("shop").await;
    server.set_default_input(&bucket, json!({"body": "\u{1b}[2J\u{9b}31m"})).await;
    let manifest = "buckets: [{name: shop, inputs: [{name: Default public endpoint, body: x}]}]\n";
    let file = folder.write("shop.yaml", manifest);
    let said = folder.apply(&server, &file, &["--dry-run"]).await.expect("a plan");
    assert!(said.contains("31m") && said.contains(" -> "), "{said}");
    assert!(said.chars().all(|c| !c.is_control() || c == '\n'), "{said:?}");
    assert!(said.ends_with("to make: 0, to change: 1, to delete: 0\n"), "{said}");
}
