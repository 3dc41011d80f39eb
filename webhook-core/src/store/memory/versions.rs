//! The versions of one thing in memory.

use std::{collections::VecDeque, sync::Arc};

use crate::{clock::Timestamp, store::MAX_VERSIONS};

/// None until something changes for the first time; then all that are kept, the present one
/// last. Versions that are the same share their content.
#[derive(Debug)]
pub(super) struct Versions<T>(VecDeque<Version<T>>);

/// What was, or is, in force from a moment on.
#[derive(Debug)]
pub(super) struct Version<T> {
    pub(super) number: u32,
    pub(super) since: Timestamp,
    pub(super) content: Arc<T>,
}

impl<T> Default for Versions<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T: PartialEq> Versions<T> {
    /// Keeps what is new at `at`, and what was before it.
    pub(super) fn change(&mut self, before: (Timestamp, T), at: Timestamp, new: T) {
        let (since, before) = before;
        if before == new {
            return;
        }
        if self.0.is_empty() {
            self.push(since, before);
        }
        self.push(at, new);
        while self.0.len() > MAX_VERSIONS {
            self.0.pop_front();
        }
    }

    fn push(&mut self, since: Timestamp, content: T) {
        let same = self.0.iter().find(|version| *version.content == content);
        let content = same.map_or_else(|| Arc::new(content), |version| version.content.clone());
        let number = self.0.back().map_or(1, |last| last.number.saturating_add(1));
        self.0.push_back(Version { number, since, content });
    }

    /// The newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = &Version<T>> {
        self.0.iter().rev()
    }
}
