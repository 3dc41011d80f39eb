//! The same through PostgreSQL, when `TEST_POSTGRES_URL` names a server and
//! `psql` is there to make a schema on it.

use tokio::process::Command;

use super::*;
use crate::sink::Reply;

async fn psql(server: &str, sql: &str) -> bool {
    let run = Command::new("psql").args([server, "-q", "-c", sql]).status().await;
    run.is_ok_and(|status| status.success())
}

/// A schema of its own, on the server that `TEST_POSTGRES_URL` names.
pub(crate) struct Schema {
    /// The database, for the servers of the test.
    pub(crate) url: String,
    database: String,
    name: String,
}

impl Schema {
    /// None when there is no server, or no `psql` to make a schema on it.
    #[allow(
        clippy::disallowed_methods,
        reason = "what a test needs from outside comes in variables"
    )]
    pub(crate) async fn create(what: &str) -> Option<Self> {
        let database = std::env::var("TEST_POSTGRES_URL").ok()?;
        let name = format!("server_test_{what}_{}", std::process::id());
        let made = psql(&database, &format!("CREATE SCHEMA {name}")).await;
        let url = format!("{database}?options=-csearch_path%3D{name}");
        made.then_some(Self { url, database, name })
    }

    /// Runs this in the schema.
    pub(crate) async fn run(&self, sql: &str) {
        assert!(psql(&self.url, sql).await, "{sql}");
    }

    pub(crate) async fn remove(self) {
        let Self { database, name, .. } = self;
        assert!(psql(&database, &format!("DROP SCHEMA {name} CASCADE")).await);
    }
}

pub(crate) fn skipped() {
    println!("skipped: TEST_POSTGRES_URL is not set, or psql cannot make a schema");
}

#[tokio::test]
async fn what_was_acknowledged_arrives_after_kill_9_and_the_node_goes_on_at_once() {
    let Some(schema) = Schema::create("crash").await else { return skipped() };
    let sink = Sink::scripted(|number| Reply::Status(if number == 0 { 503 } else { 200 })).await;
    let mut server = Server::start_with(&[("WEBHOOK_DATABASE_URL", &schema.url)]).await;
    let bucket = server.bucket("events").await;
    server.output(&bucket, json!({ "name": "sink", "destination": sink.base })).await;
    let bodies: Vec<_> = (0..50).map(|number| number.to_string()).collect();
    for body in &bodies {
        let request = server.anonymous("POST", &input_path(&bucket));
        request.body(body.clone()).send().await.expect(200);
    }
    server.kill().await;
    let mut server = server.restart().await;
    server.anonymous("POST", &input_path(&bucket)).body("after").send().await.expect(200);
    let arrived = async {
        loop {
            let arrived = sink.so_far();
            let came = |body: &String| arrived.iter().any(|arrived| arrived.body == *body);
            if bodies.iter().all(came) && came(&"after".to_owned()) {
                return;
            }
            sink.received(arrived.len() + 1).await;
        }
    };
    // Well below the lease of 15 s that another node would have to wait for.
    let in_time = tokio::time::timeout(std::time::Duration::from_secs(12), arrived).await;
    assert!(in_time.is_ok(), "{} of 51 arrived", sink.so_far().len());
    assert!(server.terminate().await.success());
    schema.remove().await;
}
