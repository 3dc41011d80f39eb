//! The idle VMs of one thread.

use std::collections::{BTreeMap, HashMap};

use webhook_core::{AccountId, FunctionId, function::Invocation};

use super::vm::Vm;

/// Which program a VM holds. Accounts never share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    account_id: AccountId,
    function_id: FunctionId,
    revision: u64,
}

impl Key {
    pub(super) fn of(invocation: &Invocation) -> Self {
        let Invocation { account_id, function_id, revision, .. } = invocation;
        Self { account_id: *account_id, function_id: *function_id, revision: *revision }
    }
}

/// Idle VMs; the one that was used longest ago goes first when there are too many.
pub(super) struct Pool {
    idle: HashMap<Key, Vec<(u64, Vm)>>,
    by_age: BTreeMap<u64, Key>,
    next_stamp: u64,
    capacity: usize,
}

impl Pool {
    pub(super) fn new(capacity: usize) -> Self {
        Self { idle: HashMap::new(), by_age: BTreeMap::new(), next_stamp: 0, capacity }
    }

    pub(super) fn take(&mut self, key: &Key) -> Option<Vm> {
        let vms = self.idle.get_mut(key)?;
        let taken = vms.pop();
        if vms.is_empty() {
            self.idle.remove(key);
        }
        let (stamp, vm) = taken?;
        self.by_age.remove(&stamp);
        Some(vm)
    }

    pub(super) fn put(&mut self, key: Key, vm: Vm) {
        if self.capacity == 0 {
            return;
        }
        if self.by_age.len() >= self.capacity
            && let Some((stamp, oldest)) = self.by_age.pop_first()
            && let Some(vms) = self.idle.get_mut(&oldest)
        {
            vms.retain(|(age, _)| *age != stamp);
            if vms.is_empty() {
                self.idle.remove(&oldest);
            }
        }
        let stamp = self.next_stamp;
        self.next_stamp += 1;
        self.by_age.insert(stamp, key);
        self.idle.entry(key).or_default().push((stamp, vm));
    }
}
