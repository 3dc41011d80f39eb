//! What a match saw.

use serde_json::{Map, Value};

use super::{ExplainedMatch, Explainer, MAX_EXPLAINED_VALUE_BYTES, MAX_EXPLAINED_VALUES, mask};
use crate::rule::{
    matching::{Match, Outcome, decode},
    tree::Node,
    view::Source,
};

impl Explainer<'_> {
    /// What `node` saw and said, which is written as `json`.
    pub(super) fn leaf(
        &mut self,
        node: &Node,
        json: &Map<String, Value>,
        path: String,
    ) -> (ExplainedMatch, bool) {
        let masked = matches!(node, Node::Match(test) if is_secret(&test.source));
        let (Outcome { passes, settled_by }, element) = match node {
            Node::Match(test) => {
                let outcome = test.outcome(self.view);
                let settled_by = outcome.settled_by;
                (outcome, settled_by.and_then(|index| self.view.element(&test.source, index)))
            }
            _ => (Outcome { passes: node.matches(self.view), settled_by: None }, None),
        };
        let seen = match node {
            Node::Match(test) => self.seen(test, masked, settled_by),
            _ => Seen::of(self.view.remote_addr().map(|address| address.to_string())),
        };
        let Seen { actual, settled_by, present, cut } = seen;
        let unreadable = match node {
            Node::Match(test) if !present => self.view.unreadable(&test.source),
            _ => None,
        };
        let explained = ExplainedMatch {
            r#match: mask::rule(json, masked),
            path,
            actual,
            settled_by: settled_by.filter(|_| element.is_some()),
            element,
            missing: !present,
            unreadable,
            cut,
            masked,
        };
        (explained, passes)
    }

    /// Collects the values that `test` saw. The value at `settled_by` settled the match.
    fn seen(&mut self, test: &Match, masked: bool, settled_by: Option<usize>) -> Seen {
        let mut seen = Seen::default();
        let mut values = 0..;
        self.view.each_value(&test.source, &mut |value| {
            let settles = values.next() == settled_by;
            let decoded = if test.base64 { decode(value) } else { None };
            let value = match &decoded {
                Some(value) => value,
                None if test.base64 => return false,
                None => value,
            };
            seen.present = true;
            if masked {
                return true;
            }
            if seen.actual.len() == MAX_EXPLAINED_VALUES {
                seen.cut = true;
                return true;
            }
            let most = MAX_EXPLAINED_VALUE_BYTES.min(self.bytes_left);
            // A secret that begins within what is shown may end after it.
            let (text, cut) = start(value, most);
            let text = mask::text(&text);
            let (text, _) = start(text.as_bytes(), most);
            self.bytes_left -= text.len();
            seen.cut |= cut;
            if settles {
                seen.settled_by = Some(seen.actual.len());
            }
            seen.actual.push(text);
            false
        });
        seen
    }
}

#[derive(Default)]
struct Seen {
    actual: Vec<String>,
    /// The place of the value in `actual` that settled the match.
    settled_by: Option<usize>,
    present: bool,
    cut: bool,
}

impl Seen {
    fn of(value: Option<String>) -> Self {
        Self { present: value.is_some(), actual: value.into_iter().collect(), ..Self::default() }
    }
}

/// The first bytes of `value` as text, at most `most`, and whether there are more.
fn start(value: &[u8], most: usize) -> (String, bool) {
    let shown = value.get(..most).unwrap_or(value);
    let mut text = String::from_utf8_lossy(shown).into_owned();
    // The last character may be cut through, and what stands for it is longer.
    while text.len() > most || (shown.len() < value.len() && text.ends_with('\u{fffd}')) {
        text.pop();
    }
    (text, shown.len() < value.len())
}

/// Whether the parameter is a credential, going by its name.
fn is_secret(source: &Source) -> bool {
    match source {
        Source::Header(name) => mask::is_secret(name.as_str()),
        Source::Query(name) | Source::Payload(name) | Source::Elements(name) => {
            mask::is_secret(name)
        }
        _ => false,
    }
}
