//! How many calls of one kind each account has running.

use std::{
    collections::{HashMap, hash_map::Entry},
    time::Duration,
};

use super::super::Admin;
use crate::{error::Error, id::AccountId, lock::Lock};

/// Counts, so that one account does not take every request that is answered
/// at once: a run may last for seconds.
#[derive(Debug, Default)]
pub(crate) struct Running {
    of_account: Lock<HashMap<AccountId, usize>>,
}

impl Running {
    /// Counts one more, unless the account has `limit` already, which `what` says for people.
    pub(crate) fn enter(
        &self,
        account: AccountId,
        limit: usize,
        what: &str,
    ) -> Result<Entered<'_>, Error> {
        let mut counts = self.of_account.lock();
        let count = counts.get(&account).copied().unwrap_or_default();
        if count >= limit {
            let message = format!("the account has {limit} {what}");
            return Err(Error::busy(message, Duration::from_secs(1)));
        }
        counts.insert(account, count + 1);
        Ok(Entered { running: self, account })
    }
}

impl Admin {
    /// Counts a function that runs because the account asked for it.
    pub(in crate::admin) fn enter_run(&self, account: AccountId) -> Result<Entered<'_>, Error> {
        let most = self.options.max_invocations_per_account;
        self.running.enter(account, most, "functions running through the API")
    }

    /// Counts a search in the logs of the account.
    pub(in crate::admin) fn enter_search(&self, account: AccountId) -> Result<Entered<'_>, Error> {
        let most = self.options.max_searches_per_account;
        self.searching.enter(account, most, "searches running")
    }
}

/// One that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Entered<'a> {
    running: &'a Running,
    account: AccountId,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if let Entry::Occupied(mut count) = self.running.of_account.lock().entry(self.account) {
            match count.get() {
                0 | 1 => drop(count.remove()),
                more => {
                    let less = more - 1;
                    count.insert(less);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_account_has_its_own_and_gets_it_back() {
        let running = Running::default();
        let (one, other) = (AccountId::generate(), AccountId::generate());
        let first = running.enter(one, 2, "calls").expect("the first");
        let second = running.enter(one, 2, "calls").expect("the second");
        assert_eq!(
            running.enter(one, 2, "calls").expect_err("a third").kind(),
            crate::ErrorKind::Busy
        );
        running.enter(other, 2, "calls").expect("another account's");
        drop(first);
        let third = running.enter(one, 2, "calls").expect("there is room again");
        drop((second, third));
        assert!(running.of_account.lock().is_empty(), "nothing is left behind");
    }
}
