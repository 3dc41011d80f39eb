//! `webhook-server functions push`

use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::harness::{Server, command};

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("it can be written");
    path
}

/// What it prints, or what it says when it fails.
async fn push(command: &mut Command, file: &Path, options: &[&str]) -> Result<String, String> {
    let output = command.args(["functions", "push"]).arg(file).args(options).output().await;
    let output = output.expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    }
}

#[tokio::test]
async fn a_function_comes_from_a_file() {
    let server = Server::start().await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let client = || {
        let mut command = command(folder.path());
        command.env("WEBHOOK_SERVER_URL", &server.base).env("WEBHOOK_API_KEY", &server.key);
        command
    };
    let lua = write(folder.path(), "only_posts.lua", "local a = \"x\\ty\"\nr:StopForwarding()\n");
    let id = push(&mut client(), &lua, &[]).await.expect("it is taken");
    let function = server.get(&format!("/v1/functions/{id}")).await.expect(200).json();
    assert_eq!(function["name"], "only_posts");
    assert_eq!(function["driver"], "lua");
    assert_eq!(function["payload"], "local a = \"x\\ty\"\nr:StopForwarding()\n");

    // The same name again is the same function; what else it has stays.
    let spec = serde_json::json!({"payload": "r:StopForwarding()", "metadata": {"team": "a"}});
    let path = format!("/v1/functions/{id}");
    server.request("PUT", &path).json(&spec).send().await.expect(200);
    let js = write(folder.path(), "other.js", "r.stopForwarding();");
    let again = push(&mut client(), &js, &["--name", "only_posts"]).await;
    assert_eq!(again.as_deref(), Ok(&*id));
    let function = server.get(&path).await.expect(200).json();
    assert_eq!(function["driver"], "js");
    assert_eq!(function["payload"], "r.stopForwarding();");
    assert_eq!(function["metadata"]["team"], "a");
    let all = server.get("/v1/functions").await.expect(200).json();
    assert_eq!(all.as_array().map(Vec::len), Some(1));

    // Where and as whom may be said as options, too.
    let text = write(folder.path(), "third.txt", "r:StopForwarding()");
    let options = ["--driver", "lua", "--server", &server.base, "--key", &server.key];
    let third = push(&mut command(folder.path()), &text, &options).await.expect("it is taken");
    assert_ne!(third, id);
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let server = Server::start().await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let lua = write(folder.path(), "f.lua", "local = 1");
    let key = ["--server-url", &server.base, "--api-key", &server.key];
    let said = push(&mut command(folder.path()), &lua, &key).await.expect_err("no program");
    assert!(said.contains("400: payload: ") && said.contains('1'), "{said}");
    let said = push(&mut command(folder.path()), &lua, &key[..2]).await.expect_err("nobody");
    assert!(said.contains("WEBHOOK_API_KEY"), "{said}");
    let wrong = ["--server-url", &server.base, "--api-key", "sk-wrong-wrong-wrong"];
    let said = push(&mut command(folder.path()), &lua, &wrong).await.expect_err("nobody");
    assert!(said.contains("401: unauthorized"), "{said}");
    let text = write(folder.path(), "f.txt", "r:StopForwarding()");
    let said = push(&mut command(folder.path()), &text, &key).await.expect_err("no language");
    assert!(said.contains("--driver"), "{said}");
    let none = folder.path().join("none.lua");
    let said = push(&mut command(folder.path()), &none, &key).await.expect_err("no file");
    assert!(said.contains("none.lua: No such file") && said.matches("os error").count() == 1);
    let nowhere = ["--server-url", "http://127.0.0.1:9", "--api-key", "sk-wrong-wrong-wrong"];
    let said = push(&mut command(folder.path()), &lua, &nowhere).await.expect_err("no server");
    assert!(said.contains("cannot reach http://127.0.0.1:9"), "{said}");
    assert!(said.matches("os error").count() <= 1, "{said}");
}

/// The line of docs/functions.md, with `jq` and `curl`.
#[tokio::test]
async fn a_function_comes_from_a_file_with_curl() {
    for tool in ["jq", "curl"] {
        if Command::new(tool).arg("--version").output().await.is_err() {
            eprintln!("skipped: there is no {tool} on this machine");
            return;
        }
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/functions.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let start = page.find("jq -Rs").expect("the line is there");
    let script = page[start..].split("\n```").next().expect("its end");
    let server = Server::start().await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = "local a = \"x\\ty\"\n-- ünï\nr:StopForwarding()\n";
    write(folder.path(), "verify.lua", source);
    let script = script.replace("http://127.0.0.1:8080", &server.base).replace("sk-…", &server.key);
    let run = Command::new("sh").args(["-ec", &script]).current_dir(folder.path()).output().await;
    let run = run.expect("sh starts");
    assert!(run.status.success(), "{script}");
    let functions = server.get("/v1/functions").await.expect(200).json();
    assert_eq!(functions[0]["payload"], source, "{script}");
    assert_eq!(functions[0]["name"], "verify");
}
