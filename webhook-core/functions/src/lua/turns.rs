//! Who computes next on a thread: the accounts in turn.

use std::cell::RefCell;

use tokio::sync::oneshot;
use webhook_core::AccountId;

use crate::scheduler::ByAccount;

/// Hands out the thread for one slice at a time, so that an account with many
/// calls gets no more of it than an account with one.
#[derive(Default)]
pub(super) struct Turns {
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    taken: bool,
    waiting: ByAccount<oneshot::Sender<()>>,
}

/// The right to compute until it is dropped.
pub(super) struct Turn<'a> {
    turns: &'a Turns,
}

impl Turns {
    pub(super) async fn take(&self, account: AccountId) -> Turn<'_> {
        let granted = {
            let mut state = self.state.borrow_mut();
            if state.taken {
                let (grant, granted) = oneshot::channel();
                state.waiting.push(account, grant);
                Some(granted)
            } else {
                state.taken = true;
                None
            }
        };
        if let Some(granted) = granted {
            // A sender is dropped only when the thread ends.
            let _ = granted.await;
        }
        Turn { turns: self }
    }

    fn pass_on(&self) {
        let mut state = self.state.borrow_mut();
        // One computes at a time, whoever it is: no account counts as running.
        while let Some((account, grant)) = state.waiting.take(usize::MAX) {
            state.waiting.ended(account);
            if grant.send(()).is_ok() {
                return;
            }
        }
        state.taken = false;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.pass_on();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn accounts_alternate_however_many_calls_one_has() {
        let turns = std::rc::Rc::new(Turns::default());
        let (busy, other) = (AccountId::generate(), AccountId::generate());
        let order = std::rc::Rc::new(RefCell::new(Vec::new()));
        let local = tokio::task::LocalSet::new();
        let held = turns.take(busy).await;
        for account in [busy, busy, busy, other] {
            let (turns, order) = (turns.clone(), order.clone());
            local.spawn_local(async move {
                let turn = turns.take(account).await;
                order.borrow_mut().push(account);
                drop(turn);
            });
        }
        local
            .run_until(async {
                tokio::task::yield_now().await;
                drop(held);
            })
            .await;
        local.await;
        assert_eq!(*order.borrow(), [busy, other, busy, busy]);
    }
}
