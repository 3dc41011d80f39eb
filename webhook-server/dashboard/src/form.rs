//! Forms whose fields are the fields of the API.
//!
//! A form is filled from the JSON of what is edited and read back into it, so that the
//! API's own checks and texts apply: what they say of a field is shown at that field.

mod convert;
mod field;
mod rows;
mod submitted;

use askama::Template;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use webhook_core::{Error, ErrorKind};

pub(crate) use field::{Field, Kind};
pub(crate) use rows::{listed, numbered};
pub(crate) use submitted::Submitted;

/// Fields under a common heading.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    /// Empty for the first one, which needs none.
    pub(crate) legend: &'static str,
    pub(crate) fields: Vec<Field>,
    /// Whether it is shown unfolded in any case.
    open: bool,
}

impl Section {
    /// Whether it is shown unfolded: what is filled or wrong must not be missed.
    fn is_open(&self) -> bool {
        let says = |field: &Field| field.error.is_some();
        self.open || self.fields.iter().any(says)
    }
}

/// A form, which writes itself into a page.
#[derive(Clone, Debug, Template)]
#[template(path = "form.html")]
pub(crate) struct Form {
    pub(crate) action: String,
    pub(crate) submit: &'static str,
    pub(crate) sections: Vec<Section>,
    /// What is wrong with no field in particular.
    pub(crate) error: Option<String>,
    /// A second button: what `then` says when it is pressed, and what it is called.
    also: Option<(&'static str, &'static str)>,
}

impl Form {
    pub(crate) fn new(action: impl Into<String>, submit: &'static str) -> Self {
        Self { action: action.into(), submit, sections: Vec::new(), error: None, also: None }
    }

    /// Begins a section. Fields before the first one stand without a heading.
    pub(crate) fn section(mut self, legend: &'static str) -> Self {
        self.sections.push(Section { legend, fields: Vec::new(), open: false });
        self
    }

    /// Begins a section that is shown unfolded.
    pub(crate) fn open_section(mut self, legend: &'static str) -> Self {
        self.sections.push(Section { legend, fields: Vec::new(), open: true });
        self
    }

    /// Puts fields into the section that was begun last.
    pub(crate) fn fields(self, fields: impl IntoIterator<Item = Field>) -> Self {
        let mut form = if self.sections.is_empty() { self.section("") } else { self };
        if let Some(section) = form.sections.last_mut() {
            section.fields.extend(fields);
        }
        form
    }

    /// A second button, which submits `then` besides.
    pub(crate) fn also(self, then: &'static str, label: &'static str) -> Self {
        Self { also: Some((then, label)), ..self }
    }

    fn fields_mut(&mut self) -> impl Iterator<Item = &mut Field> {
        self.sections.iter_mut().flat_map(|section| &mut section.fields)
    }

    /// With the values of this object.
    pub(crate) fn filled(mut self, object: &impl Serialize) -> Self {
        let object = json_of(object);
        for field in self.fields_mut() {
            let mut path = field.name.split('.');
            let value = path.try_fold(&object, |value, key| value.get(key));
            if let Some(value) = value {
                field.value = convert::text(field.kind, value);
            }
        }
        self
    }

    /// Reads what was submitted into `base`, whose other fields stay.
    ///
    /// # Errors
    ///
    /// As the API says it, with the field.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        base: impl Serialize,
        submitted: &Submitted,
    ) -> Result<T, Error> {
        decode(self.object(json_of(&base), submitted)?)
    }

    /// What [`Form::read`] reads, before it is checked.
    ///
    /// # Errors
    ///
    /// With the field whose text cannot be on the wire.
    pub(crate) fn object(&self, base: Value, submitted: &Submitted) -> Result<Value, Error> {
        let mut object = base;
        for field in self.sections.iter().flat_map(|section| &section.fields) {
            let text = match field.kind {
                Kind::Check => Some(if submitted.has(&field.name) { "true" } else { "false" }),
                _ => submitted.get(&field.name),
            };
            let Some(text) = text else { continue };
            let value = convert::value(field.kind, text)
                .map_err(|reason| Error::invalid(&field.name, reason))?;
            put(&mut object, &field.name, value);
        }
        Ok(object)
    }

    /// With what was typed, and what is wrong with it, if anything is.
    pub(crate) fn retyped(self, submitted: &Submitted, error: Option<&Error>) -> Self {
        match error {
            Some(error) => self.refused(submitted, error),
            None => {
                let nothing = Error::new(ErrorKind::Invalid, "");
                Self { error: None, ..self.refused(submitted, &nothing) }
            }
        }
    }

    /// With what was typed, and what is wrong with it at the field that is meant.
    pub(crate) fn refused(mut self, submitted: &Submitted, error: &Error) -> Self {
        let message = error.to_string();
        let (path, reason) = message.split_once(": ").unwrap_or(("", &message));
        let path = rows::numbered_path(path);
        let mut place = None;
        for field in self.fields_mut() {
            match field.kind {
                Kind::Check => field.value = submitted.has(&field.name).to_string(),
                // A secret that was typed is not sent back.
                Kind::Password | Kind::Secret | Kind::SecretArea => {
                    let typed = submitted.text(&field.name);
                    if !typed.is_empty() && typed != field.value {
                        field.help = "Type it again: what was typed is not sent back.";
                    }
                }
                _ => field.value = submitted.get(&field.name).unwrap_or_default().to_owned(),
            }
            let below = path.strip_prefix(&*field.name);
            if below.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])) {
                place = Some(field);
            }
        }
        match place {
            Some(field) => field.error = Some(reason.to_owned()),
            None => self.error = Some(message),
        }
        self
    }
}

