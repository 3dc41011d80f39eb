//! Who is next: the accounts in turn, however many calls one of them has.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
};

use webhook_core::AccountId;

/// What waits, by account, with a count of what runs.
///
/// An account with many calls gets no more than an account with one: the accounts
/// take turns, and each has so many calls running at most.
pub(crate) struct ByAccount<T> {
    accounts: HashMap<AccountId, Own<T>>,
    /// The accounts of which something waits, the next one first.
    order: VecDeque<AccountId>,
    waiting: usize,
}

struct Own<T> {
    waiting: VecDeque<T>,
    running: usize,
}

impl<T> Default for ByAccount<T> {
    fn default() -> Self {
        Self { accounts: HashMap::new(), order: VecDeque::new(), waiting: 0 }
    }
}

impl<T> fmt::Debug for ByAccount<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByAccount")
            .field("accounts", &self.accounts.len())
            .field("waiting", &self.waiting)
            .finish()
    }
}

impl<T> ByAccount<T> {
    /// How many wait, of all accounts.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Whether one more may wait where `capacity` may: one account fills half of it.
    pub(crate) fn has_room(&self, account: AccountId, capacity: usize) -> bool {
        let own = self.accounts.get(&account).map_or(0, |own| own.waiting.len());
        self.waiting < capacity && own < capacity.div_ceil(2)
    }

    /// Lets one more wait. Returns how many of the account run.
    pub(crate) fn push(&mut self, account: AccountId, item: T) -> usize {
        let own = self
            .accounts
            .entry(account)
            .or_insert_with(|| Own { waiting: VecDeque::new(), running: 0 });
        own.waiting.push_back(item);
        if own.waiting.len() == 1 {
            self.order.push_back(account);
        }
        self.waiting += 1;
        own.running
    }

    /// The next one of an account that has fewer than `running_per_account`
    /// running. It counts as running until [`ended`](Self::ended).
    pub(crate) fn take(&mut self, running_per_account: usize) -> Option<(AccountId, T)> {
        for _ in 0..self.order.len() {
            let account = self.order.pop_front()?;
            let Some(own) = self.accounts.get_mut(&account) else { continue };
            if own.running >= running_per_account {
                self.order.push_back(account);
                continue;
            }
            let item = own.waiting.pop_front();
            if !own.waiting.is_empty() {
                self.order.push_back(account);
            }
            if let Some(item) = item {
                own.running += 1;
                self.waiting -= 1;
                return Some((account, item));
            }
        }
        None
    }

    /// One of the account has ended.
    pub(crate) fn ended(&mut self, account: AccountId) {
        if let Some(own) = self.accounts.get_mut(&account) {
            own.running = own.running.saturating_sub(1);
            if own.running == 0 && own.waiting.is_empty() {
                self.accounts.remove(&account);
            }
        }
    }
}

#[cfg(feature = "js")]
impl<T> ByAccount<T> {
    /// Whether nothing waits and nothing runs.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.accounts.is_empty()
    }

    /// Takes out those at the front of each account's that `is_stale` holds for.
    pub(crate) fn take_stale(&mut self, is_stale: impl Fn(&T) -> bool) -> Vec<T> {
        let mut stale = Vec::new();
        for own in self.accounts.values_mut() {
            while own.waiting.front().is_some_and(&is_stale) {
                stale.extend(own.waiting.pop_front());
            }
        }
        self.waiting -= stale.len();
        self.accounts.retain(|_, own| own.running > 0 || !own.waiting.is_empty());
        let accounts = &self.accounts;
        self.order.retain(|id| accounts.get(id).is_some_and(|own| !own.waiting.is_empty()));
        stale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_take_turns_within_what_one_may_run() {
        let mut calls = ByAccount::default();
        let (busy, other) = (AccountId::generate(), AccountId::generate());
        for number in 0..3 {
            assert_eq!(calls.push(busy, number), 0);
        }
        calls.push(other, 9);
        assert_eq!(calls.waiting(), 4);
        assert_eq!(calls.take(1), Some((busy, 0)));
        assert_eq!(calls.take(1), Some((other, 9)));
        assert_eq!(calls.take(1), None, "both have one running");
        assert_eq!(calls.take(2), Some((busy, 1)));
        calls.ended(busy);
        assert_eq!(calls.take(2), Some((busy, 2)));
        assert_eq!((calls.waiting(), calls.take(9)), (0, None));
    }

    #[test]
    fn one_account_fills_half_of_the_queue() {
        let mut calls = ByAccount::default();
        let (busy, other) = (AccountId::generate(), AccountId::generate());
        while calls.has_room(busy, 5) {
            calls.push(busy, ());
        }
        assert_eq!(calls.waiting(), 3);
        assert!(calls.has_room(other, 5) && !calls.has_room(other, 3));
    }
}
