//! Runs every example as its reader would.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// An example that runs; it is killed when the test is done with it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `cargo test` builds the examples beside the tests.
fn program(name: &str) -> Command {
    let test = std::env::current_exe().expect("the test is a program");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("target/<profile>/deps");
    let path: PathBuf = folder.join("examples").join(name);
    assert!(path.exists(), "{} is not built", path.display());
    Command::new(path)
}

fn output_of(program: &mut Command) -> String {
    let output = program.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn embed_in_axum() {
    let child = program("embed_in_axum").arg("0").stdout(Stdio::piped()).spawn();
    let mut running = Running(child.expect("it starts"));
    let mut lines = BufReader::new(running.0.stdout.take().expect("piped")).lines();
    let mut line = || lines.next().expect("a line").expect("text");
    let address = line();
    let (host, path) =
        address.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL");
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(
        stream,
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 17\r\n\r\n\
         {{\"hello\":\"world\"}}"
    )
    .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(line(), "arrived: {\"hello\":\"world\"}");
}

#[test]
fn own_forwarder() {
    assert_eq!(
        output_of(&mut program("own_forwarder")),
        "the sender gets 200 OK\nPOST https://orders.example.com/new?id=7 b\"{\\\"total\\\":12}\"\n"
    );
}

#[test]
fn sqlite_relay() {
    // Not where the database of another version may be.
    let folder = tempfile::tempdir().expect("made");
    let folder = folder.path();
    // A second run finds what the first has stored.
    for _ in 0..2 {
        let mut relay = program("sqlite_relay");
        relay.env("TMPDIR", folder).env("TEMP", folder).env("TMP", folder);
        assert_eq!(output_of(&mut relay), "the sender gets 200 OK\n");
    }
    assert!(folder.join("webhook-example").is_dir());
}
