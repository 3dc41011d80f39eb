//! What of a data folder is missing or damaged is said, and nothing is begun anew.

use std::{
    io::{Seek, SeekFrom, Write},
    path::Path,
    time::Duration,
};

use tokio::net::TcpStream;

use super::harness::{Server, command, default_input, lasting_port};

/// Starts the server, which refuses; the last line of what it says.
async fn refused(server: &Server, options: &[(&str, &str)]) -> String {
    let mut command = command(server.data_dir());
    let output = command.envs(options.iter().copied()).output().await.expect("it starts");
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().next_back().expect("a line").to_owned();
    assert!(line.starts_with("webhook-server: "), "{text}");
    line
}

/// The database and its logs, moved to another folder.
fn take_away(data: &Path, elsewhere: &Path) {
    for name in ["webhooks.db", "webhooks.db-wal", "webhooks.db-shm"] {
        if data.join(name).exists() {
            std::fs::rename(data.join(name), elsewhere.join(name)).expect("it can be moved");
        }
    }
}

#[tokio::test]
async fn a_missing_database_is_not_begun_anew() {
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start().await;
    server.bucket("kept").await;
    server.terminate().await;
    let database = server.data_dir().join("webhooks.db");
    take_away(server.data_dir(), elsewhere.path());
    for empty in [false, true] {
        if empty {
            std::fs::write(&database, "").expect("it can be written");
        }
        let line = refused(&server, &[]).await;
        for said in ["webhooks.db is missing or empty", "from a backup", "node.id"] {
            assert!(line.contains(said), "{said} is not in {line}");
        }
        assert_eq!(database.exists(), empty, "nothing was made");
        let listed = server.command(&["account", "list"]).await;
        assert!(!listed.status.success(), "other commands make none either");
    }
    // The one way on that the line names.
    take_away(elsewhere.path(), server.data_dir());
    let mut server = server.restart().await;
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    assert_eq!(buckets[0]["name"], "kept");
    server.terminate().await;

    // The other one.
    take_away(server.data_dir(), elsewhere.path());
    std::fs::remove_file(server.data_dir().join("node.id")).expect("it is there");
    let listed = server.command(&["account", "list"]).await;
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    assert_eq!(listed.stdout, b"", "it begins with an empty one");
}

#[tokio::test]
async fn a_command_that_has_the_database_open_delays_the_start_and_does_not_prevent_it() {
    let mut server = Server::start().await;
    server.terminate().await;
    let lock = server.data_dir().join("webhooks.db.lock");
    let lock = std::fs::File::open(lock).expect("the server has made it");
    lock.lock().expect("no process holds it");
    let log = server.log_file();
    let address = format!("127.0.0.1:{}", lasting_port());
    let options = [("WEBHOOK_LISTEN", &*address)];
    let command = async {
        let waits = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("waiting for"));
        while !waits() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let refused = TcpStream::connect(&address).await;
        assert!(refused.is_err(), "the server listens before it holds the database");
        drop(lock);
    };
    let (server, ()) = tokio::join!(server.restart_with(&options), command);
    server.get("/v1/buckets").await.expect(200);
}

#[tokio::test]
async fn a_first_start_that_was_interrupted_goes_on() {
    // As far as it may have come: the key, the key and an empty file, the same with a lock.
    for made in [&["secret.key"][..], &["secret.key", "webhooks.db", "webhooks.db.lock"]] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in made {
            let key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n";
            let text = if *name == "secret.key" { key } else { "" };
            std::fs::write(folder.path().join(name), text).expect("it can be written");
        }
        let server = Server::start_in(folder, &[]).await;
        server.get("/v1/buckets").await.expect(200);
    }
}

#[tokio::test]
async fn a_missing_key_is_not_made_anew() {
    let mut server = Server::start().await;
    server.bucket("kept").await;
    server.terminate().await;
    let key = server.data_dir().join("secret.key");
    let text = std::fs::read_to_string(&key).expect("the key");
    std::fs::remove_file(&key).expect("it can be removed");
    for _ in 0..2 {
        let line = refused(&server, &[]).await;
        for said in ["secret.key is missing", "from a backup", "WEBHOOK_SECRET_KEY"] {
            assert!(line.contains(said), "{said} is not in {line}");
        }
        assert!(!key.exists(), "no key was made");
    }
    let mut server = server.restart_with(&[("WEBHOOK_SECRET_KEY", text.trim())]).await;
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    assert_eq!(buckets[0]["name"], "kept");
    server.terminate().await;
}

/// A server that has ended, with some megabytes of webhooks.
async fn filled() -> Server {
    let mut server = Server::start().await;
    let bucket = server.bucket("b").await;
    for _ in 0..8 {
        super::send(&server, &bucket, &"x".repeat(2 << 20)).await;
    }
    assert!(!default_input(&bucket).is_empty());
    server.terminate().await;
    server
}

#[tokio::test]
async fn a_damaged_database_is_refused() {
    let server = filled().await;
    let path = server.data_dir().join("webhooks.db");
    let mut file = std::fs::File::options().write(true).open(&path).expect("the database");
    // What leads from one page to the next, in some places.
    for page in 20..40_u64 {
        file.seek(SeekFrom::Start(page * 4096)).expect("a place");
        file.write_all(&[0xa5; 4096]).expect("it can be written");
    }
    drop(file);
    let line = refused(&server, &[]).await;
    for said in ["webhooks.db is damaged (", "a backup", ".recover"] {
        assert!(line.contains(said), "{said} is not in {line}");
    }

    let no_database = "this is no database ".repeat(1000);
    std::fs::write(&path, no_database).expect("it can be written");
    let line = refused(&server, &[]).await;
    assert!(line.contains("webhooks.db is damaged (file is not a database)"), "{line}");
}

#[tokio::test]
async fn the_check_ends_in_time_and_says_so_once() {
    let server = filled().await;
    let mut server = server.restart_with(&[("WEBHOOK_DATABASE_CHECK_TIMEOUT", "1ms")]).await;
    server.get("/v1/buckets").await.expect(200);
    assert_eq!(server.log().matches("it goes on unchecked").count(), 1, "{}", server.log());
    server.terminate().await;
    let server = server.restart_with(&[("WEBHOOK_DATABASE_CHECK_TIMEOUT", "0s")]).await;
    assert_eq!(server.log().matches("it goes on unchecked").count(), 1, "nothing was checked");
}
