//! What a configured thing has: its fields, each described once, where it is declared.
//!
//! The declaration of a field says how it is called on the wire and in a form, what it is for,
//! and what its value may be. The checks, the forms, the OpenAPI document, the store and the
//! tests read that. `webhook-core-derive` makes a [`Described`] of a declaration:
//!
//! ```
//! use std::time::Duration;
//! use webhook_core::model::{Described, described::{self, minutes, days}};
//!
//! #[derive(Default, Described)]
//! struct Reminder {
//!     /// The time after which the reminder is sent.
//!     #[field(label = "After", range = minutes(1)..=days(30), or_zero)]
//!     after: Duration,
//! }
//!
//! let mut reminder = Reminder::default();
//! described::set(&mut reminder, "after", "5m")?;
//! assert_eq!(reminder.after, Duration::from_secs(300));
//! described::set(&mut reminder, "after", "31d")?;
//! let error = described::check(&reminder, "").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "after: must be 0 or from 1m to 30d (60000000000 to 2592000000000000 nanoseconds)",
//! );
//! # Ok::<(), webhook_core::Error>(())
//! ```

mod bounds;
mod check;
mod choice;
mod list;
#[cfg(feature = "admin")]
mod place;
mod typed;
mod value;

pub use check::{check, secrets};
pub use choice::{Choice, Optional};
pub use list::{Entry, Rows};
#[cfg(feature = "admin")]
pub use place::{blank, drop_empty_rows, get, set};
pub use typed::{NO_MOMENT, days, duration_text, hours, minutes, moment, seconds};
pub use value::Value;

use crate::wire::Error;

/// The refusal of an object: the field that is wrong, such as `secrets[0].secret`, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct Invalid {
    /// The field, below the object.
    pub field: String,
    /// The reason, and what to write instead.
    pub reason: String,
}

impl Invalid {
    /// `reason` is said of `field`.
    pub fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }

    /// `reason` is said of a value itself.
    pub fn here(reason: impl Into<String>) -> Self {
        Self::new("", reason)
    }

    /// The same of an object that has its place in another one: `prefix` ends with a dot.
    #[must_use]
    pub fn below(self, prefix: &str) -> Self {
        Self { field: format!("{prefix}{}", self.field), ..self }
    }

    /// Fails when `wrong` is true.
    ///
    /// # Errors
    /// Then `reason`, of `field`.
    pub fn when(wrong: bool, field: &str, reason: impl std::fmt::Display) -> Result<(), Self> {
        if wrong { Err(Self::new(field, reason.to_string())) } else { Ok(()) }
    }
}

impl From<String> for Invalid {
    fn from(reason: String) -> Self {
        Self::here(reason)
    }
}

impl From<Invalid> for Error {
    fn from(Invalid { field, reason }: Invalid) -> Self {
        Self::invalid(&field, reason)
    }
}

/// A configured thing, or an object in one.
pub trait Described {
    /// Its fields in the order of their declaration, each with its value.
    fn fields(&self) -> Vec<(&'static Field, &dyn Value)>;

    /// The same values, to be changed.
    fn values(&mut self) -> Vec<&mut dyn Value>;

    /// A new one of its kind, whose fields have their defaults.
    fn unset(&self) -> Box<dyn Described>;

    /// Checks what several fields say together; each field alone was found to be right.
    ///
    /// # Errors
    /// The field that is wrong.
    fn rules(&self) -> Result<(), Invalid> {
        Ok(())
    }

    /// The kinds that it can be, on the wire and for people, where a kind decides which fields
    /// there are.
    fn kinds(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The kind that it is.
    fn kind(&self) -> &'static str {
        ""
    }

    /// Makes it an empty one of another kind, if there is that kind.
    fn set_kind(&mut self, kind: &str) -> bool {
        let _ = kind;
        false
    }
}

/// What a declaration says of one field, by its doc comment and `#[field(…)]`.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name on the wire.
    pub name: &'static str,
    /// The doc comment: what it is for.
    pub help: &'static str,
    /// What it is called in a form.
    pub label: &'static str,
    /// The heading above it in a form; empty for the first fields.
    pub group: &'static str,
    /// A value that it could have, as a person types it.
    pub example: &'static str,
    /// The length of a text in bytes, or the number of entries, at most; 0 for any.
    pub max: usize,
    /// The length of all entries together in bytes, at most; 0 for any.
    pub max_bytes: usize,
    /// The least and the greatest number, or duration in nanoseconds, of it or of each entry.
    pub range: Option<(i64, i64)>,
    /// Whether 0 is possible outside of the range, with a meaning of its own.
    pub or_zero: bool,
    /// Whether it must not be empty.
    pub required: bool,
    /// Whether a form asks for it although it may be empty on the wire.
    pub asked: bool,
    /// Whether the label alone says what it is for: a form does not show the help.
    pub brief: bool,
    /// Whether a form does not have it: it has a page of its own, or is kept for old clients.
    pub hidden: bool,
    /// Whether a text is a name: one line that does not begin or end with blanks.
    pub is_name: bool,
    /// The lines of a text in a form; 0 for a text of one line.
    pub lines: u8,
    /// Whether a text may have any character.
    pub raw: bool,
    /// Whether a text is a program, whose lines a form numbers.
    pub code: bool,
    /// Whether the store encrypts it, as it does with what has secrets in it.
    pub sealed: bool,
}

impl Field {
    /// A field without bounds.
    #[must_use]
    pub const fn new(name: &'static str, help: &'static str) -> Self {
        Self {
            name,
            help,
            label: "",
            group: "",
            example: "",
            max: 0,
            max_bytes: 0,
            range: None,
            or_zero: false,
            required: false,
            asked: false,
            brief: false,
            hidden: false,
            is_name: false,
            lines: 0,
            raw: false,
            code: false,
            sealed: false,
        }
    }
}

/// How a value is written: by a person in a form, and on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    Text,
    /// A text that no answer shows: a mask stands for it.
    Secret,
    /// On or off.
    Flag,
    /// A whole number.
    Whole,
    /// A number.
    Decimal,
    /// A duration: `30s` in a form, nanoseconds on the wire.
    Duration,
    /// Several of them, separated by commas in a form.
    Durations,
    /// A moment: a day or RFC 3339 in a form, unix seconds on the wire.
    Moment,
    /// Headers: one in each line of a form.
    Headers,
    /// One of these names, with what they are called in a form.
    Choice(&'static [(&'static str, &'static str)]),
    /// Several texts: one in each line of a form.
    Texts,
    /// Names and values: one in each line of a form.
    Pairs,
    /// The identifier of another thing: a form shows its name.
    Reference,
    /// An object without a description: JSON in a form.
    Json,
    /// An object with fields of its own.
    Object,
    /// A list of such objects.
    Rows,
}
