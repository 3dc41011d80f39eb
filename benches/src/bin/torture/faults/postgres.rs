//! The connections to PostgreSQL are cut several times under load, with
//! `pg_terminate_backend`. Half of the rounds end with the same process, which
//! nobody starts again, and the others with `kill -9`.

use std::{
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use benches::Outcome;

use super::{Fault, Prepared, restart};
use crate::{
    namespaces::{ask, run},
    rig::{Load, Rig},
    sink::Order,
};

/// How long the first webhook may take to arrive.
const PATIENCE: Duration = Duration::from_secs(20);

static MADE: AtomicU32 = AtomicU32::new(0);

/// A database of its own, which goes with this.
#[derive(Debug)]
pub(super) struct Postgres {
    /// Where databases are made.
    server: String,
    name: String,
    url: String,
}

impl Drop for Postgres {
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

impl Postgres {
    pub(super) fn prepare(data: PathBuf) -> Outcome<Prepared> {
        let Ok(server) = std::env::var("TEST_POSTGRES_URL") else {
            return Ok(Prepared::Skipped("TEST_POSTGRES_URL is not set".to_owned()));
        };
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("torture_{}_{number}", std::process::id());
        if let Err(error) = ask(&mut psql(&server, &format!("CREATE DATABASE {name}"))) {
            return Ok(Prepared::Skipped(format!("no database can be made: {error}")));
        }
        let url = named(&server, &name);
        Ok(Prepared::Ready(Box::new(Self { server, name, url }), data))
    }

    /// Ends every connection to the database; how many there were.
    fn cut(&self) -> Outcome<u64> {
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

impl Fault for Postgres {
    fn variables(&self) -> Vec<(String, String)> {
        vec![("WEBHOOK_DATABASE_URL".to_owned(), self.url.clone())]
    }

    fn load(&self) -> Load {
        Load { lasts: Duration::from_millis(1_500), ..Load::default() }
    }

    fn strike(&mut self, rig: &mut Rig<'_>) -> Outcome<()> {
        // A server whose relay finds no database when it starts ends, and says so.
        let began = Instant::now();
        while rig.order(&Order::Open(true))?.first.is_none() {
            if began.elapsed() > PATIENCE {
                return Err("nothing arrived before the first cut".into());
            }
            // How often depends on the machine, and so not on chance, which a seed repeats.
            std::thread::sleep(Duration::from_millis(2));
        }
        let mut cut = 0;
        for _ in 0..rig.random.u32(3..10) {
            rig.wait(10, 150);
            cut += self.cut()?;
        }
        if cut == 0 {
            return Err("the server had no connection that could be cut".into());
        }
        match rig.random.bool() {
            true => restart(rig, |rig| rig.kill()),
            false => rig.recover(),
        }
    }
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
