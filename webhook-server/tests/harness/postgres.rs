//! A schema on the server that `TEST_POSTGRES_URL` names, made with `psql`.

use std::time::Duration;

use tokio::process::Command;

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
    place: super::turns::Place,
}

impl Schema {
    /// None when there is no server, or no `psql` to make a schema on it.
    #[allow(
        clippy::disallowed_methods,
        reason = "what a test needs from outside comes in variables"
    )]
    pub(crate) async fn create(what: &str) -> Option<Self> {
        let database = std::env::var("TEST_POSTGRES_URL").ok()?;
        let place = super::turns::schema().await;
        let name = format!("server_test_{what}_{}", std::process::id());
        let made = psql(&database, &format!("CREATE SCHEMA {name}")).await;
        let url = format!("{database}?options=-csearch_path%3D{name}");
        made.then_some(Self { url, database, name, place })
    }

    /// The port of the server, and what makes of another port a URL of the same schema.
    pub(crate) fn through_port(&self) -> (impl Fn(u16) -> String + use<>, u16) {
        let mut url = url::Url::parse(&self.url).expect("a URL");
        url.set_host(Some("127.0.0.1")).expect("it has a host");
        let port = url.port().unwrap_or(5432);
        let through = move |port| {
            let mut url = url.clone();
            url.set_port(Some(port)).expect("it has a host");
            url.to_string()
        };
        (through, port)
    }

    /// A role that may use the schema, and the URL of the database for it. Limits of connections
    /// count for it, as they do not for an administrator. It goes with the schema.
    pub(crate) async fn role(&self) -> (&str, String) {
        self.run(&format!("CREATE ROLE {0} LOGIN; ALTER SCHEMA {0} OWNER TO {0}", self.name)).await;
        let mut url = url::Url::parse(&self.url).expect("a URL");
        url.set_username(&self.name).expect("it has a host");
        (&self.name, url.to_string())
    }

    /// Runs this in the schema.
    pub(crate) async fn run(&self, sql: &str) {
        assert!(psql(&self.url, sql).await, "{sql}");
    }

    /// Drops it, when its servers have ended: a transaction of theirs would wait for this one, and
    /// this one for theirs.
    pub(crate) async fn remove(self) {
        let Self { database, name, place, .. } = self;
        let both = format!("DROP SCHEMA {name} CASCADE; DROP ROLE IF EXISTS {name}");
        let dropped = psql(&database, &format!("SET client_min_messages = error; {both}")).await;
        drop(place);
        assert!(dropped, "{name} cannot be dropped");
    }
}

pub(crate) fn skipped() {
    println!("skipped: TEST_POSTGRES_URL is not set, or psql cannot make a schema");
}

/// The API key that all nodes of a test have.
pub(crate) const KEY: &str = "sk-0123456789abcdef0123456789abcdef";
/// What all of them encrypt with.
pub(crate) const SECRET: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// How long a node that is gone holds its deliveries: less than by default, so that tests wait
/// less. A node looks five times during it whether another node is gone.
pub(crate) const LEASE: Duration = Duration::from_secs(2);
/// The option that gives a node this lease.
pub(crate) const LEASE_OPTION: (&str, &str) = ("WEBHOOK_SERVER_LEASE", "2s");

/// A node of several on the schema, with a lease of [`LEASE`].
pub(crate) async fn node(schema: &Schema) -> super::Server {
    node_with(schema, &[]).await
}

/// The same with further environment variables.
pub(crate) async fn node_with(schema: &Schema, further: &[(&str, &str)]) -> super::Server {
    super::Server::start_with(&[&options(schema), further].concat()).await
}

/// The same with a data folder that was made before.
pub(crate) async fn node_in(folder: tempfile::TempDir, schema: &Schema) -> super::Server {
    super::Server::start_in(folder, &options(schema)).await
}

/// What all nodes on the schema have.
fn options(schema: &Schema) -> [(&'static str, &str); 4] {
    [
        ("WEBHOOK_DATABASE_URL", &*schema.url),
        ("WEBHOOK_API_KEY", KEY),
        ("WEBHOOK_SECRET_KEY", SECRET),
        LEASE_OPTION,
    ]
}
