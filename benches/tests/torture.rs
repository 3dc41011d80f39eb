//! The torture notices what it is there to notice: a server that keeps nothing on
//! the disk loses webhooks when the power is cut, and one that may connect to
//! private addresses does. `.ci/run` makes rounds that must end well.

use std::{
    path::PathBuf,
    process::{Command, Output},
};

/// One round of a fault, with a server that has these variables.
fn torture(fault: &str, set: &str) -> (Output, String) {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_torture"));
    let mut command = Command::new(&program);
    command.args(["--rounds", "1", "--seed", "7", "--patience", "20"]);
    command.args(["--only", fault, "--set", set]);
    // Built with the workspace; when only this package is tested the harness
    // builds it.
    let server = program.with_file_name("webhook-server");
    if server.is_file() {
        command.arg("--server").arg(server);
    }
    let output = command.output().expect("the harness starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, said)
}

#[test]
fn a_power_cut_is_felt_by_a_server_that_does_not_sync() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("unsynced.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/unsynced.c");
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source);
    if !compile.status().is_ok_and(|status| status.success()) {
        println!("skipped: no C compiler");
        return;
    }
    let (output, said) = torture("power", &format!("LD_PRELOAD={}", library.display()));
    if said.contains("skipped") {
        print!("{said}");
        return;
    }
    let felt = said.contains("did not arrive") || said.contains("does not start");
    assert!(!output.status.success() && felt, "{said}");
}

#[test]
fn a_connection_to_a_private_address_is_noticed() {
    let (output, said) = torture("addresses", "WEBHOOK_ALLOW_PRIVATE_DESTINATIONS=true");
    if said.contains("skipped") {
        print!("{said}");
        return;
    }
    assert!(!output.status.success() && said.contains("connections to [10.0.0.5"), "{said}");
}

#[test]
fn what_was_acknowledged_arrives_after_kill_9() {
    let (output, said) = torture("kill", "WEBHOOK_LOG=debug");
    assert!(output.status.success() && said.contains("1 rounds, 0 lost, 0 not well"), "{said}");
}
