//! Forms whose fields are the fields of an object, as their declarations describe them.
//!
//! A form is filled from the object that it edits, and what a person typed goes into a copy of
//! that, so that the checks and texts of the API apply: what they say of a field is shown at that
//! field.

mod field;
mod submitted;

use askama::Template;
use webhook_core::{
    Error, ErrorKind,
    model::{Described, described},
};

pub(crate) use field::{Field, Kind};
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

    /// The fields of an object with their values, each under the heading of its declaration.
    pub(crate) fn of(mut self, object: &dyn Described) -> Self {
        self.add(object, "", "");
        self
    }

    /// The fields of the object at `name` of another one; those of a new object where there is
    /// none.
    pub(crate) fn of_part(mut self, object: &dyn Described, name: &str) -> Self {
        if let Some((_, value)) = field_of(object, name) {
            match value.object() {
                Some(part) => self.add(part, &format!("{name}."), ""),
                None => {
                    let blank = value.blank();
                    blank.into_iter().for_each(|it| self.add(&*it, &format!("{name}."), ""));
                }
            }
        }
        self
    }

    /// One field of an object, also where other forms hide it.
    pub(crate) fn of_field(self, object: &dyn Described, name: &'static str) -> Self {
        let field = field_of(object, name);
        self.fields(field.map(|(field, value)| Field::described(name.to_owned(), field, value, "")))
    }

    fn add(&mut self, object: &dyn Described, place: &str, group: &'static str) {
        let unset = object.unset();
        for ((field, value), (_, default)) in object.fields().into_iter().zip(unset.fields()) {
            if field.hidden {
                continue;
            }
            let name = format!("{place}{}", field.name);
            let group = if field.group.is_empty() { group } else { field.group };
            if let Some(rows) = value.rows() {
                // One row more than there are, for one more object.
                let count = (rows.count() + 1).min(field.max.max(1));
                let blank = value.blank();
                for at in 0..count {
                    if let Some(row) = rows.row(at).or(blank.as_deref()) {
                        self.add_row(row, &format!("{name}.{at}."), at, field.label);
                    }
                }
            } else if let Some(part) = value.object() {
                self.add(part, &format!("{name}."), group);
            } else if let Some(blank) = value.blank() {
                self.add(&*blank, &format!("{name}."), group);
            } else {
                self.in_section(group, Field::described(name, field, value, &default.text()));
            }
        }
    }

    /// The fields of one object of a list, whose labels say which it is.
    fn add_row(&mut self, row: &dyn Described, place: &str, at: usize, title: &'static str) {
        let number = ["second", "third", "fourth", "fifth"].get(at.wrapping_sub(1));
        for (index, (field, value)) in row.fields().into_iter().enumerate() {
            let name = format!("{place}{}", field.name);
            let mut shown = Field::described(name, field, value, "");
            shown.required &= at == 0;
            let label = if index == 0 { title } else { field.label };
            shown.label = match number {
                Some(number) => format!("{label} (the {number})").into(),
                None => label.into(),
            };
            if at > 0 {
                shown.help = "".into();
            }
            self.in_section("", shown);
        }
    }

    /// Puts a field into the section of this heading, which is begun if there is none.
    fn in_section(&mut self, legend: &'static str, field: Field) {
        match self.sections.iter_mut().find(|section| section.legend == legend) {
            Some(section) => section.fields.push(field),
            None => {
                let section = Section { legend, fields: vec![field], open: false };
                let at = if legend.is_empty() { 0 } else { self.sections.len() };
                self.sections.insert(at, section);
            }
        }
    }

    /// Changes the field of this name, where the page knows more than the declaration.
    pub(crate) fn with(mut self, name: &str, change: impl FnOnce(Field) -> Field) -> Self {
        if let Some(field) = self.fields_mut().find(|field| field.name == name) {
            *field = change(field.clone());
        }
        self
    }

    /// Without the fields that `keep` refuses.
    pub(crate) fn only(mut self, keep: impl Fn(&Field) -> bool) -> Self {
        self.sections.iter_mut().for_each(|section| section.fields.retain(&keep));
        self
    }

    /// The fields that belong to this object, of a form about several.
    pub(crate) fn only_of(&self, object: &dyn Described) -> Self {
        self.clone().only(|field| described::get(object, &field.name).is_some())
    }

    /// A second button, which submits `then` besides.
    pub(crate) fn also(self, then: &'static str, label: &'static str) -> Self {
        Self { also: Some((then, label)), ..self }
    }

    fn fields_mut(&mut self) -> impl Iterator<Item = &mut Field> {
        self.sections.iter_mut().flat_map(|section| &mut section.fields)
    }

    /// With the values of this object.
    pub(crate) fn filled(mut self, object: &dyn Described) -> Self {
        for field in self.fields_mut() {
            if let Some(text) = described::get(object, &field.name) {
                field.value = text;
            }
        }
        self
    }

    /// Puts what was submitted into `object`, whose other fields stay.
    ///
    /// # Errors
    ///
    /// As the API says it, with the field.
    pub(crate) fn read(
        &self,
        object: &mut dyn Described,
        submitted: &Submitted,
    ) -> Result<(), Error> {
        for field in self.sections.iter().flat_map(|section| &section.fields) {
            let typed = match field.kind {
                Kind::Check => Some(if submitted.has(&field.name) { "true" } else { "false" }),
                Kind::Area | Kind::Password => submitted.get(&field.name),
                _ => submitted.get(&field.name).map(str::trim),
            };
            if let Some(typed) = typed {
                described::set(object, &field.name, typed)?;
            }
        }
        described::drop_empty_rows(object);
        Ok(())
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
        // `secrets[1].secret` as fields are called: `secrets.1.secret`.
        let path = path.replace('[', ".").replace(']', "");
        let mut place = None;
        for field in self.fields_mut() {
            match field.kind {
                Kind::Check => field.value = submitted.has(&field.name).to_string(),
                // A secret that was typed is not sent back.
                Kind::Password | Kind::Secret => {
                    let typed = submitted.text(&field.name);
                    if !typed.is_empty() && typed != field.value {
                        field.help = "Type it again: what was typed is not sent back.".into();
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

/// The declaration of one field of an object, and its value.
fn field_of<'a>(
    object: &'a dyn Described,
    name: &str,
) -> Option<(&'static described::Field, &'a dyn described::Value)> {
    object.fields().into_iter().find(|(field, _)| field.name == name)
}

#[cfg(test)]
mod tests {
    use webhook_conformance::{ExtendedOutput, arbitrary};
    use webhook_core::model::{
        BucketSpec, CronSpec, DomainSpec, FunctionSpec, InputSpec, NotificationSpec, OutputSpec,
    };

    use super::*;

    /// What a browser sends of a form as it is.
    fn sent(form: &Form) -> Submitted {
        let fields = form.sections.iter().flat_map(|section| &section.fields);
        let typed =
            fields.filter(|field| field.kind != Kind::Check || field.is_checked()).map(|field| {
                let first = field.options.first().filter(|_| field.value.is_empty());
                let value = first.map_or(&field.value, |(name, _)| name);
                (field.name.clone().into_owned(), value.clone())
            });
        Submitted::of(typed.collect())
    }

    #[test]
    fn what_is_filled_is_read_again_and_other_fields_stay() -> Result<(), Error> {
        let mut spec = OutputSpec::new("a", "https://example.com");
        spec.throttle.rate = 7;
        spec.throttle.deadline = std::time::Duration::from_secs(90);
        spec.disabled = true;
        spec.headers.0.append("x-a", "1".parse().expect("a value"));
        spec.headers.0.append("x-a", "2".parse().expect("a value"));
        let form = Form::new("/x", "Save").of(&spec);
        let mut read = spec.clone();
        form.read(&mut read, &sent(&form))?;
        // Defaults are written out.
        (read.on_disabled, read.function_must) = (spec.on_disabled, spec.function_must);
        assert_eq!(read, spec);
        let legends: Vec<_> = form.sections.iter().map(|section| section.legend).collect();
        assert_eq!(legends, ["", "Request", "Retries", "Throttle", "Webhooks that clients missed"]);
        Ok(())
    }

    /// Of each field that the form shows, and of each part that has a page of its own.
    fn comes_back<T: Described + Default + Clone>(parts: &[&str]) {
        for seed in 0..64 {
            let spec: T = arbitrary(seed);
            let own = Form::new("/x", "Save").of(&spec);
            let parts = parts.iter().filter_map(|part| {
                let has = described::get(&spec, &format!("{part}.enabled")).is_some()
                    || described::get(&spec, &format!("{part}.token")).is_some();
                has.then(|| Form::new("/x", "Save").of_part(&spec, part))
            });
            for form in parts.chain([own]) {
                let typed = sent(&form);
                let (mut same, mut other) = (spec.clone(), arbitrary::<T>(seed + 1));
                form.read(&mut same, &typed).expect("the same again");
                // Another one of another type of credentials has other fields.
                let is_read = form.read(&mut other, &typed).is_ok();
                for field in form.sections.iter().flat_map(|section| &section.fields) {
                    let text = |spec: &T| described::get(spec, &field.name).unwrap_or_default();
                    let was = text(&spec);
                    // A choice that was not made is the first one.
                    let is_chosen = field.kind == Kind::Select && was.is_empty();
                    assert!(is_chosen || text(&same) == was, "{}, seed {seed}", field.name);
                    let is_read = is_read && field.kind != Kind::Secret;
                    assert!(!is_read || is_chosen || text(&other) == was, "{}", field.name);
                }
            }
        }
    }

    #[test]
    fn arbitrary_specifications_survive_their_forms() {
        comes_back::<OutputSpec>(&["signing", "auth", "health"]);
        comes_back::<InputSpec>(&["signature", "deduplication"]);
        comes_back::<BucketSpec>(&[]);
        comes_back::<CronSpec>(&[]);
        comes_back::<FunctionSpec>(&[]);
        comes_back::<NotificationSpec>(&[]);
        comes_back::<DomainSpec>(&[]);
    }

    #[test]
    fn a_field_is_in_the_form_because_it_is_declared() {
        let mut output = ExtendedOutput::default();
        let form = Form::new("/x", "Save").of(&output);
        let section = form.sections.last().expect("it has a heading");
        let field = section.fields.first().expect("it is there");
        assert_eq!((section.legend, &*field.label), ("People", "Watchers"));
        assert_eq!(field.help, "The number of people who watch this output. 1 to 9.");
        let typed = Submitted::of(vec![("watchers".to_owned(), "12".to_owned())]);
        form.read(&mut output, &typed).expect("it is a number");
        let error = described::check(&output, "").expect_err("it is out of range");
        let form = form.refused(&typed, &error.into());
        let shown = form.sections.last().and_then(|section| section.fields.first());
        let error = shown.and_then(|field| field.error.as_deref());
        assert_eq!(error, Some("must be 0 or from 1 to 9, not 12"));
    }

    #[test]
    fn what_is_wrong_is_shown_at_its_field_with_what_was_typed() {
        let form = || Form::new("/x", "Save").of(&OutputSpec::default());
        let submitted =
            |name: &str, text: &str| Submitted::of(vec![(name.to_owned(), text.to_owned())]);
        for (name, text, said) in [
            ("throttle.rate", "many", "must be a whole number"),
            ("throttle.rate", "-1", "must be a whole number from 0"),
            ("throttle.deadline", "soon", "is not a duration"),
            ("headers", "no colon", "line 1"),
            ("headers", "a b: c", "not a header name"),
        ] {
            let typed = submitted(name, text);
            let error = form().read(&mut OutputSpec::default(), &typed).expect_err(text);
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
