//! One field of a form: what it holds, and how it is typed.

use std::{borrow::Cow, time::Duration};

use webhook_core::model::described::{self, Shape, Value};

/// How a field is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Password,
    /// A secret. The form shows its mask, and the mask that is sent back keeps it.
    Secret,
    Number,
    /// Text of several lines.
    Area,
    Check,
    Select,
}

/// One field of a form.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// Its place in the object that the form edits, such as `throttle.rate`.
    pub(crate) name: Cow<'static, str>,
    pub(crate) label: Cow<'static, str>,
    pub(crate) kind: Kind,
    pub(crate) help: Cow<'static, str>,
    pub(crate) value: String,
    pub(crate) error: Option<String>,
    /// Values and what they are called.
    pub(crate) options: Vec<(String, String)>,
    pub(crate) required: bool,
    pub(crate) rows: u8,
    /// Whether the text is a program, whose lines are numbered where there is script.
    pub(crate) code: bool,
}

/// A function for each kind, which makes a field of it by its name and its label.
macro_rules! of_each_kind {
    ($($make:ident: $kind:ident),* $(,)?) => {
        impl Field {
            $(pub(crate) fn $make(name: impl Into<Cow<'static, str>>, label: &'static str) -> Self {
                Self::new(Kind::$kind, name, label)
            })*
        }
    };
}

of_each_kind! {
    text: Text, secret: Secret, number: Number, area: Area, check: Check, select: Select,
}

impl Field {
    fn new(kind: Kind, name: impl Into<Cow<'static, str>>, label: &'static str) -> Self {
        Self {
            name: name.into(),
            label: Cow::Borrowed(label),
            kind,
            help: Cow::Borrowed(""),
            value: String::new(),
            error: None,
            options: Vec::new(),
            required: false,
            rows: 4,
            code: false,
        }
    }

    /// A field as its declaration describes it, with its value.
    pub(super) fn described(
        name: String,
        field: &described::Field,
        value: &dyn Value,
        default: &str,
    ) -> Self {
        let shape = value.shape();
        let lines = match shape {
            Shape::Headers | Shape::Texts | Shape::Pairs | Shape::Json => field.lines.max(4),
            _ => field.lines,
        };
        let kind = match shape {
            Shape::Flag => Kind::Check,
            Shape::Choice(_) => Kind::Select,
            Shape::Secret => Kind::Secret,
            Shape::Whole => Kind::Number,
            _ if lines > 0 => Kind::Area,
            _ => Kind::Text,
        };
        let options: Vec<(String, String)> = match shape {
            Shape::Choice(names) => names
                .iter()
                .map(|(name, label)| ((*name).to_owned(), (*label).to_owned()))
                .collect(),
            _ => Vec::new(),
        };
        // A duration of 0 that stands for never has a word.
        let is_never = shape == Shape::Duration && field.help.contains("for never");
        let text = value.text();
        let text = if is_never && text.is_empty() { "never".to_owned() } else { text };
        let mut help = if field.brief { String::new() } else { field.help.replace('`', "") };
        if let Some(hint) = hint(field, shape, default, is_never) {
            help = format!("{help} {hint}").trim().to_owned();
        }
        Self {
            help: help.into(),
            value: text,
            options,
            required: field.required || field.asked,
            rows: lines,
            code: field.code,
            ..Self::new(kind, name, field.label)
        }
    }

    pub(crate) fn help(self, help: &'static str) -> Self {
        Self { help: Cow::Borrowed(help), ..self }
    }

    /// The same as it is called where more is known than its declaration says.
    pub(crate) fn called(self, label: &'static str, required: bool) -> Self {
        Self { label: Cow::Borrowed(label), required, ..self }
    }

    pub(crate) fn rows(self, rows: u8) -> Self {
        Self { rows, ..self }
    }

    /// The line that the error names, and what is in it.
    pub(super) fn wrong_line(&self) -> Option<(usize, &str)> {
        let named = self.error.as_deref().filter(|_| self.code)?.strip_prefix("line ")?;
        let number: usize = named.split_once(':')?.0.parse().ok()?;
        Some((number, self.value.lines().nth(number.checked_sub(1)?)?))
    }

    pub(crate) fn value(self, value: impl Into<String>) -> Self {
        Self { value: value.into(), ..self }
    }

    /// The same as a choice between these values, each with what it is called.
    pub(crate) fn options<V: Into<String>, L: Into<String>>(
        self,
        options: impl IntoIterator<Item = (V, L)>,
    ) -> Self {
        let options = options.into_iter().map(|(value, label)| (value.into(), label.into()));
        Self { kind: Kind::Select, options: options.collect(), ..self }
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        let drawn = match self.kind {
            Kind::Check => "check",
            Kind::Select => "select",
            Kind::Area => "area",
            Kind::Secret if self.rows > 0 => "area",
            Kind::Text | Kind::Password | Kind::Secret | Kind::Number => "input",
        };
        drawn == kind
    }

    pub(super) fn input_type(&self) -> &'static str {
        match self.kind {
            Kind::Password => "password",
            Kind::Number => "number",
            _ => "text",
        }
    }

    pub(super) fn is_chosen(&self, option: &str) -> bool {
        self.value == option
    }

    pub(super) fn is_checked(&self) -> bool {
        self.value == "true"
    }

    pub(super) fn id(&self) -> String {
        format!("field-{}", self.name.replace('.', "-"))
    }
}

/// The bounds of a number or a duration, and what an empty field stands for.
fn hint(field: &described::Field, shape: Shape, default: &str, is_never: bool) -> Option<String> {
    let text = |number: i64| match shape {
        Shape::Duration => described::duration_text(Duration::from_nanos(number.unsigned_abs())),
        _ => number.to_string(),
    };
    let range = match (shape, field.range) {
        (Shape::Whole | Shape::Duration, Some((least, most))) if most < i64::MAX => match least {
            0 => Some(format!("At most {}", text(most))),
            least => Some(format!("{} to {}", text(least), text(most))),
        },
        _ => None,
    };
    let never = if is_never { ", or never" } else { "" };
    let range = range.map(|range| format!("{range}{never}"));
    let is_number = matches!(shape, Shape::Whole | Shape::Duration | Shape::Decimal);
    let empty = (is_number && !default.is_empty()).then(|| format!("{default} when it is empty"));
    let hint = [range, empty].into_iter().flatten().collect::<Vec<_>>().join("; ");
    (!hint.is_empty()).then(|| format!("{hint}."))
}
