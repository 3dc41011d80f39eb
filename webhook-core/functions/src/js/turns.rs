//! Who computes: some calls at a time, the accounts in turn.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    time::Instant,
};

use webhook_core::AccountId;

use crate::scheduler::ByAccount;

/// Hands out the right to compute, so that an account with many calls gets no
/// more of the processor than an account with one.
#[derive(Debug)]
pub(super) struct Turns {
    state: Mutex<State>,
    /// How many wait; read at each slice, so outside of the lock.
    waiting: AtomicUsize,
    per_account: usize,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Those that wait, and what of each account computes.
    calls: ByAccount<SyncSender<()>>,
    /// Calls past their deadline that the engine does not let go of, by account.
    overdue: HashMap<AccountId, usize>,
}

/// Why a call does not get to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Its time was over before it was its turn.
    Late,
    /// Another call of its account is overdue.
    Overdue,
}

impl Turns {
    pub(super) fn new(computing: usize, per_account: usize) -> Self {
        let state = State { free: computing, calls: ByAccount::default(), overdue: HashMap::new() };
        Self { state: Mutex::new(state), waiting: AtomicUsize::new(0), per_account }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody waits for a turn.
    pub(super) fn contended(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Waits for a turn until `deadline`.
    pub(super) fn take(&self, account: AccountId, deadline: Instant) -> Result<(), Refused> {
        let granted = {
            let mut state = self.state();
            if state.overdue.contains_key(&account) {
                return Err(Refused::Overdue);
            }
            let (grant, granted) = sync_channel(1);
            state.calls.push(account, grant);
            self.waiting.fetch_add(1, Ordering::Relaxed);
            self.hand_on(&mut state);
            granted
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let came = granted.recv_timeout(left).is_ok() || {
            // The turn may have come when the wait ended.
            let _state = self.state();
            granted.try_recv().is_ok()
        };
        if !came {
            return Err(Refused::Late);
        }
        let overdue = self.state().overdue.contains_key(&account);
        if overdue {
            self.give_back(account);
            return Err(Refused::Overdue);
        }
        Ok(())
    }

    /// Ends a turn.
    pub(super) fn give_back(&self, account: AccountId) {
        let mut state = self.state();
        state.free += 1;
        state.calls.ended(account);
        self.hand_on(&mut state);
    }

    /// No call of the account gets a turn until the overdue one has ended.
    pub(super) fn block(&self, account: AccountId) {
        *self.state().overdue.entry(account).or_default() += 1;
    }

    /// An overdue call has ended.
    pub(super) fn unblock(&self, account: AccountId) {
        let mut state = self.state();
        if let Entry::Occupied(mut overdue) = state.overdue.entry(account) {
            *overdue.get_mut() -= 1;
            if *overdue.get() == 0 {
                overdue.remove();
            }
        }
    }

    fn hand_on(&self, state: &mut State) {
        while state.free > 0 {
            let Some((account, grant)) = state.calls.take(self.per_account) else { return };
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            match grant.try_send(()) {
                Ok(()) => state.free -= 1,
                // Who gave up waiting has dropped the other end.
                Err(_) => state.calls.ended(account),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread, time::Duration};

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    /// Waits until `count` callers wait; they have nothing else to do.
    fn until_waiting(turns: &Turns, count: usize) {
        while turns.waiting.load(Ordering::Relaxed) < count {
            thread::yield_now();
        }
    }

    #[test]
    fn accounts_alternate_however_many_calls_one_has() {
        let turns = Arc::new(Turns::new(1, 1));
        let (busy, other) = (AccountId::generate(), AccountId::generate());
        let order = Arc::new(Mutex::new(Vec::new()));
        turns.take(busy, soon()).expect("free");
        let mut threads = Vec::new();
        for (index, account) in [busy, busy, busy, other].into_iter().enumerate() {
            let (own, order) = (Arc::clone(&turns), Arc::clone(&order));
            threads.push(thread::spawn(move || {
                own.take(account, soon()).expect("its turn");
                order.lock().expect("no panic").push(account);
                own.give_back(account);
            }));
            until_waiting(&turns, index + 1);
        }
        turns.give_back(busy);
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert_eq!(*order.lock().expect("no panic"), [busy, other, busy, busy]);
        assert!(turns.state().calls.is_idle());
    }

    #[test]
    fn one_account_cannot_take_every_turn() {
        let turns = Turns::new(2, 1);
        let (busy, other) = (AccountId::generate(), AccountId::generate());
        turns.take(busy, soon()).expect("free");
        assert_eq!(turns.take(busy, Instant::now()), Err(Refused::Late));
        turns.take(other, soon()).expect("kept for others");
    }

    #[test]
    fn an_overdue_call_blocks_its_account_only() {
        let turns = Turns::new(2, 2);
        let (stuck, other) = (AccountId::generate(), AccountId::generate());
        turns.block(stuck);
        assert_eq!(turns.take(stuck, soon()), Err(Refused::Overdue));
        turns.take(other, soon()).expect("not concerned");
        turns.unblock(stuck);
        turns.take(stuck, soon()).expect("free again");
    }
}
