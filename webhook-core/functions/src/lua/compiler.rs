//! The thread that compiles, and what it compiled.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{mpsc, oneshot};
use webhook_core::{
    FunctionId,
    function::{FunctionError, Invocation},
};

use super::compile::{self, Program};

type Compiled = Result<Arc<Program>, FunctionError>;

/// Sources that wait to be compiled.
const WAITING: usize = 256;

/// Compiles each revision once.
#[derive(Debug)]
pub(super) struct Compiler {
    orders: mpsc::Sender<Order>,
    cache: Mutex<Cache>,
}

struct Order {
    source: Arc<str>,
    done: oneshot::Sender<Compiled>,
}

#[derive(Debug)]
struct Cache {
    entries: HashMap<(FunctionId, u64), Entry>,
    by_age: BTreeMap<u64, (FunctionId, u64)>,
    next_stamp: u64,
    capacity: usize,
}

#[derive(Debug)]
struct Entry {
    source: Arc<str>,
    compiled: Compiled,
    stamp: u64,
}

impl Compiler {
    /// A compiler that remembers `capacity` programs.
    pub(super) fn start(max_bytes: usize, capacity: usize) -> std::io::Result<Self> {
        let (orders, mut inbox) = mpsc::channel::<Order>(WAITING);
        std::thread::Builder::new()
            .name("lua-compile".to_owned())
            .stack_size(compile::STACK_BYTES)
            .spawn(move || {
                while let Some(Order { source, done }) = inbox.blocking_recv() {
                    if !done.is_closed() {
                        let _ = done.send(compile::compile(&source, max_bytes).map(Arc::new));
                    }
                }
            })?;
        let cache = Cache {
            entries: HashMap::new(),
            by_age: BTreeMap::new(),
            next_stamp: 0,
            capacity: capacity.max(1),
        };
        Ok(Self { orders, cache: Mutex::new(cache) })
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compiles a source.
    pub(super) async fn compile(&self, source: Arc<str>) -> Compiled {
        let (done, compiled) = oneshot::channel();
        self.orders.try_send(Order { source, done }).map_err(|_| FunctionError::Busy)?;
        compiled.await.unwrap_or(Err(FunctionError::Busy))
    }

    /// The program of a call.
    pub(super) async fn program(&self, invocation: &Invocation) -> Compiled {
        let key = (invocation.function_id, invocation.revision);
        if let Some(compiled) = self.cache().get(&key, &invocation.source) {
            return compiled;
        }
        let compiled = self.compile(Arc::clone(&invocation.source)).await;
        if compiled.as_ref().err() != Some(&FunctionError::Busy) {
            self.cache().put(key, &invocation.source, compiled.clone());
        }
        compiled
    }
}

impl Cache {
    fn get(&mut self, key: &(FunctionId, u64), source: &Arc<str>) -> Option<Compiled> {
        let entry = self.entries.get_mut(key)?;
        // A caller that reuses a revision still gets what it handed in.
        if !Arc::ptr_eq(&entry.source, source) && entry.source != *source {
            return None;
        }
        self.by_age.remove(&entry.stamp);
        entry.stamp = self.next_stamp;
        self.by_age.insert(entry.stamp, *key);
        self.next_stamp += 1;
        Some(entry.compiled.clone())
    }

    fn put(&mut self, key: (FunctionId, u64), source: &Arc<str>, compiled: Compiled) {
        let stamp = self.next_stamp;
        self.next_stamp += 1;
        let entry = Entry { source: Arc::clone(source), compiled, stamp };
        if let Some(old) = self.entries.insert(key, entry) {
            self.by_age.remove(&old.stamp);
        }
        self.by_age.insert(stamp, key);
        while self.entries.len() > self.capacity {
            let Some((_, oldest)) = self.by_age.pop_first() else { return };
            self.entries.remove(&oldest);
        }
    }
}
