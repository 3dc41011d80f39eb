//! From what a script threw to an error of the function.

use rquickjs::{Coerced, Ctx, Value};
use webhook_core::function::{FunctionError, ScriptLimits};

use crate::{
    foreign,
    js::{
        limit,
        place::{self, Place},
        source,
    },
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
            let text = in_words(&value?.get::<Coerced<rquickjs::String<'_>>>().ok()?.0)?;
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
            // What the engine throws when there is no room for an error; the source tells whether it
            // throws null itself.
            None if value.is_null() => Self {
                name: "InternalError".to_owned(),
                message: "out of memory".to_owned(),
                place: None,
            },
            None => {
                // An object that is no error may have a message as errors do, or a text of its own, or
                // shows its fields.
                let object = value.as_object().filter(|object| !object.is_function());
                let message = object.and_then(|object| object.get::<_, Value<'_>>("message").ok());
                let message = message.filter(Value::is_string).unwrap_or_else(|| value.clone());
                let mut message = text(Some(message)).unwrap_or_default();
                if object.is_some() && matches!(&*message, "" | "[object Object]") {
                    let json = value.ctx().json_stringify(value.clone()).ok().flatten();
                    message = text(json.map(rquickjs::String::into_value)).unwrap_or(message);
                }
                Self { name: String::new(), message: format!("threw {message}"), place: None }
            }
        };
        // Reading may have thrown again.
        let _ = value.ctx().catch();
        thrown
    }

    /// With what the source tells of it beyond the engine.
    pub(super) fn of(mut self, source: &str) -> Self {
        if self.name == "InternalError"
            && self.message == "out of memory"
            && source::throws_null(source)
        {
            self = Self { name: String::new(), message: "threw null".to_owned(), place: None };
        }
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
        // Of several calls on a line one is of a name that is known elsewhere.
        if name == "TypeError" && message == "not a function" {
            let line = place.and_then(|place| source.lines().nth(place.line as usize - 1));
            if let Some(member) = line.and_then(foreign::member_in_js) {
                message.insert_str(0, " is ");
                message.insert_str(0, member);
            }
        }
        let missing = match name.as_str() {
            "ReferenceError" => message.strip_suffix(" is not defined"),
            "TypeError" => message.strip_suffix(" is not a function"),
            _ => None,
        };
        let here = match missing.map(|missing| missing.trim_matches('\'')) {
            Some("require") => Some(foreign::package(source::required(source).unwrap_or_default())),
            Some(missing) => foreign::in_js(missing).map(str::to_owned),
            None => None,
        };
        if let Some(here) = here {
            message.push_str("; ");
            message.push_str(&here);
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

/// A text of the engine, with U+FFFD for what is no character.
fn in_words(text: &rquickjs::String<'_>) -> Option<String> {
    if let Ok(text) = text.to_string() {
        return Some(text);
    }
    // As JSON, halves of characters are escaped, and nothing else begins with `\\ud`.
    let json = text.ctx().json_stringify(text.clone()).ok().flatten()?.to_string().ok()?;
    let (mut whole, mut rest) = (String::with_capacity(json.len()), &*json);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        let is_half = escape.starts_with("\\ud");
        let length = if is_half { 6 } else { 2 };
        whole.push_str(before);
        whole.push_str(if is_half { "\\ufffd" } else { escape.get(..length)? });
        rest = escape.get(length..)?;
    }
    whole.push_str(rest);
    serde_json::from_str(&whole).ok()
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
