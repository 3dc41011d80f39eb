//! One field of a form: what it holds, and how it is typed.

use std::borrow::Cow;

/// What a field holds, and how it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Password,
    Number,
    /// Text of several lines.
    Area,
    Check,
    Select,
    /// A header in each line.
    Headers,
    /// Such as `30s`, in nanoseconds on the wire.
    Duration,
    /// Several of these, separated by commas.
    Durations,
    /// One of these, or `never`, which is 0 on the wire.
    Limit,
    /// A number that need not be whole.
    Decimal,
    /// A secret in a form that knows the stored one by its mask: the mask that is sent back
    /// keeps it.
    Secret,
    /// The same, of several lines.
    SecretArea,
    /// A day or a moment, in unix seconds on the wire.
    Moment,
    /// A text in each line.
    Lines,
    /// A part of a webhook in each line, such as `header X-Id`.
    Parts,
    /// A number on the wire where it is one, and a text otherwise.
    Word,
    Json,
}

/// One field of a form.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// Its place in the JSON, such as `throttle.rate`.
    pub(crate) name: Cow<'static, str>,
    pub(crate) label: &'static str,
    pub(crate) kind: Kind,
    pub(crate) help: &'static str,
    pub(crate) value: String,
    pub(crate) error: Option<String>,
    /// Values and what they are called.
    pub(crate) options: Vec<(String, String)>,
    pub(crate) required: bool,
    pub(crate) rows: u8,
    /// Whether the text is a program, whose lines are numbered where there is script.
    pub(super) code: bool,
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
    text: Text, password: Password, number: Number, area: Area, check: Check, select: Select,
    headers: Headers, duration: Duration, durations: Durations, limit: Limit, decimal: Decimal,
    secret: Secret, secret_area: SecretArea, moment: Moment, lines: Lines, parts: Parts,
    word: Word, json: Json,
}

impl Field {
    fn new(kind: Kind, name: impl Into<Cow<'static, str>>, label: &'static str) -> Self {
        Self {
            name: name.into(),
            label,
            kind,
            help: "",
            value: String::new(),
            error: None,
            options: Vec::new(),
            required: false,
            rows: 4,
            code: false,
        }
    }

    /// A choice between a second, a minute and an hour.
    pub(crate) fn interval(name: &'static str, label: &'static str) -> Self {
        Self::select(name, label).options(["second", "minute", "hour"].map(|it| (it, it)))
    }

    pub(crate) fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    pub(crate) fn required(self) -> Self {
        Self { required: true, ..self }
    }

    pub(crate) fn rows(self, rows: u8) -> Self {
        Self { rows, ..self }
    }

    /// The text is a program.
    pub(crate) fn code(self) -> Self {
        Self { code: true, ..self }
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

    pub(crate) fn options<V: Into<String>, L: Into<String>>(
        self,
        options: impl IntoIterator<Item = (V, L)>,
    ) -> Self {
        let options = options.into_iter().map(|(value, label)| (value.into(), label.into()));
        Self { options: options.collect(), ..self }
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        match self.kind {
            Kind::Check => kind == "check",
            Kind::Select => kind == "select",
            Kind::Area
            | Kind::SecretArea
            | Kind::Headers
            | Kind::Lines
            | Kind::Parts
            | Kind::Json => kind == "area",
            Kind::Text
            | Kind::Password
            | Kind::Secret
            | Kind::Number
            | Kind::Moment
            | Kind::Word
            | Kind::Duration
            | Kind::Durations
            | Kind::Limit
            | Kind::Decimal => kind == "input",
        }
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
