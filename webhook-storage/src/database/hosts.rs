//! The hosts that a URL of PostgreSQL names, and which of their servers is wanted.

use std::{fmt, io, time::Duration};

use sea_orm::{
    SqlxError,
    sqlx::{self, ConnectOptions as _, Executor, PgConnection, Row, postgres::PgConnectOptions},
};
use tokio::time::timeout;
use webhook_core::Error;

/// How long is waited for one host, when another one may be the right one.
pub(super) const HOST_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) const SILENT: &str = "does not answer";

/// The parameter of libpq that says which server is wanted.
const ATTRIBUTE: &str = "target_session_attrs";

/// Which server is wanted of those that take connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// The first one.
    Any,
    /// The first one whose transactions may write.
    ReadWrite,
    /// The first one that is no standby.
    Primary,
}

impl Wanted {
    fn of(value: &str) -> Option<Self> {
        match value {
            "any" => Some(Self::Any),
            "read-write" => Some(Self::ReadWrite),
            "primary" => Some(Self::Primary),
            _ => None,
        }
    }

    /// Whether the server of a connection is wanted.
    const fn question(self) -> &'static str {
        match self {
            Self::Any => "SELECT true",
            Self::ReadWrite => {
                "SELECT NOT pg_is_in_recovery() \
                 AND current_setting('transaction_read_only') = 'off'"
            }
            Self::Primary => "SELECT NOT pg_is_in_recovery()",
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "any",
            Self::ReadWrite => "read-write",
            Self::Primary => "primary",
        })
    }
}

/// The hosts of a URL, in its order.
#[derive(Debug)]
pub(super) struct Hosts {
    hosts: Vec<PgConnectOptions>,
    wanted: Wanted,
}

impl Hosts {
    /// Reads `postgres://user@one:5432,other:5433/name?target_session_attrs=read-write`.
    pub(super) fn of(url: &str) -> Result<Self, Error> {
        let refuse = |reason: String| Error::invalid("database url", reason);
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let (user, names) = match authority.rsplit_once('@') {
            Some((user, names)) => (format!("{user}@"), names),
            None => (String::new(), authority),
        };
        let mut wanted = Wanted::Any;
        let mut parameters = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if name == ATTRIBUTE {
                wanted = Wanted::of(value).ok_or_else(|| {
                    refuse(format!(
                        "{ATTRIBUTE} must be read-write, primary or any, because the server \
                         writes to the database; it is {value:?}"
                    ))
                })?;
                continue;
            }
            if matches!(name, "host" | "hostaddr" | "port")
                && (names.contains(',') || value.contains(',') || value.contains("%2C"))
            {
                return Err(refuse(format!(
                    "several hosts must stand before the name of the database, as in \
                     postgres://one:5432,other:5432/name, and not in {name}="
                )));
            }
            parameters.push(parameter);
        }
        let parameters = parameters.join("&");
        let names: Vec<_> = names.split(',').collect();
        if names.len() > 1 && names.iter().any(|name| name.is_empty() || name.starts_with(':')) {
            return Err(refuse("one of several hosts has no name".to_owned()));
        }
        let host = |name: &&str| {
            let url = format!("postgres://{user}{name}/{path}?{parameters}");
            let options = url.parse::<PgConnectOptions>();
            options.map_err(|error| refuse(format!("cannot be read: {error}")))
        };
        Ok(Self { hosts: names.iter().map(host).collect::<Result<_, _>>()?, wanted })
    }

    /// The same, with each host's options changed.
    pub(super) fn map(self, change: impl FnMut(PgConnectOptions) -> PgConnectOptions) -> Self {
        Self { hosts: self.hosts.into_iter().map(change).collect(), ..self }
    }

    /// Whether a server has to be looked for: one host is connected to whatever it is.
    pub(super) fn are_to_choose(&self) -> bool {
        self.hosts.len() > 1 || self.wanted != Wanted::Any
    }

    pub(super) fn get(&self, number: usize) -> Option<&PgConnectOptions> {
        self.hosts.get(number)
    }

    /// A host with its port.
    pub(super) fn name(&self, number: usize) -> String {
        self.get(number).map(name).unwrap_or_default()
    }

    /// Fails unless the server of this connection is wanted.
    pub(super) async fn expect_wanted(
        &self,
        connection: &mut PgConnection,
    ) -> Result<(), SqlxError> {
        let asking = connection.fetch_one(sqlx::raw_sql(self.wanted.question()));
        match asking.await?.try_get::<bool, _>(0)? {
            true => Ok(()),
            false => Err(SqlxError::Io(io::Error::other(match self.wanted {
                Wanted::Primary => "is a standby",
                _ => "is read-only",
            }))),
        }
    }

    /// Connects to the first host whose server is wanted; which one that is. Else what is wrong
    /// with each of them.
    pub(super) async fn find(&self) -> Result<(usize, PgConnection), NoHost> {
        let mut wrong = Vec::new();
        for (number, host) in self.hosts.iter().enumerate() {
            let found = async {
                let mut connection = host.connect().await?;
                self.expect_wanted(&mut connection).await?;
                Ok::<_, SqlxError>(connection)
            };
            let reason = match timeout(HOST_TIMEOUT, found).await {
                Ok(Ok(connection)) => return Ok((number, connection)),
                Ok(Err(error)) => reason(&error),
                Err(_) => SILENT.to_owned(),
            };
            wrong.push(format!("{}: {reason}", name(host)));
        }
        Err(NoHost { wanted: self.wanted, wrong: wrong.join("; ") })
    }
}

