//! Every operation of the interface with every status it lists, over real
//! sockets against the real server. The modules mirror the URLs.

mod account_api_key;
mod bad_input;
mod buckets;
mod command_line;
mod config;
mod credentials;
mod dev;
mod document;
#[path = "../harness/mod.rs"]
mod harness;
mod inputs;
mod lifecycle;
mod outputs;
mod pages;
mod rules;

use harness::Server;

/// An ID that names nothing.
const NOBODY: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// Makes another account and returns its API key. The server must have ended:
/// its SQLite file belongs to one process at a time.
async fn second_account(server: &Server) -> String {
    let output = server.command(&["account", "create", "second"]).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let key = text.lines().find_map(|line| line.strip_prefix("API key, shown only this once: "));
    key.expect("the key is printed").to_owned()
}
