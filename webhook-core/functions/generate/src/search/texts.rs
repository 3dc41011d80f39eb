//! An index of the texts that a scope can give, for finding those that occur in a longer one.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::value::Value;
use super::pool::Entry;

/// Longer texts are not looked for inside others.
const MAX_TEXT_BYTES: usize = 4_096;

/// Texts by their first three bytes; shorter ones by themselves.
#[derive(Debug, Default)]
pub(super) struct Texts {
    all: Vec<(Arc<str>, Vec<usize>)>,
    by_opening: HashMap<[u8; 3], Vec<usize>>,
    short: HashMap<Vec<u8>, usize>,
}

impl Texts {
    pub(super) fn new(entries: &[Entry]) -> Self {
        let mut texts = Self::default();
        let mut places: HashMap<Arc<str>, usize> = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let text: Arc<str> = match &entry.value {
                Value::Text(text) => text.clone(),
                value => match value.to_text() {
                    Some(text) => text.into(),
                    None => continue,
                },
            };
            if text.is_empty() || text.len() > MAX_TEXT_BYTES {
                continue;
            }
            match places.get(&text).and_then(|&place| texts.all.get_mut(place)) {
                Some((_, entries)) => entries.push(index),
                None => {
                    let place = texts.all.len();
                    match text.as_bytes().first_chunk::<3>() {
                        Some(&opening) => texts.by_opening.entry(opening).or_default().push(place),
                        None => {
                            texts.short.insert(text.as_bytes().to_vec(), place);
                        }
                    }
                    places.insert(text.clone(), place);
                    texts.all.push((text, vec![index]));
                }
            }
        }
        texts
    }

    /// The texts that `text` goes on with at byte `at`, each with the entries that give it.
    pub(super) fn at(&self, text: &str, at: usize) -> Vec<(&str, &[usize])> {
        let Some(rest) = text.as_bytes().get(at..) else { return Vec::new() };
        let mut found = Vec::new();
        for length in 1..=2.min(rest.len()) {
            found.extend(rest.get(..length).and_then(|start| self.short.get(start)));
        }
        if let Some(&opening) = rest.first_chunk::<3>()
            && let Some(candidates) = self.by_opening.get(&opening)
        {
            found.extend(candidates.iter().filter(|&&candidate| {
                self.all.get(candidate).is_some_and(|(text, _)| rest.starts_with(text.as_bytes()))
            }));
        }
        let pair = |&index: &usize| {
            self.all.get(index).map(|(text, entries)| (text.as_ref(), entries.as_slice()))
        };
        found.into_iter().filter_map(pair).collect()
    }
}
