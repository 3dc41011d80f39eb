//! From what a script threw to an error of the function.

use rquickjs::{Coerced, Ctx, Value};
use webhook_core::function::{FunctionError, ScriptLimits};

use crate::js::{
    limit,
    place::{self, Place},
    source,
};

/// What was thrown, in words.
pub(super) struct Thrown {
    pub(super) name: String,
    pub(super) message: String,
    pub(super) place: Option<Place>,
}

/// How much of a message is kept: it goes into logs and records.
const MAX_MESSAGE_BYTES: usize = 4 << 10;

impl Thrown {
    /// Takes the pending exception. Reading it may run the script's own code,
    /// within the same limits.
    pub(super) fn catch(ctx: &Ctx<'_>) -> Self {
        let value = ctx.catch();
        Self::read(&value)
    }

    pub(super) fn read(value: &Value<'_>) -> Self {
        let text = |value: Option<Value<'_>>| {
            let text = value?.get::<Coerced<String>>().ok()?.0;
            Some(text[..text.floor_char_boundary(MAX_MESSAGE_BYTES)].to_owned())
        };
        let thrown = match value.as_object().filter(|_| value.is_error()) {
            Some(error) => {
                let field = |name: &str| text(error.get::<_, Value<'_>>(name).ok());
                Self {
                    name: field("name").unwrap_or_default(),
                    message: field("message").unwrap_or_default(),
                    place: field("stack").as_deref().and_then(place::innermost),
                }
            }
            // What the engine throws when there is no room for an error; a
            // script hardly throws null itself.
            None if value.is_null() => Self {
                name: "InternalError".to_owned(),
                message: "out of memory".to_owned(),
                place: None,
            },
            None => {
                let message = text(Some(value.clone())).unwrap_or_default();
                Self { name: String::new(), message: format!("threw {message}"), place: None }
            }
        };
        // Reading may have thrown again.
        let _ = value.ctx().catch();
        thrown
    }

    /// With what the source tells of it beyond the engine.
    pub(super) fn of(mut self, source: &str) -> Self {
        let Self { name, message, place } = &mut self;
        match (name.as_str(), message.as_str()) {
            ("", _) => *place = place::thrown(source, message).map(Place::of_line),
            ("TypeError", "not a function" | "not a constructor") => {
                if let Some(called) = place.and_then(|place| place::called(source, place)) {
                    message.insert_str(0, " is ");
                    message.insert_str(0, called);
                }
            }
            ("TypeError", text) => {
                let constant =
                    text.strip_suffix("' is read-only").and_then(|s| s.strip_prefix('\''));
                if let Some(constant) = constant {
                    let known = place.map(|place| place.line);
                    *place =
                        place::assigned(source, constant, known).map(Place::of_line).or(*place);
                }
            }
            _ => {}
        }
        // What is around the source has no line of it.
        self.place = self.place.filter(|place| place.is_within(source));
        self
    }

    pub(super) fn line(&self) -> Option<u32> {
        self.place.map(|place| place.line)
    }

    /// As the error of a run.
    pub(super) fn into_error(self, limits: &ScriptLimits) -> FunctionError {
        if let Some(error) = limit::classify(&self.name, &self.message, limits) {
            return error;
        }
        let place = self.line().map(|line| format!("{}:{line}: ", source::CHUNK));
        let place = place.unwrap_or_else(|| format!("{}: ", source::CHUNK));
        FunctionError::Script(format!("{place}{self}"))
    }
}

impl std::fmt::Display for Thrown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.name.as_str(), self.message.as_str()) {
            ("", message) => f.write_str(message),
            (name, "") => f.write_str(name),
            (name, message) => write!(f, "{name}: {message}"),
        }
    }
}
