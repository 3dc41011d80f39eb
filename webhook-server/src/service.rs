//! The parts of the running server, put together from the configuration.

use std::{path::Path, sync::Arc};

use axum::Router;
use webhook_core::{
    SystemClock,
    admin::{Admin, Unwatched},
    forward::{guard::AddressGuard, http::HttpForwarder},
    relay::{Relay, RelayOptions},
    store::Stores,
};
use webhook_storage::{DatabaseUrl, SecretKey, Storage, StorageOptions};

use crate::{
    config::{Config, StorageConfig},
    failure::Failure,
    router,
    state::AppState,
    telemetry::Metrics,
};

/// The parts of the running server.
pub(crate) struct Service {
    /// To be closed at the end.
    pub(crate) storage: Storage,
    pub(crate) admin: Arc<Admin>,
    pub(crate) relay: Relay,
    pub(crate) router: Router,
    pub(crate) state: AppState,
}

impl Service {
    pub(crate) async fn build(config: &Config) -> Result<Self, Failure> {
        let storage = open(&config.storage).await?;
        let stores = Stores::of(storage.clone());
        let guard = guard(config);
        let metrics = Arc::new(Metrics::new());
        let forwarder = HttpForwarder::builder().guard(guard.clone()).build();
        let relay = Relay::builder(stores.clone(), forwarder)
            .observer(Arc::clone(&metrics) as _)
            .options(relay_options(config))
            .build();
        let admin = Arc::new(Admin::new(
            stores,
            Arc::new(SystemClock),
            config.management.admin_options(guard),
            Arc::new(relay.clone()),
        ));
        let state = AppState::new(Arc::clone(&admin), relay.clone(), metrics, config)?;
        let router = router::router(state.clone());
        Ok(Self { storage, admin, relay, router, state })
    }
}

/// The operations that the operator's commands need, and the storage that is
/// to be closed after them.
pub(crate) async fn admin(config: &Config) -> Result<(Admin, Storage), Failure> {
    let storage = open(&config.storage).await?;
    let options = config.management.admin_options(guard(config));
    let stores = Stores::of(storage.clone());
    Ok((Admin::new(stores, Arc::new(SystemClock), options, Arc::new(Unwatched)), storage))
}

/// Brings the database up to date.
pub(crate) async fn migrate(config: &StorageConfig) -> Result<(), Failure> {
    Ok(Storage::migrate(&storage_options(config)?).await?)
}

async fn open(config: &StorageConfig) -> Result<Storage, Failure> {
    Ok(Storage::connect(&storage_options(config)?).await?)
}

fn storage_options(config: &StorageConfig) -> Result<StorageOptions, Failure> {
    let folder = &config.data_dir;
    create_private(folder).map_err(|error| {
        Failure::io(format!("cannot make the data folder {}", folder.display()), error)
    })?;
    let url = match &config.database_url {
        Some(url) => url.clone(),
        None => DatabaseUrl::Sqlite(folder.join("webhooks.db")),
    };
    let key = match &config.secret_key {
        Some(key) => key.clone(),
        None => SecretKey::load_or_create(folder.join("secret.key"))?,
    };
    Ok(StorageOptions::new(url, key))
}

/// Makes a folder that only its owner may look into; one that is there stays as it is.
fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn guard(config: &Config) -> AddressGuard {
    match config.listen.dev {
        true => AddressGuard::allow_all(),
        false => config.delivery.allow_private_destinations.clone(),
    }
}

fn relay_options(config: &Config) -> RelayOptions {
    let Config { listen, ingest, delivery, .. } = config;
    let mut options = RelayOptions::default();
    options.max_body_bytes = ingest.max_body_bytes;
    options.max_large_body_bytes = ingest.max_large_body_bytes;
    options.max_receiving_bytes = ingest.max_receiving_bytes;
    options.body_timeout = ingest.body_timeout;
    options.accept_timeout = ingest.accept_timeout;
    options.output_concurrency = delivery.output_concurrency;
    options.output_backlog = delivery.output_backlog;
    options.memory_budget_bytes = delivery.memory_budget;
    // The other half is for the connections, which end first.
    options.drain_timeout = listen.shutdown_timeout / 2;
    options
}
