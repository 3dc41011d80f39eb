//! What the operator sets: one section per file, each option as a flag and as
//! an environment variable of the same name.
//!
//! `docs/configuration.md` is made from these definitions and a test compares it.

mod billing;
mod cluster;
mod connection;
mod cron;
mod dashboard;
mod delivery;
mod domains;
mod function;
mod generate;
mod ingest;
mod listen;
mod log;
mod management;
pub(crate) mod memory;
mod metrics;
mod objects;
#[cfg(test)]
mod reference;
mod retention;
mod socket;
mod storage;
mod tls;
mod value;

use std::time::Duration;

pub(crate) use billing::BillingConfig;
pub(crate) use cluster::ClusterConfig;
pub(crate) use connection::ConnectionConfig;
pub(crate) use cron::CronConfig;
pub(crate) use dashboard::DashboardConfig;
pub(crate) use delivery::DeliveryConfig;
pub(crate) use domains::{Aliases, DomainsConfig};
pub(crate) use function::FunctionConfig;
pub(crate) use generate::GenerateConfig;
pub(crate) use ingest::IngestConfig;
pub(crate) use listen::ListenConfig;
pub(crate) use log::{LogConfig, LogFormat};
pub(crate) use management::{MAX_REPORT_BYTES, ManagementConfig};
pub(crate) use metrics::MetricsConfig;
pub(crate) use objects::ObjectsConfig;
pub(crate) use retention::{Retention, RetentionConfig};
pub(crate) use socket::SocketConfig;
pub(crate) use storage::StorageConfig;
pub(crate) use tls::TlsConfig;
pub(crate) use value::duration;
use webhook_core::model::Secret;

/// The list of databases that earlier versions could spread webhooks over.
const SHARDS: &str = "WEBHOOK_SHARDS";

/// All sections.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Config {
    #[command(flatten)]
    pub(crate) listen: ListenConfig,
    #[command(flatten)]
    pub(crate) connection: ConnectionConfig,
    #[command(flatten)]
    pub(crate) tls: TlsConfig,
    #[command(flatten)]
    pub(crate) storage: StorageConfig,
    #[command(flatten)]
    pub(crate) objects: ObjectsConfig,
    #[command(flatten)]
    pub(crate) cluster: ClusterConfig,
    #[command(flatten)]
    pub(crate) ingest: IngestConfig,
    #[command(flatten)]
    pub(crate) delivery: DeliveryConfig,
    #[command(flatten)]
    pub(crate) function: FunctionConfig,
    #[command(flatten)]
    pub(crate) generate: GenerateConfig,
    #[command(flatten)]
    pub(crate) retention: RetentionConfig,
    #[command(flatten)]
    pub(crate) management: ManagementConfig,
    #[command(flatten)]
    pub(crate) domains: DomainsConfig,
    #[command(flatten)]
    pub(crate) cron: CronConfig,
    #[command(flatten)]
    pub(crate) socket: SocketConfig,
    #[command(flatten)]
    pub(crate) billing: BillingConfig,
    #[command(flatten)]
    pub(crate) metrics: MetricsConfig,
    #[command(flatten)]
    pub(crate) dashboard: DashboardConfig,
    #[command(flatten)]
    pub(crate) log: LogConfig,
}

/// An option, or several together, that make no sense.
#[derive(Debug, thiserror::Error)]
#[error("{option}: {reason}")]
pub(crate) struct ConfigError {
    option: &'static str,
    reason: String,
}

impl ConfigError {
    pub(crate) fn new(option: &'static str, reason: impl Into<String>) -> Self {
        Self { option, reason: reason.into() }
    }
}

impl Config {
    /// Whether the options fit together.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.problems().into_iter().next().map_or(Ok(()), Err)
    }

    /// What does not fit: the first thing of each section.
    pub(crate) fn problems(&self) -> Vec<ConfigError> {
        let sections = [
            self.listen.validate(),
            self.connection.validate(),
            self.tls.validate(),
            self.storage.validate(),
            self.objects.validate(),
            self.cluster.validate(&self.storage),
            self.ingest.validate(),
            self.delivery.validate(),
            self.function.validate(),
            self.generate.validate(),
            self.retention.validate(),
            self.management.validate(),
            self.cron.validate(),
            self.socket.validate(),
            self.billing.validate(),
            self.metrics.validate(),
            self.dashboard.validate(&self.listen),
            self.log.validate(),
            expect_one_database(),
        ];
        sections.into_iter().filter_map(Result::err).collect()
    }
}

/// A secret as it is: none of its characters means anything here.
fn secret(text: &str) -> Result<Secret, std::convert::Infallible> {
    Ok(Secret::new(text))
}

