//! Where in the rules something is wrong.

use std::fmt;

/// How much of a caller's text an error repeats.
const SHOWN_CHARS: usize = 60;

/// The way from the outermost rule to the place that is being read.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// The field that has the rules.
    root: &'static str,
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// What is wrong, and where: `rules.and[3].match.regex: unclosed group`.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}")]
pub(super) struct Invalid {
    path: String,
    reason: String,
}

impl Path {
    /// The outermost rule of the field `root`.
    pub(super) const fn new(root: &'static str) -> Self {
        Self { root, steps: Vec::new() }
    }

    pub(super) fn enter(&mut self, key: &str) {
        self.steps.push(Step::Key(shown(key).into_owned()));
    }

    pub(super) fn enter_index(&mut self, index: usize) {
        self.steps.push(Step::Index(index));
    }

    pub(super) fn leave(&mut self) {
        self.steps.pop();
    }

    /// Something is wrong here.
    pub(super) fn invalid(&self, reason: impl fmt::Display) -> Invalid {
        Invalid { path: self.to_string(), reason: reason.to_string() }
    }

    /// Something is wrong with the field `key` of the object here.
    pub(super) fn invalid_field(&self, key: &str, reason: impl fmt::Display) -> Invalid {
        Invalid { path: format!("{self}.{key}"), reason: reason.to_string() }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.root)?;
        self.steps.iter().try_for_each(|step| match step {
            Step::Key(key) => write!(f, ".{key}"),
            Step::Index(index) => write!(f, "[{index}]"),
        })
    }
}

/// The beginning of a caller's text, so that an error stays readable.
pub(super) fn shown(text: &str) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}
