//! The soak counts what arrives and compares memory with its bound. It runs for hours by hand.

use std::{path::PathBuf, process::Command};

/// Five seconds with this bound: whether it ended well, and what it said.
fn soak(bound: &str) -> (bool, String) {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_soak"));
    let mut command = Command::new(&program);
    command.args(["--seconds", "5", "--rate", "100", "--bound", bound]);
    // Built with the workspace; when only this package is tested the harness builds it.
    let server = program.with_file_name("webhook-server");
    if server.is_file() {
        command.arg("--server").arg(server);
    }
    let output = command.output().expect("the harness starts");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn all_kinds_arrive_and_memory_above_the_bound_is_noticed() {
    let (is_well, said) = soak("500");
    assert!(is_well && said.contains(" 0 not, 0 lost"), "{said}");
    let (is_well, said) = soak("-500");
    assert!(!is_well && said.contains(" 0 lost"), "{said}");
}