/// Says why a host cannot be used.
pub(super) fn reason(error: &SqlxError) -> String {
    match error {
        SqlxError::Io(error) => error.to_string(),
        error => error.to_string(),
    }
}

fn name(host: &PgConnectOptions) -> String {
    format!("{}:{}", host.get_host(), host.get_port())
}

/// No host has a server that is wanted.
#[derive(Debug, thiserror::Error)]
#[error("no host is as {ATTRIBUTE}={wanted} asks: {wrong}")]
pub(super) struct NoHost {
    wanted: Wanted,
    wrong: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(url: &str) -> Vec<String> {
        let hosts = Hosts::of(url).expect(url);
        (0..hosts.hosts.len()).map(|number| hosts.name(number)).collect()
    }

    #[test]
    fn hosts_are_read_in_their_order() {
        for (url, expected) in [
            ("postgres://db/hooks", &["db:5432"][..]),
            ("postgres://a:1,b,[::1]:3/hooks", &["a:1", "b:5432", "[::1]:3"]),
            ("postgres://me:s%40@a,b:2/hooks?sslmode=require", &["a:5432", "b:2"]),
            ("postgres://a,b", &["a:5432", "b:5432"]),
            ("postgres://a,b?target_session_attrs=primary", &["a:5432", "b:5432"]),
            ("postgres:///hooks?host=a&port=6", &["a:6"]),
        ] {
            assert_eq!(names(url), expected, "{url}");
        }
        let url = "postgres://me:s%40@a,b:2/hooks?target_session_attrs=read-write&sslmode=require";
        let hosts = Hosts::of(url).expect(url);
        assert_eq!(hosts.wanted, Wanted::ReadWrite);
        for host in &hosts.hosts {
            assert_eq!((host.get_username(), host.get_database()), ("me", Some("hooks")));
            assert!(matches!(host.get_ssl_mode(), sqlx::postgres::PgSslMode::Require));
        }
    }

    #[test]
    fn one_host_is_looked_for_when_a_server_is_wanted() {
        for (url, looked_for) in [
            ("postgres://db/hooks", false),
            ("postgres://db/hooks?target_session_attrs=any", false),
            ("postgres://db/hooks?target_session_attrs=primary", true),
            ("postgres://a,b/hooks", true),
        ] {
            assert_eq!(Hosts::of(url).expect(url).are_to_choose(), looked_for, "{url}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_what_to_write() {
        for (url, expected) in [
            ("postgres://a/x?target_session_attrs=standby", "must be read-write, primary or any"),
            ("postgres://a/x?target_session_attrs=", "must be read-write, primary or any"),
            ("postgres:///x?host=a,b", "as in postgres://one:5432,other:5432/name"),
            ("postgres:///x?host=a%2Cb", "and not in host="),
            ("postgres://a,b/x?port=5433", "and not in port="),
            ("postgres://a,,b/x", "one of several hosts has no name"),
            ("postgres://:1,b/x", "one of several hosts has no name"),
            ("postgres://a:z,b/x", "cannot be read: "),
        ] {
            let error = Hosts::of(url).expect_err(url).to_string();
            assert!(error.starts_with("database url: ") && error.contains(expected), "{error}");
        }
    }
}
