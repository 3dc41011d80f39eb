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
pub(crate) use management::ManagementConfig;
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
fn expect_one_database() -> Result<(), ConfigError> {
    let is_set = unknown_variables().iter().any(|name| name == SHARDS);
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

/// Variables that look like options of this server and are none: most likely misspelt.
#[allow(clippy::disallowed_methods, reason = "which variables are no options is the question")]
pub(crate) fn unknown_variables() -> Vec<String> {
    use clap::CommandFactory;
    let command = crate::cli::Cli::command();
    let commands = std::iter::once(&command).chain(command.get_subcommands());
    let arguments = commands.flat_map(clap::Command::get_arguments);
    let known: Vec<_> = arguments.filter_map(clap::Arg::get_env).collect();
    let mut unknown: Vec<String> = std::env::vars_os()
        .map(|(name, _)| name)
        .filter(|name| name.as_encoded_bytes().starts_with(b"WEBHOOK_"))
        .filter(|name| !known.contains(&name.as_os_str()))
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    unknown.sort();
    unknown
}
