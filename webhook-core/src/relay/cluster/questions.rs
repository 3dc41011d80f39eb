//! Asking all nodes, and waiting a moment for what they answer.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::cluster::{ConnectedClient, Content, To};
use foldhash::HashMap;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout_at},
};

use super::Cluster;
use crate::{
    id::{AccountId, NodeId},
    lock::Lock,
};

/// How long the others may take.
const PATIENCE: Duration = Duration::from_millis(200);
/// How many clients a node names.
pub(crate) const MAX_NAMED: usize = 1_000;

type Answer = (NodeId, Vec<ConnectedClient>, bool);

/// The questions that wait for answers.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: Lock<HashMap<u64, mpsc::Sender<Answer>>>,
    last: AtomicU64,
}

impl Questions {
    /// A node has answered.
    pub(crate) fn answer(&self, question: u64, answer: Answer) {
        let open = self.open.lock();
        if let Some(asked) = open.get(&question) {
            // It has room for every node, and for one that answers twice none is needed.
            let _ = asked.try_send(answer);
        }
    }
}

/// A question; nobody waits for answers once this is dropped.
struct Open<'a> {
    questions: &'a Questions,
    question: u64,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let mut open = self.questions.open.lock();
        open.remove(&self.question);
    }
}

impl Cluster {
    /// The account's clients that are connected to other nodes, and whether there may be more.
    pub(crate) async fn clients(&self, account: AccountId) -> (Vec<ConnectedClient>, bool) {
        let mut silent: HashSet<_> = self.peers.all().into_iter().collect();
        let (mut clients, mut more) = (Vec::new(), false);
        if silent.is_empty() {
            return (clients, more);
        }
        let question = self.questions.last.fetch_add(1, Ordering::Relaxed);
        let (sender, mut answers) = mpsc::channel(silent.len() * 2);
        let questions = &self.questions;
        questions.open.lock().insert(question, sender);
        let _open = Open { questions, question };
        let until = Instant::now() + PATIENCE;
        self.tell(To::All, Content::Asked { question, account });
        while !silent.is_empty() {
            let Ok(Some((node, named, and_more))) = timeout_at(until, answers.recv()).await else {
                break;
            };
            if silent.remove(&node) {
                clients.extend(named);
                more |= and_more;
            }
        }
        (clients, more || !silent.is_empty())
    }
}
