//! Credentials of open sockets are checked again: another server on the same database, or a
//! command beside this one, may have withdrawn them.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use tokio::{sync::watch, time::sleep};
use webhook_core::admin::Caller;

use crate::{api::auth::Shown, state::AppState};

/// How often. With the time that a check takes a withdrawn credential reaches nothing after 5 s.
const INTERVAL: Duration = Duration::from_secs(4);

/// The credentials of all open sockets, each checked once however many clients show it.
#[derive(Default)]
pub(crate) struct Rechecks {
    shown: Mutex<HashMap<Shown, Weak<Checked>>>,
}

impl fmt::Debug for Rechecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rechecks").finish_non_exhaustive()
    }
}

/// A credential that is checked again for as long as somebody has this.
#[derive(Debug)]
pub(super) struct Checked {
    caller: Caller,
    ended: watch::Sender<bool>,
}

impl Checked {
    /// Returns when the credential does not make the same caller any more.
    pub(super) async fn ended(&self) {
        // The sender lives as long as this does.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }
}

impl Rechecks {
    /// The credential `shown`, which has made this caller.
    pub(super) fn of(
        self: &Arc<Self>,
        state: &AppState,
        shown: Shown,
        caller: &Caller,
    ) -> Arc<Checked> {
        let mut all = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(&shown).and_then(Weak::upgrade) {
            if known.caller == *caller {
                return known;
            }
            // Another scope than it had: those who came with that one go.
            known.ended.send_replace(true);
        }
        let checked =
            Arc::new(Checked { caller: caller.clone(), ended: watch::Sender::new(false) });
        all.insert(shown.clone(), Arc::downgrade(&checked));
        drop(all);
        tokio::spawn(check(Arc::clone(self), state.clone(), shown, Arc::downgrade(&checked)));
        checked
    }

    /// Forgets a credential that nobody shows any more.
    fn forget(&self, shown: &Shown, checked: &Weak<Checked>) {
        let mut all = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(shown).is_some_and(|known| known.ptr_eq(checked)) {
            all.remove(shown);
        }
    }
}

async fn check(rechecks: Arc<Rechecks>, state: AppState, shown: Shown, checked: Weak<Checked>) {
    loop {
        sleep(INTERVAL).await;
        let Some(checked) = checked.upgrade() else { break };
        match shown.makes(state.admin(), &checked.caller).await {
            Ok(true) => {}
            Ok(false) => {
                checked.ended.send_replace(true);
                break;
            }
            // Who cannot be read cannot receive either.
            Err(error) => tracing::warn!(%error, "the credential of a client cannot be checked"),
        }
    }
    rechecks.forget(&shown, &checked);
}
