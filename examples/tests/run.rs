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
    let (answer, mut line) = post("embed_in_axum", "{\"hello\":\"world\"}");
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

/// One that serves is asked over a connection, as a sender would.
fn post(name: &str, body: &str) -> (String, impl FnMut() -> String + use<>) {
    let child = program(name).arg("0").stdout(Stdio::piped()).spawn();
    let mut running = Running(child.expect("it starts"));
    let mut lines = BufReader::new(running.0.stdout.take().expect("piped")).lines();
    let mut line = move || {
        let _ends_with_the_lines = &running;
        lines.next().expect("a line").expect("text")
    };
    let address = line();
    let (host, path) =
        address.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL");
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(
        stream,
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n\
         {body}",
        body.len()
    )
    .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    (answer, line)
}

#[test]
fn plain_hyper() {
    let (answer, mut line) = post("plain_hyper", "hello");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(line(), "from \"127.0.0.1\": b\"hello\"");
}

#[test]
fn tower_layers() {
    let output = program("tower_layers").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        said,
        "1000 bytes: the sender gets 200 OK\n2000 bytes: the sender gets 413 Payload Too Large\n"
    );
    let traced = String::from_utf8_lossy(&output.stderr);
    assert!(traced.contains("finished processing request"), "{traced}");
}

#[test]
fn own_runtime() {
    assert_eq!(output_of(&mut program("own_runtime")), "b\"HELLO\"\n");
}

#[test]
fn verify_signatures() {
    assert_eq!(
        output_of(&mut program("verify_signatures")),
        "GitHub is verified\nsomebody is refused: no match\n"
    );
}

#[test]
fn signatures() {
    assert_eq!(
        output_of(&mut program("signatures")),
        "GitHub gets 200 OK\nsomebody gets 401 Unauthorized\n"
    );
}

#[test]
fn cron() {
    let run = "POST https://reports.example.com/daily b\"{\\\"report\\\":\\\"sales\\\"}\"\n";
    assert_eq!(output_of(&mut program("cron")), format!("it will run: true\n{run}{run}"));
}

#[test]
fn agent() {
    assert_eq!(
        output_of(&mut program("agent")),
        "http://localhost:3000/hook gets b\"7\"\nthe sender gets 201 Created: b\"taken\"\n"
    );
}

/// What a test needs from outside.
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
fn given(variable: &str) -> Option<String> {
    let given = std::env::var(variable).ok();
    if given.is_none() {
        println!("skipped: {variable} is not set");
    }
    given
}

#[test]
fn postgres_relay() {
    let Some(url) = given("TEST_POSTGRES_URL") else { return };
    let schema = format!("example_{}", std::process::id());
    let psql = |sql: String| Command::new("psql").args([&url, "-q", "-c", &sql]).status();
    if !psql(format!("CREATE SCHEMA {schema}")).is_ok_and(|status| status.success()) {
        println!("skipped: psql cannot make a schema");
        return;
    }
    let folder = tempfile::tempdir().expect("made");
    let mut relay = program("postgres_relay");
    relay.env("TMPDIR", folder.path()).arg(format!("{url}?options=-csearch_path%3D{schema}"));
    let output = relay.output().expect("it starts");
    let dropped = psql(format!("DROP SCHEMA {schema} CASCADE")).expect("psql");
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, "the sender gets 200 OK\ndelivers: b\"shared\"\n", "{wrong}");
    assert!(dropped.success());
}

#[test]
fn nats_forwarder() {
    let Some(url) = given("TEST_NATS_URL") else { return };
    let server = url.trim_start_matches("nats://").trim_end_matches('/');
    let stream = TcpStream::connect(server).expect("a server");
    let mut subscriber = BufReader::new(stream.try_clone().expect("a socket"));
    let mut line = || {
        let mut line = String::new();
        subscriber.read_line(&mut line).expect("a line");
        line
    };
    let mut out = &stream;
    out.write_all(b"CONNECT {\"verbose\":true}\r\nSUB example.orders 1\r\n").expect("sent");
    // What it is, and that it took the one and the other.
    let _ = (line(), line(), line());
    assert_eq!(output_of(program("nats_forwarder").arg(server)), "the sender gets 200 OK\n");
    assert_eq!(
        (line().as_str(), line().as_str()),
        ("MSG example.orders 1 12\r\n", "{\"total\":12}\r\n")
    );
}

/// A program that does not fit on a page shows too much at once.
#[test]
fn each_is_short() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).expect("this package") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a program");
            // Without the head, which says what it is and how to run it.
            let lines = text.lines().filter(|line| !line.starts_with("//!")).count();
            assert!(lines < 60, "{} has {lines} lines", path.display());
            checked += 1;
        }
    }
    assert!(checked >= 11, "only {checked} were found");
}