/// The JSON of an object, as on the wire.
pub(crate) fn json_of(object: &impl Serialize) -> Value {
    serde_json::to_value(object).unwrap_or_default()
}

/// Reads what is on the wire.
///
/// # Errors
///
/// As the API says it, with the field.
pub(crate) fn decode<T: DeserializeOwned>(object: Value) -> Result<T, Error> {
    serde_path_to_error::deserialize(object).map_err(|error| {
        let path = error.path().to_string();
        match error.into_inner().to_string() {
            reason if reason.starts_with("rules") => Error::new(ErrorKind::Invalid, reason),
            reason => Error::invalid(&path, reason),
        }
    })
}

/// Puts a value at its place; nothing takes what is there away.
fn put(object: &mut Value, path: &str, value: Option<Value>) {
    let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
    let mut place = object;
    for key in parents.split('.').filter(|key| !key.is_empty()) {
        if !place.is_object() {
            *place = Value::Object(serde_json::Map::new());
        }
        place = &mut place[key];
    }
    if !place.is_object() {
        *place = Value::Object(serde_json::Map::new());
    }
    match (value, place.as_object_mut()) {
        (Some(value), _) => place[name] = value,
        (None, Some(fields)) => {
            fields.shift_remove(name);
        }
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use webhook_core::model::OutputSpec;

    use super::*;

    fn form() -> Form {
        Form::new("/x", "Save").fields([
            Field::text("name", "Name"),
            Field::check("disabled", "Disabled"),
            Field::number("throttle.rate", "Rate"),
            Field::duration("throttle.deadline", "Deadline"),
            Field::headers("headers", "Headers"),
        ])
    }

    #[test]
    fn what_is_filled_is_read_again_and_other_fields_stay() -> Result<(), Error> {
        let mut spec = OutputSpec::new("a", "https://example.com");
        spec.throttle.rate = 7;
        spec.throttle.deadline = std::time::Duration::from_secs(90);
        spec.disabled = true;
        spec.headers.0.append("x-a", "1".parse().expect("a value"));
        spec.headers.0.append("x-a", "2".parse().expect("a value"));
        let json = serde_json::to_value(&spec).expect("JSON");
        let filled = form().filled(&json);
        let fields = filled.sections.iter().flat_map(|section| &section.fields);
        let typed = fields
            .filter(|field| field.kind != Kind::Check || field.is_checked())
            .map(|field| (field.name.clone().into_owned(), field.value.clone()));
        let read: OutputSpec = form().read(json, &Submitted::of(typed.collect()))?;
        assert_eq!(read, spec);
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_shown_at_its_field_with_what_was_typed() {
        let submitted =
            |name: &str, text: &str| Submitted::of(vec![(name.to_owned(), text.to_owned())]);
        for (name, text, said) in [
            ("throttle.rate", "many", "must be a whole number"),
            ("throttle.rate", "-1", "invalid value"),
            ("throttle.deadline", "soon", "is not a duration"),
            ("headers", "no colon", "line 1"),
            ("headers", "a b: c", "not a header name"),
        ] {
            let typed = submitted(name, text);
            let error = form().read::<OutputSpec>(json!({}), &typed).expect_err(text);
            let form = form().refused(&typed, &error);
            let mut fields = form.sections.iter().flat_map(|section| &section.fields);
            let field = fields.find(|field| field.name == name).expect("it is there");
            assert_eq!(field.value, text);
            let shown = field.error.as_deref().unwrap_or_default();
            assert!(shown.contains(said), "{said:?} is not in {shown:?} ({error})");
        }
        let error = Error::conflict("it is in use");
        let form = form().refused(&submitted("name", "x"), &error);
        assert_eq!(form.error.as_deref(), Some("it is in use"));
    }
}
