//! Values behind a text that is JSON itself, as in the `Message` of SNS.

use super::{json, text::Texts};

/// The value at `path` in `document`, which is JSON.
pub(super) fn value(document: &str, path: &str) -> Option<String> {
    let texts = Texts::of(document, &[path.into()], false);
    match texts.get(document, 0) {
        Some(value) => Some(value.to_owned()),
        None => behind_text(document, path, false),
    }
}

/// The value at `path` in `document`, when a text on the way is a JSON object or list. It recurses
/// once for each step at most, each time into a part of the text before.
pub(super) fn behind_text(document: &str, path: &str, lone: bool) -> Option<String> {
    if !may_have(document) {
        return None;
    }
    let ends = path.match_indices('.').map(|(end, _)| end);
    let starts: Vec<Box<str>> = ends.filter_map(|end| path.get(..end)).map(Into::into).collect();
    let found = json::find(document, &starts, lone);
    let found = starts.iter().zip(found).rev();
    let mut texts = found.filter_map(|(start, range)| {
        let text = json_in(document.get(range?)?)?;
        Some((text, path.get(start.len() + 1..)?))
    });
    texts.find_map(|(text, rest)| value(&text, rest))
}

/// Whether a text in `document` may be a JSON object or list: it is cheaper to find than where it is.
fn may_have(document: &str) -> bool {
    ["\"{", "\"["]
        .iter()
        .any(|start| memchr::memmem::find(document.as_bytes(), start.as_bytes()).is_some())
}

/// The object or list that is the content of `value`, a JSON text.
pub(super) fn json_in(value: &str) -> Option<String> {
    value.strip_prefix('"').filter(|content| content.starts_with(['{', '[']))?;
    let text: String = serde_json::from_str(value).ok()?;
    json::is_json(&text).then_some(text)
}
