//! The listener and its connections.

use std::{net::SocketAddr, time::Duration};

use webhook_core::relay::TrustedProxies;

use super::{Aliases, ConfigError, at_least_one, not_zero, refuse_if, value};

/// The longest time between SIGTERM and the end of accepting.
const MAX_SHUTDOWN_DELAY: Duration = Duration::from_secs(600);

/// Where the server listens, and what a connection may cost.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Listening")]
pub(crate) struct ListenConfig {
    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, env = "WEBHOOK_LISTEN", default_value = "127.0.0.1:8080")]
    #[arg(value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// The address that senders reach this server at, http://ADDRESS:PORT
    /// unless set. With https, webhooks count as received over TLS. Its host,
    /// and what is above and below it, cannot be reserved as a domain; without
    /// it, and with several accounts, none can.
    #[arg(long, env = "WEBHOOK_PUBLIC_URL", value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Further names that this server is reached under, separated by commas:
    /// like the host of WEBHOOK_PUBLIC_URL they are never taken for domains.
    #[arg(long, env = "WEBHOOK_PUBLIC_ALIASES", default_value = "", value_name = "DOMAINS")]
    pub(crate) public_aliases: Aliases,
    /// The networks of the proxies in front of this server, separated by commas.
    /// From them, and from nobody else, X-Forwarded-For, -Proto and -Host say
    /// who sends, whether over TLS, and to which host.
    #[arg(long, env = "WEBHOOK_TRUSTED_PROXIES", default_value = "", value_name = "NETWORKS")]
    pub(crate) trusted_proxies: TrustedProxies,
    /// For a laptop: listens on loopback only, allows private destinations,
    /// and makes a first bucket to try things with.
    #[arg(long, env = "WEBHOOK_DEV")]
    pub(crate) dev: bool,
    /// Connections that are open at once. One more takes the place of the one that
    /// has been idle for longest, or waits when all are busy.
    #[arg(long, env = "WEBHOOK_MAX_CONNECTIONS", default_value_t = 10_000, value_name = "COUNT")]
    pub(crate) max_connections: usize,
    /// How long a request's headers may take to arrive, and how long an idle
    /// HTTP/1.1 connection is kept.
    #[arg(long, env = "WEBHOOK_HEADER_TIMEOUT", default_value = "30s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) header_timeout: Duration,
    /// Headers of one request; over it the sender gets 431.
    #[arg(long, env = "WEBHOOK_MAX_HEADERS", default_value_t = 100, value_name = "COUNT")]
    pub(crate) max_headers: usize,
    /// All headers of one request together, at least 8KiB; over it the sender gets 431.
    #[arg(long, env = "WEBHOOK_MAX_HEADER_BYTES", default_value = "64KiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) max_header_bytes: usize,
    /// Whether each core has a thread of its own for the connections that are put
    /// there. Otherwise all threads serve all connections, which costs more.
    #[arg(long, env = "WEBHOOK_CORE_RUNTIMES", default_value_t = true)]
    #[arg(value_name = "true|false", action = clap::ArgAction::Set)]
    pub(crate) core_runtimes: bool,
    /// How long the server takes connections after SIGTERM, while /readyz is 503: as
    /// long as what is in front of it takes to send elsewhere. A second SIGTERM ends it.
    #[arg(long, env = "WEBHOOK_SHUTDOWN_DELAY", default_value = "0s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) shutdown_delay: Duration,
    /// How long the server then waits for what is in flight before it exits.
    #[arg(long, env = "WEBHOOK_SHUTDOWN_TIMEOUT", default_value = "30s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) shutdown_timeout: Duration,
}

impl ListenConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let reason = format!("with --dev it must be a loopback address, not {}", self.listen);
        refuse_if(self.dev && !self.listen.ip().is_loopback(), "WEBHOOK_LISTEN", reason)?;
        if let Some(url) = &self.public_url {
            let uri: Option<http::Uri> = url.parse().ok();
            let valid = uri.is_some_and(|uri| {
                matches!(uri.scheme_str(), Some("http" | "https"))
                    && uri.authority().is_some()
                    && uri.query().is_none()
            });
            let reason = format!("{url:?} is not a URL such as https://hooks.example.com");
            refuse_if(!valid, "WEBHOOK_PUBLIC_URL", reason)?;
        }
        at_least_one("WEBHOOK_MAX_CONNECTIONS", self.max_connections)?;
        at_least_one("WEBHOOK_MAX_HEADERS", self.max_headers)?;
        not_zero("WEBHOOK_HEADER_TIMEOUT", self.header_timeout)?;
        let is_long = self.shutdown_delay > MAX_SHUTDOWN_DELAY;
        refuse_if(is_long, "WEBHOOK_SHUTDOWN_DELAY", "must be at most 10m")?;
        let fits = (8 << 10..=16 << 20).contains(&self.max_header_bytes);
        refuse_if(!fits, "WEBHOOK_MAX_HEADER_BYTES", "must be from 8KiB to 16MiB")
    }
}
