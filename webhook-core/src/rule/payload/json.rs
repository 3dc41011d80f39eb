//! Lookups in JSON text.
//!
//! The text is never made into a tree, which takes up to thirty times its size.
//! One pass over each object or list on the way to something wanted finds what
//! all paths need from it; the rest is skipped. Neither recurses, so that depth
//! costs nothing.

use std::{cmp::Ordering, collections::BTreeMap, fmt, ops::Range};

use serde::{
    Deserializer as _,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Where in `document`, which is JSON, each of `paths` leads; they are sorted.
///
/// With `lone` an element that is alone is found as the first of a list and its
/// text as its `#text` too, as in JSON made from XML.
pub(super) fn find(document: &str, paths: &[Box<str>], lone: bool) -> Vec<Option<Range<usize>>> {
    let mut found = vec![None; paths.len()];
    let all = Wanted { paths, range: 0..paths.len(), skip: 0 };
    let mut stack = vec![Entry { text: document, hit: Hit { exact: None, deeper: all } }];
    while let Some(Entry { text, hit }) = stack.pop() {
        if let Some(slot) = hit.exact.and_then(|index| found.get_mut(index)) {
            // `text` is a part of `document`, so that this is its offset.
            let start = text.as_ptr().addr() - document.as_ptr().addr();
            *slot = Some(start..start + text.len());
        }
        let wanted = hit.deeper;
        if wanted.range.is_empty() {
            continue;
        }
        let mut json = serde_json::Deserializer::from_str(text);
        let entries = match text.as_bytes().first() {
            Some(b'{') => json.deserialize_map(Children(&wanted)),
            Some(b'[') => json.deserialize_seq(Children(&wanted)),
            _ => Ok(BTreeMap::new()),
        };
        // Last on the stack is looked at first, and what is found later replaces
        // what was found before: so a longer key wins over a shorter one.
        stack.extend(entries.unwrap_or_default().into_values().rev());
        if lone && !text.starts_with('[') {
            stack.extend(wanted.step("0").map(|hit| Entry { text, hit }));
            if text.starts_with('"') {
                stack.extend(wanted.step("#text").map(|hit| Entry { text, hit }));
            }
        }
    }
    found
}

/// The paths that lead through one place: some neighbours in the sorted list,
/// which have their first `skip` bytes in common.
#[derive(Clone)]
struct Wanted<'p> {
    paths: &'p [Box<str>],
    range: Range<usize>,
    skip: usize,
}

/// What is wanted of one value.
struct Hit<'p> {
    /// The path that ends here.
    exact: Option<usize>,
    /// Those that go on.
    deeper: Wanted<'p>,
}

struct Entry<'d, 'p> {
    text: &'d str,
    hit: Hit<'p>,
}

impl<'p> Wanted<'p> {
    /// What is wanted of the value under `key` here, if anything.
    fn step(&self, key: &str) -> Option<Hit<'p>> {
        let Range { start, end } = self.range;
        let here = self.paths.get(start..end)?;
        let next = key.len() + 1;
        let exact = here.binary_search_by(|path| self.rest(path).cmp(key.as_bytes())).ok();
        let order =
            |path: &str| self.rest(path).iter().take(next).cmp(key.as_bytes().iter().chain(b"."));
        let first = here.partition_point(|path| order(path) == Ordering::Less);
        let past = here.partition_point(|path| order(path) != Ordering::Greater);
        (exact.is_some() || first < past).then(|| Hit {
            exact: exact.map(|index| start + index),
            deeper: Wanted {
                paths: self.paths,
                range: start + first..start + past,
                skip: self.skip + next,
            },
        })
    }

    /// What of `path` lies ahead.
    fn rest<'s>(&self, path: &'s str) -> &'s [u8] {
        path.as_bytes().get(self.skip..).unwrap_or_default()
    }
}

impl Hit<'_> {
    /// Tells the keys of one object apart, and orders them by length.
    fn key(&self) -> (usize, usize) {
        (self.deeper.skip, self.exact.unwrap_or(self.deeper.range.start))
    }
}

/// Reads the wanted entries of an object or a list, shortest key first.
struct Children<'w, 'p>(&'w Wanted<'p>);

impl<'d, 'p> Visitor<'d> for Children<'_, 'p> {
    type Value = BTreeMap<(usize, usize), Entry<'d, 'p>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(hit) = map.next_key_seed(Key(self.0))? {
            let Some(hit) = hit else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let text = map.next_value::<&RawValue>()?.get();
            entries.insert(hit.key(), Entry { text, hit });
        }
        Ok(entries)
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        let mut index = 0_usize;
        while let Some(value) = seq.next_element::<&RawValue>()? {
            if let Some(hit) = self.0.step(&index.to_string()) {
                entries.insert(hit.key(), Entry { text: value.get(), hit });
            }
            index += 1;
        }
        Ok(entries)
    }
}

/// Looks a key up where it stands, without a copy of it.
struct Key<'w, 'p>(&'w Wanted<'p>);

impl<'d, 'p> DeserializeSeed<'d> for Key<'_, 'p> {
    type Value = Option<Hit<'p>>;

    fn deserialize<D: serde::Deserializer<'d>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'p> Visitor<'_> for Key<'_, 'p> {
    type Value = Option<Hit<'p>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.step(key))
    }
}
