//! Paths with `*` in them, which stands for any element of a list: `commits.*.title`.

use std::{borrow::Cow, fmt};

use serde::{
    Deserializer as _,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{inside::json_in, text::compact};
use crate::rule::MAX_VALUES;

/// The step of a path that stands for any element of a list.
const ANY: &str = "*";

/// Whether a path has such a step.
pub(crate) fn has_any(path: &str) -> bool {
    path.split('.').any(|step| step == ANY)
}

/// One step of the way to a value.
#[derive(Clone, Copy)]
pub(crate) enum Step<'w> {
    Key(&'w str),
    Index(usize),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Index(index) => index.fmt(f),
        }
    }
}

/// Hands the first [`MAX_VALUES`] values at `path` in `document`, which is JSON, to `test` until
/// it says true, each with the way to it.
///
/// With `lone` an element that is alone is a list of one, as in JSON made from XML.
pub(crate) fn each(
    document: &str,
    path: &str,
    lone: bool,
    test: &mut dyn FnMut(&str, &[Step<'_>]) -> bool,
) {
    let mut walk = Walk { lone, left: MAX_VALUES, way: Vec::new(), test };
    walk.value(document, path);
}

struct Walk<'p, 't> {
    lone: bool,
    /// How many values may still be looked at.
    left: usize,
    way: Vec<Step<'p>>,
    test: &'t mut dyn FnMut(&str, &[Step<'_>]) -> bool,
}

/// What a part of the document has at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Values,
    /// Values, and no further one is to be looked at.
    Enough,
}

impl<'p> Walk<'p, '_> {
    /// Goes the rest of the path from the value `json`. It recurses once for each step and each
    /// text that is JSON itself, at most twice
    /// [`MAX_PATH_SEGMENTS`](crate::rule::MAX_PATH_SEGMENTS) times.
    fn value(&mut self, json: &str, path: &'p str) -> Found {
        let found = match json.as_bytes().first() {
            Some(b'{') => self.object(json, path),
            Some(b'[') => return self.list(json, path),
            Some(b'"') => match json_in(json) {
                Some(text) => self.value(&text, path),
                None => Found::Nothing,
            },
            _ => Found::Nothing,
        };
        if found != Found::Nothing || !self.lone {
            return found;
        }
        match step(path) {
            (ANY | "0", rest) => self.under(Step::Index(0), json, rest),
            ("#text", rest) if json.starts_with('"') => self.under(Step::Key("#text"), json, rest),
            _ => Found::Nothing,
        }
    }

    /// Continues with the value behind a step.
    fn under(&mut self, step: Step<'p>, json: &str, rest: Option<&'p str>) -> Found {
        self.way.push(step);
        let found = match rest {
            Some(rest) => self.value(json, rest),
            None => self.end(json),
        };
        self.way.pop();
        found
    }

    fn end(&mut self, json: &str) -> Found {
        let text = match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            // An unpaired surrogate is no text.
            Some(_) if json.contains('\\') => match serde_json::from_str::<String>(json) {
                Ok(text) => Cow::Owned(text),
                Err(_) => return Found::Nothing,
            },
            Some(text) => Cow::Borrowed(text),
            None if json.starts_with(['{', '[']) => Cow::Owned(compact(json)),
            None => Cow::Borrowed(json),
        };
        self.left -= 1;
        let enough = (self.test)(&text, &self.way) || self.left == 0;
        if enough { Found::Enough } else { Found::Values }
    }

    /// A key with dots in it wins over a path; of a key that is given twice the last counts.
    fn object(&mut self, json: &str, path: &'p str) -> Found {
        let mut entries: Vec<(&'p str, &str)> = Vec::new();
        let mut read = serde_json::Deserializer::from_str(json);
        if read.deserialize_map(Entries { path, found: &mut entries }).is_err() {
            return Found::Nothing;
        }
        // Stable, so that the last of equal keys is found first.
        entries.reverse();
        entries.sort_by_key(|(key, _)| std::cmp::Reverse(key.len()));
        entries.dedup_by_key(|(key, _)| *key);
        for (key, value) in entries {
            let rest = path.get(key.len() + 1..);
            match self.under(Step::Key(key), value, rest) {
                Found::Nothing => {}
                found => return found,
            }
        }
        Found::Nothing
    }

    fn list(&mut self, json: &str, path: &'p str) -> Found {
        let (wanted, rest) = step(path);
        let mut found = Found::Nothing;
        let elements = Elements { walk: self, wanted, rest, found: &mut found };
        // It ends with an error where no further element is to be looked at.
        drop(serde_json::Deserializer::from_str(json).deserialize_seq(elements));
        found
    }
}

/// The first step of a path, and the steps behind it.
fn step(path: &str) -> (&str, Option<&str>) {
    path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)))
}

/// The entries of an object on whose keys the path leads on, each key as it is in the path.
struct Entries<'p, 'd, 'f> {
    path: &'p str,
    found: &'f mut Vec<(&'p str, &'d str)>,
}

impl<'d> Visitor<'d> for Entries<'_, 'd, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'d, str>>()? {
            let value = map.next_value::<&RawValue>()?.get();
            let rest = self.path.strip_prefix(&*key);
            if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                let key = self.path.get(..key.len()).unwrap_or_default();
                self.found.push((key, value));
            }
        }
        Ok(())
    }
}

/// Visits the elements of a list that the step `wanted` names.
struct Elements<'w, 'p, 't> {
    walk: &'w mut Walk<'p, 't>,
    wanted: &'p str,
    rest: Option<&'p str>,
    found: &'w mut Found,
}

impl<'d> Visitor<'d> for Elements<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut index = 0_usize;
        while let Some(element) = seq.next_element::<&RawValue>()? {
            if self.wanted == ANY || self.wanted == index.to_string() {
                match self.walk.under(Step::Index(index), element.get(), self.rest) {
                    Found::Nothing => {}
                    found => *self.found = found,
                }
            }
            if *self.found == Found::Enough {
                return Ok(());
            }
            index += 1;
        }
        Ok(())
    }
}
