//! TLS, which the server can end itself.

use std::{path::PathBuf, time::Duration};

use super::{ConfigError, not_zero, value};

/// The certificates, and what a handshake may cost.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "TLS")]
pub(crate) struct TlsConfig {
    /// The server's certificate with what leads to its root, as PEM. With it the
    /// server speaks TLS only, 1.2 and 1.3, on the address it listens on.
    #[arg(long, env = "WEBHOOK_TLS_CERT", value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's private key, as PEM.
    #[arg(long, env = "WEBHOOK_TLS_KEY", value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A folder with certificates of reserved domains: DOMAIN.crt and
    /// DOMAIN.key, named after the domain in ASCII. Other names are shown the
    /// server's own.
    #[arg(long, env = "WEBHOOK_TLS_DOMAINS_DIR", value_name = "FOLDER")]
    pub(crate) tls_domains_dir: Option<PathBuf>,
    /// How often the files are looked at; what has changed is used from then on.
    /// SIGHUP looks at once.
    #[arg(long, env = "WEBHOOK_TLS_RELOAD_INTERVAL", default_value = "10s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) tls_reload_interval: Duration,
    /// How long a handshake may take before the connection is closed.
    #[arg(long, env = "WEBHOOK_TLS_HANDSHAKE_TIMEOUT", default_value = "10s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) tls_handshake_timeout: Duration,
    /// Handshakes at once; more wait within their timeout.
    #[arg(long, env = "WEBHOOK_MAX_TLS_HANDSHAKES", default_value_t = 512, value_name = "COUNT")]
    pub(crate) max_tls_handshakes: u32,
}

impl TlsConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let Self { tls_cert, tls_key, tls_domains_dir, .. } = self;
        match (tls_cert, tls_key) {
            (Some(_), None) => {
                return Err(ConfigError::new("WEBHOOK_TLS_KEY", "goes with WEBHOOK_TLS_CERT"));
            }
            (None, Some(_)) => {
                return Err(ConfigError::new("WEBHOOK_TLS_CERT", "goes with WEBHOOK_TLS_KEY"));
            }
            (None, None) if tls_domains_dir.is_some() => {
                let reason = "needs WEBHOOK_TLS_CERT, which all other names are shown";
                return Err(ConfigError::new("WEBHOOK_TLS_DOMAINS_DIR", reason));
            }
            _ => {}
        }
        not_zero("WEBHOOK_TLS_RELOAD_INTERVAL", self.tls_reload_interval)?;
        not_zero("WEBHOOK_TLS_HANDSHAKE_TIMEOUT", self.tls_handshake_timeout)?;
        super::at_least_one("WEBHOOK_MAX_TLS_HANDSHAKES", self.max_tls_handshakes as usize)
    }

    /// How the address that the server listens on begins.
    pub(crate) fn scheme(&self) -> &'static str {
        match self.tls_cert {
            Some(_) => "https",
            None => "http",
        }
    }
}