/// Refuses the list of databases of earlier versions. Webhooks in the other databases would
/// be hidden.
#[allow(clippy::disallowed_methods, reason = "this version has no option of this name")]
fn expect_one_database() -> Result<(), ConfigError> {
    let is_set = std::env::var_os(SHARDS).is_some();
    let reason = "this version keeps all webhooks in one database: with the version before, move \
                  all slots to shard 0, then unset it";
    refuse_if(is_set, SHARDS, reason)
}

/// Refuses an option where its value is wrong.
fn refuse_if(
    is_wrong: bool,
    option: &'static str,
    reason: impl Into<String>,
) -> Result<(), ConfigError> {
    match is_wrong {
        true => Err(ConfigError::new(option, reason)),
        false => Ok(()),
    }
}

/// Refuses zero where it would mean that nothing works.
fn at_least_one(option: &'static str, value: usize) -> Result<(), ConfigError> {
    refuse_if(value == 0, option, "must be at least 1")
}

fn not_zero(option: &'static str, duration: Duration) -> Result<(), ConfigError> {
    refuse_if(duration.is_zero(), option, "must not be zero")
}

/// Variables that look like options of this command and are none: most likely misspelt. The
/// variables that Kubernetes makes of services do not count.
#[allow(clippy::disallowed_methods, reason = "which variables are no options is the question")]
pub(crate) fn unknown_variables(command: &clap::Command) -> Vec<String> {
    let commands = std::iter::once(command).chain(command.get_subcommands());
    let arguments = commands.flat_map(clap::Command::get_arguments);
    let known: Vec<_> = arguments.filter_map(clap::Arg::get_env).collect();
    let mut unknown: Vec<String> = std::env::vars_os()
        .filter(|(name, _)| name.as_encoded_bytes().starts_with(b"WEBHOOK_"))
        .filter(|(name, _)| !known.contains(&name.as_os_str()))
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value))
        .filter(|(name, value)| !is_of_service(name, &value.to_string_lossy()))
        .map(|(name, _)| name)
        .collect();
    unknown.sort();
    unknown
}

/// Whether Kubernetes, or Docker for a link, makes this variable of a service: of a service
/// `webhook-server` it makes `WEBHOOK_SERVER_SERVICE_HOST` and `WEBHOOK_SERVER_PORT_80_TCP_ADDR`.
fn is_of_service(name: &str, value: &str) -> bool {
    if name.ends_with("_SERVICE_HOST") || name.ends_with("_SERVICE_PORT") {
        return true;
    }
    if name.contains("_SERVICE_PORT_") {
        return value.parse::<u16>().is_ok();
    }
    let is_protocol = |word: &str| matches!(word, "TCP" | "UDP" | "SCTP");
    let Some((_, port)) = name.split_once("_PORT") else { return false };
    match port.split('_').collect::<Vec<_>>()[..] {
        [""] => value
            .split_once("://")
            .is_some_and(|(scheme, _)| is_protocol(&scheme.to_ascii_uppercase())),
        ["", port, protocol] | ["", port, protocol, "PROTO" | "PORT" | "ADDR"] => {
            port.parse::<u16>().is_ok() && is_protocol(protocol)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_service;

    #[test]
    fn variables_of_services_are_known() {
        for (name, value) in [
            ("WEBHOOK_SERVER_SERVICE_HOST", "10.0.0.7"),
            ("WEBHOOK_SERVER_SERVICE_PORT", "80"),
            ("WEBHOOK_SERVER_SERVICE_PORT_HTTP", "80"),
            ("WEBHOOK_SERVER_PORT", "tcp://10.0.0.7:80"),
            ("WEBHOOK_SERVER_PORT_80_TCP", "tcp://10.0.0.7:80"),
            ("WEBHOOK_SERVER_PORT_80_TCP_PROTO", "tcp"),
            ("WEBHOOK_SERVER_PORT_80_TCP_PORT", "80"),
            ("WEBHOOK_SERVER_PORT_53_UDP_ADDR", "10.0.0.7"),
            ("WEBHOOK_PORT", "tcp://10.0.0.7:80"),
        ] {
            assert!(is_of_service(name, value), "{name}");
        }
        for (name, value) in [
            ("WEBHOOK_PORT", "8080"),
            ("WEBHOOK_PORT", "https://hooks.example.com"),
            ("WEBHOOK_SERVICE_PORT_NAME", "http"),
            ("WEBHOOK_PORTS", "tcp://10.0.0.7:80"),
            ("WEBHOOK_PORT_80", "80"),
            ("WEBHOOK_PORT_HTTP_TCP", "80"),
            ("WEBHOOK_MAX_BODY", "3MiB"),
        ] {
            assert!(!is_of_service(name, value), "{name}={value}");
        }
    }
}
