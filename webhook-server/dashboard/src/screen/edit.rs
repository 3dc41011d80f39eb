//! Pages that are a form, and perhaps a way to remove what it edits.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use webhook_core::{Error, ErrorKind, model::Described};

use crate::{
    form::{Form, Submitted},
    page::{Frame, Problem, Reply, page, page_with},
};

#[derive(Template)]
#[template(path = "edit.html")]
pub(crate) struct Edit {
    pub(crate) frame: Frame,
    pub(crate) lead: String,
    pub(crate) form: Form,
    pub(crate) remove: Option<Remove>,
}

/// How what is edited is removed.
pub(crate) struct Remove {
    pub(crate) heading: &'static str,
    pub(crate) action: String,
    pub(crate) warning: &'static str,
    /// Whether a box has to be checked first.
    pub(crate) sure: bool,
    pub(crate) sure_label: &'static str,
}

impl Remove {
    pub(crate) fn new(heading: &'static str, action: String, warning: &'static str) -> Self {
        Self { heading, action, warning, sure: false, sure_label: "" }
    }

    pub(crate) fn unless_empty(self, sure_label: &'static str) -> Self {
        Self { sure: true, sure_label, ..self }
    }
}

impl Edit {
    pub(crate) fn new(frame: Frame, form: Form) -> Self {
        Self { frame, lead: String::new(), form, remove: None }
    }

    /// With this in front of the form.
    pub(crate) fn lead(self, lead: impl Into<String>) -> Self {
        Self { lead: lead.into(), ..self }
    }

    pub(crate) fn removed_by(self, remove: Remove) -> Self {
        Self { remove: Some(remove), ..self }
    }

    pub(crate) fn show(&self) -> Response {
        page(self)
    }

    /// The page again, when what it was asked for beside its form cannot be done.
    pub(crate) fn refuse_with(mut self, error: Error) -> Reply {
        let (status, error) = refusal(error)?;
        self.form.error = Some(error.to_string());
        Ok(page_with(status, &self))
    }

    /// What `then` makes of `spec` with what was submitted; the form again when that cannot be
    /// done.
    pub(crate) async fn submit<T: Described>(
        self,
        mut spec: T,
        submitted: &Submitted,
        then: impl AsyncFnOnce(T) -> Result<Response, Error>,
    ) -> Reply {
        let done = match self.form.read(&mut spec, submitted) {
            Ok(()) => then(spec).await,
            Err(error) => Err(error),
        };
        done.or_else(|error| self.refuse(submitted, error))
    }

    /// The form again, with what was typed and what is wrong with it.
    pub(crate) fn refuse(self, submitted: &Submitted, error: Error) -> Reply {
        let (status, error) = refusal(error)?;
        let form = self.form.refused(submitted, &error);
        Ok(page_with(status, &Self { form, ..self }))
    }
}

/// The status of a form with something wrong in it; failures of the server are a page of
/// their own.
pub(crate) fn refusal(error: Error) -> Result<(StatusCode, Error), Problem> {
    match error.kind() {
        ErrorKind::Internal | ErrorKind::Unavailable | ErrorKind::Unauthorized => Err(error.into()),
        kind => Ok((kind.status(), error)),
    }
}
