//! The parts of the running server, put together from the configuration.

pub(crate) mod data_folder;
pub(crate) mod first_start;
pub(crate) mod lifecycle;
pub(crate) mod nats;
pub(crate) mod node;
mod objects;
mod runtime;
pub(crate) mod warnings;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use webhook_core::{
    ErrorKind, Webhooks, admin::AdminOptions, forward::http::HttpForwarder, guard::AddressGuard,
    model::RetrySchedule, relay::RelayOptions, store::Stores,
};
use webhook_storage::Storage;

use crate::{
    config::{Config, StorageConfig},
    failure::Failure,
    router,
    socket::Sockets,
    state::AppState,
    telemetry::{Metrics, otel},
};

/// How long a server waits at its start for a database that an operator's command has open.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The parts of the running server.
pub(crate) struct Service {
    /// To be closed at the end.
    pub(crate) storage: Storage,
    pub(crate) webhooks: Webhooks,
    pub(crate) router: Router,
    pub(crate) state: AppState,
    pub(crate) sockets: Arc<Sockets>,
    pub(crate) tracer: otel::Tracer,
    /// The pages for people, where there are any.
    #[cfg(feature = "dashboard")]
    pub(crate) dashboard: Option<webhook_dashboard::Dashboard>,
}

impl Service {
    pub(crate) async fn build(config: &Config, bound: SocketAddr) -> Result<Self, Failure> {
        let mut opening = data_folder::open(&config.storage).await?;
        opening.objects = objects::open(&config.objects).await?;
        opening.lock_timeout = LOCK_TIMEOUT;
        let storage = Storage::connect(&opening).await?;
        let guard = guard(config);
        let broadcast = nats::connect(&config.cluster, &opening.secret_key).await?;
        let metrics = Arc::new(Metrics::new(config.storage.is_shared(), broadcast.clone()));
        let tracer = otel::start()?;
        let forwarder = HttpForwarder::builder().guard(guard.clone()).build();
        // One forwarder for deliveries and for what functions send: one guard.
        let stores = Stores::of(storage.clone());
        let runtime = runtime::start(config, forwarder.clone(), &stores.functions)?;
        let base = format!("{}://{bound}", config.tls.scheme());
        let public = config.listen.public_url.as_deref().unwrap_or(&base);
        let mut builder = Webhooks::builder(stores);
        if let Some(broadcast) = broadcast {
            builder = builder.broadcast(broadcast);
        }
        let webhooks = builder
            .forwarder(forwarder)
            .generator(runtime::generator(config, Arc::clone(&runtime))?)
            .functions(runtime)
            .quotas(config.billing.plans())
            .billing(config.billing.provider(public))
            .observer(otel::observer(Arc::clone(&metrics) as _, &tracer))
            .options(relay_options(config))
            .admin_options(admin_options(config, guard))
            .node(node::load_or_create(&config.storage.data_dir)?)
            .build();
        let state = AppState::new(webhooks.clone(), storage.clone(), metrics, config);
        let sockets = Arc::new(Sockets::new(state.clone(), &config.socket));
        #[cfg(feature = "dashboard")]
        {
            let (metrics, key) = (state.shared_metrics(), &opening.secret_key);
            let dashboard = crate::dashboard::build(config, &webhooks, metrics, key, public)?;
            let here = dashboard.as_ref().filter(|_| crate::dashboard::shares_origin(config));
            let here = here.map(|it| it.router());
            let router = router::router(state.clone(), Arc::clone(&sockets), config, here)?;
            Ok(Self { storage, webhooks, router, state, sockets, tracer, dashboard })
        }
        #[cfg(not(feature = "dashboard"))]
        {
            let router = router::router(state.clone(), Arc::clone(&sockets), config, None)?;
            Ok(Self { storage, webhooks, router, state, sockets, tracer })
        }
    }
}

/// What the operator's commands need, which receive and deliver nothing, and the
/// storage that is to be closed after them.
pub(crate) async fn webhooks(config: &Config) -> Result<(Webhooks, Storage), Failure> {
    let options = data_folder::open(&config.storage).await?;
    let storage = match Storage::connect(&options).await {
        // A server is running: no restart for an account.
        Err(error) if error.kind() == ErrorKind::Conflict => {
            Storage::connect_beside(&options).await?
        }
        opened => opened?,
    };
    let options = admin_options(config, guard(config));
    let builder = Webhooks::builder(Stores::of(storage.clone()));
    Ok((builder.admin_options(options).build(), storage))
}

fn admin_options(config: &Config, guard: AddressGuard) -> AdminOptions {
    let mut options = config.management.admin_options(guard);
    config.domains.bound(&config.listen, &mut options);
    options.max_functions_per_account = config.function.max_functions;
    if config.generate.generate_url.is_some() {
        // A function that waits for a model keeps no core from a search.
        options.max_generations += config.generate.generate_concurrency;
    }
    config.cron.bound(&mut options);
    options.log_retention = config.retention.log_retention.0;
    options
}

/// Brings the database up to date, and gives it tables for each day when that is asked for.
pub(crate) async fn migrate(config: &StorageConfig, by_day: bool) -> Result<(), Failure> {
    let options = data_folder::open(config).await?;
    match by_day {
        false => Ok(Storage::migrate(&options).await?),
        true => Ok(Storage::divide_by_day(&options).await?),
    }
}

fn guard(config: &Config) -> AddressGuard {
    match config.listen.dev {
        true => AddressGuard::allow_all(),
        false => config.delivery.allow_private_destinations.clone(),
    }
}

/// How long it may take until this server sees a cron that another server made. The other
/// server runs it in time; this bounds the delay when it has stopped meanwhile.
const SHARED_CRONS_AGE: Duration = Duration::from_secs(15);

/// How long it may take until this server sees a change that another server made in a
/// shared database.
const SHARED_ROUTE_AGE: Duration = Duration::from_secs(5);

fn relay_options(config: &Config) -> RelayOptions {
    let Config { listen, cluster, ingest, delivery, function, .. } = config;
    let mut options = RelayOptions::default();
    if config.storage.is_shared() {
        options.route_max_age = Some(SHARED_ROUTE_AGE);
        options.crons_max_age = Some(SHARED_CRONS_AGE);
        options.sweep_interval = Some(cluster.sweep_interval());
        options.lease = cluster.server_lease;
    }
    options.max_body_bytes = ingest.max_body_bytes;
    options.max_large_body_bytes = ingest.max_large_body_bytes;
    options.max_receiving_bytes = ingest.max_receiving_bytes;
    options.body_timeout = ingest.body_timeout;
    options.accept_timeout = ingest.accept_timeout;
    options.max_hops = ingest.max_hops;
    options.refused_logs_per_hour = ingest.refused_logs_per_hour;
    options.output_concurrency = delivery.output_concurrency;
    options.output_backlog = delivery.output_backlog;
    options.default_schedule = match delivery.default_schedule {
        Some(schedule) => schedule.schedule(),
        None => listen.dev.then_some(RetrySchedule::Medium),
    };
    options.memory_budget_bytes = delivery.memory_budget;
    options.recorded_runs = function.function_recorded_runs;
    options.kept_executions = function.function_kept_runs;
    options.max_recorded_body_bytes = function.function_recorded_body_bytes;
    // The other half is for the connections, which end first.
    options.drain_timeout = listen.shutdown_timeout / 2;
    options
}
