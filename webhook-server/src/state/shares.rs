//! A bound that many share, and of which each may take half.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

/// An amount for all together, of which each key may take half.
#[derive(Debug)]
pub(crate) struct Shares<K>(Arc<Inner<K>>);

#[derive(Debug)]
struct Inner<K> {
    /// How much there is in all.
    all: usize,
    /// How much of it one key may take.
    each: usize,
    /// What is taken.
    taken: Mutex<Taken<K>>,
}

#[derive(Debug)]
struct Taken<K> {
    /// How much is taken in all.
    sum: usize,
    /// How much each key has taken.
    by: HashMap<K, usize>,
}

/// What one holder has taken. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Share<K: Eq + Hash> {
    /// Where it was taken from.
    shares: Arc<Inner<K>>,
    /// The key that it counts for.
    of: K,
    /// How much it is.
    amount: usize,
}

impl<K: Eq + Hash + Clone> Shares<K> {
    pub(crate) fn new(all: usize) -> Self {
        let taken = Mutex::new(Taken { sum: 0, by: HashMap::new() });
        Self(Arc::new(Inner { all, each: all.div_ceil(2), taken }))
    }

    /// A share that holds nothing yet.
    pub(crate) fn of(&self, of: K) -> Share<K> {
        Share { shares: Arc::clone(&self.0), of, amount: 0 }
    }
}

impl<K: Eq + Hash + Clone> Share<K> {
    /// Takes `more` in addition. When there is not as much, it takes nothing and is `false`.
    #[must_use]
    pub(crate) fn grow(&mut self, more: usize) -> bool {
        let Inner { all, each, taken } = &*self.shares;
        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.by.get(&self.of).copied().unwrap_or_default();
        let fits = |held: usize, most: usize| held.checked_add(more).is_some_and(|sum| sum <= most);
        if !fits(taken.sum, *all) || !fits(own, *each) {
            return false;
        }
        taken.sum += more;
        taken.by.insert(self.of.clone(), own + more);
        self.amount += more;
        true
    }
}

impl<K: Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        let mut taken = self.shares.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.sum -= self.amount;
        if let Some(own) = taken.by.get_mut(&self.of) {
            *own -= self.amount;
            if *own == 0 {
                taken.by.remove(&self.of);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_takes_more_than_half_and_all_together_no_more_than_all() {
        let shares = Shares::new(10);
        let mut one = shares.of(1);
        assert!(one.grow(2) && one.grow(3) && !one.grow(1));
        assert!(!shares.of(1).grow(1), "both are of the same");
        let (mut two, mut three) = (shares.of(2), shares.of(3));
        assert!(two.grow(4) && !three.grow(2) && three.grow(1) && !three.grow(1));
        drop(one);
        assert!(three.grow(4) && !three.grow(1) && two.grow(1) && !two.grow(usize::MAX));
        drop((two, three));
        let taken = shares.0.taken.lock().expect("nobody panicked");
        assert!(taken.sum == 0 && taken.by.is_empty(), "{taken:?}");
        assert!(Shares::new(1).of(1).grow(1));
    }
}
