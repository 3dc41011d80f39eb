//! A PostgreSQL database of a round's own.

use std::{
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use benches::Outcome;

use crate::namespaces::{ask, run};

static MADE: AtomicU32 = AtomicU32::new(0);

/// A database, which is dropped with this.
#[derive(Debug)]
pub(crate) struct Database {
    /// Where databases are made.
    server: String,
    name: String,
    url: String,
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        if !run(&mut psql(&self.server, &drop)) {
            eprintln!("torture: the database {} is still there", self.name);
        }
    }
}

fn psql(url: &str, sql: &str) -> Command {
    let mut command = Command::new("psql");
    command.args([url, "-qAt", "-v", "ON_ERROR_STOP=1", "-c", sql]);
    command
}

impl Database {
    /// An empty database; why there is none, where none can be made.
    pub(crate) fn make() -> Result<Self, String> {
        let Ok(server) = std::env::var("TEST_POSTGRES_URL") else {
            return Err("TEST_POSTGRES_URL is not set".to_owned());
        };
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("torture_{}_{number}", std::process::id());
        if let Err(error) = ask(&mut psql(&server, &format!("CREATE DATABASE {name}"))) {
            return Err(format!("no database can be made: {error}"));
        }
        let url = named(&server, &name);
        Ok(Self { server, name, url })
    }

    /// What a server is started with to use it.
    pub(crate) fn variable(&self) -> (String, String) {
        ("WEBHOOK_DATABASE_URL".to_owned(), self.url.clone())
    }

    /// Ends every connection to the database; how many there were.
    pub(crate) fn cut(&self) -> Outcome<u64> {
        let sql = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE datname = '{}' AND pid <> pg_backend_pid()",
            self.name
        );
        Ok(ask(&mut psql(&self.server, &sql))?.trim().parse()?)
    }
}

/// The same server with another database.
fn named(url: &str, name: &str) -> String {
    let (place, options) = url.split_once('?').unwrap_or((url, ""));
    let authority = place.find("://").map_or(0, |at| at + 3);
    let end = place[authority..].find('/').map_or(place.len(), |at| authority + at);
    let mark = if options.is_empty() { "" } else { "?" };
    format!("{}/{name}{mark}{options}", &place[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_of_an_address_is_replaced() {
        for (url, named_so) in [
            ("postgres://a@h:5432/test", "postgres://a@h:5432/mine"),
            ("postgres://h", "postgres://h/mine"),
            ("postgres://h/test?sslmode=disable", "postgres://h/mine?sslmode=disable"),
        ] {
            assert_eq!(named(url, "mine"), named_so);
        }
    }
}
