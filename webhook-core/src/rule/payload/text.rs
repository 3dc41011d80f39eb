//! What parts of JSON text compare as.

use std::{collections::BTreeMap, ops::Range};

use super::json;

/// The values under some paths as text, each made once.
pub(crate) struct Texts {
    /// The document without white space, when an object or a list is wanted:
    /// the text of each is then a part of it, however they are nested.
    compact: Option<String>,
    ranges: Vec<Option<Range<usize>>>,
    /// The content of wanted strings with escapes, by where they start; none for
    /// an unpaired surrogate, which is no text.
    unescaped: BTreeMap<usize, Option<String>>,
}

impl Texts {
    /// Looks `paths`, which are sorted, up in `document`. `xml` says that it was
    /// made from XML.
    pub(crate) fn of(document: &str, paths: &[Box<str>], xml: bool) -> Self {
        let mut ranges = json::find(document, paths, xml);
        let starts = |text: &str, range: &Range<usize>| text.as_bytes().get(range.start).copied();
        let is_compound = |range| matches!(starts(document, range), Some(b'{' | b'['));
        let compact = (!xml && ranges.iter().flatten().any(is_compound)).then(|| compact(document));
        if let Some(compact) = &compact {
            ranges = json::find(compact, paths, xml);
        }
        let text = compact.as_deref().unwrap_or(document);
        let mut unescaped = BTreeMap::new();
        for range in ranges.iter().flatten() {
            let value = text.get(range.clone()).unwrap_or_default();
            if value.starts_with('"') && value.contains('\\') {
                let content = || serde_json::from_str(value).ok();
                unescaped.entry(range.start).or_insert_with(content);
            }
        }
        Self { compact, ranges, unescaped }
    }

    /// What is under the path at `index` of those looked up in `document`: a
    /// string's content, anything else as compact JSON text.
    pub(crate) fn get<'t>(&'t self, document: &'t str, index: usize) -> Option<&'t str> {
        let range = self.ranges.get(index)?.clone()?;
        let start = range.start;
        let value = self.compact.as_deref().unwrap_or(document).get(range)?;
        match (value.strip_prefix('"'), self.unescaped.get(&start)) {
            (Some(_), Some(content)) => content.as_deref(),
            (Some(rest), None) => rest.strip_suffix('"'),
            (None, _) => Some(value),
        }
    }
}

/// `value`, which is JSON, without white space between its parts and with no
/// more escapes than needed. Numbers stay as they are.
pub(crate) fn compact(value: &str) -> String {
    let mut compact = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(start) = rest.find('"') {
        let (before, from_quote) = rest.split_at(start);
        compact.extend(before.chars().filter(|c| !c.is_ascii_whitespace()));
        let (string, after) = from_quote.split_at(string_length(from_quote));
        let unescaped = string.contains('\\').then(|| serde_json::from_str::<String>(string));
        match unescaped.and_then(Result::ok).and_then(|text| serde_json::to_string(&text).ok()) {
            Some(shorter) => compact.push_str(&shorter),
            None => compact.push_str(string),
        }
        rest = after;
    }
    compact.extend(rest.chars().filter(|c| !c.is_ascii_whitespace()));
    compact
}

/// How long the string at the start of `text` is, its quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}
