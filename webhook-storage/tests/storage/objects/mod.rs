//! Bodies in an object store that can be away and lose what it has.

mod accepting;
mod delivering;
mod erasing;
mod reading;
mod replaying;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Semaphore;
use webhook_core::{
    DeliveryId, NodeId, OutputId, WebhookId,
    store::{Accept, Lease},
};
use webhook_storage::{ObjectError, ObjectOptions, ObjectStore, Storage, StorageOptions};

use crate::{
    databases::open,
    sample::{self, NOW, delivery, webhook, with},
};

/// How long a body may be that stays in its row.
const MIN_BYTES: usize = 100;

/// How many may be put at once.
const GATE: u32 = 1_000;

/// Objects in memory.
#[derive(Debug)]
pub(crate) struct Objects {
    state: Mutex<State>,
    /// What waits before it is put.
    gate: Semaphore,
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, Bytes>,
    is_away: bool,
    /// What cannot be read, and the rest can.
    unreadable: Option<String>,
    gets: usize,
}

impl Objects {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), gate: Semaphore::new(GATE as usize) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test has panicked")
    }

    fn answering(&self) -> Result<MutexGuard<'_, State>, ObjectError> {
        let state = self.state();
        match state.is_away {
            true => Err(ObjectError::new("away")),
            false => Ok(state),
        }
    }

    /// Whether no operation works from now on.
    fn set_away(&self, is_away: bool) {
        self.state().is_away = is_away;
    }

    fn keys(&self) -> Vec<String> {
        self.state().objects.keys().cloned().collect()
    }

    /// Has the object of this webhook be something else, or nothing.
    fn replace(&self, webhook: WebhookId, by: Option<&'static [u8]>) {
        let mut state = self.state();
        let found = state.objects.remove(&key(webhook));
        assert!(found.is_some(), "there is such an object");
        if let Some(bytes) = by {
            state.objects.insert(key(webhook), Bytes::from_static(bytes));
        }
    }
}

#[async_trait]
impl ObjectStore for Objects {
    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), ObjectError> {
        let _passed = self.gate.acquire().await.expect("the gate is there");
        self.answering()?.objects.insert(key.to_owned(), bytes);
        Ok(())
    }

    async fn get(&self, key: &str, max_bytes: usize) -> Result<Option<Bytes>, ObjectError> {
        let mut state = self.answering()?;
        state.gets += 1;
        if state.unreadable.as_deref() == Some(key) {
            return Err(ObjectError::new("not this one"));
        }
        Ok(state.objects.get(key).map(|bytes| bytes.slice(..bytes.len().min(max_bytes))))
    }

    async fn delete(&self, key: &str) -> Result<(), ObjectError> {
        self.answering()?.objects.remove(key);
        Ok(())
    }
}

fn key(webhook: WebhookId) -> String {
    format!("webhooks/{webhook}")
}

/// The options, with these objects.
pub(crate) fn with_objects(
    mut options: StorageOptions,
    objects: &Arc<Objects>,
    min_bytes: usize,
) -> StorageOptions {
    options.objects = Some(with(ObjectOptions::new(objects.clone()), |objects| {
        objects.min_bytes = min_bytes;
    }));
    options
}

/// A storage with objects, and a node that may hold something.
async fn opened(options: &StorageOptions, objects: &Arc<Objects>) -> (Storage, NodeId) {
    use webhook_core::store::DeliveryStore;
    let storage = open(&with_objects(options.clone(), objects, MIN_BYTES)).await;
    let node = NodeId::generate();
    let lease = Lease::new(node, 0, NOW + std::time::Duration::from_secs(600));
    storage.extend_lease(lease).await.expect("a lease");
    (storage, node)
}

/// A body of so many bytes that no other has.
fn body(bytes: usize) -> Bytes {
    let id = DeliveryId::generate().to_string();
    Bytes::from(id.bytes().cycle().take(bytes).collect::<Vec<_>>())
}

fn accept_of(output: OutputId, body: Bytes) -> Accept {
    Accept::new(Arc::new(webhook(body)), vec![delivery(output)])
}

fn claim(node: NodeId, output: OutputId) -> webhook_core::store::Claim {
    sample::claim(node, output)
}
