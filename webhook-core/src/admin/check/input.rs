//! Inputs.

use http::header::HOST;

use super::{description, domain, headers, length, optional_name};
use crate::{admin::AdminOptions, error::Error, model::InputSpec};

pub(in crate::admin) fn input(spec: &InputSpec, options: &AdminOptions) -> Result<(), Error> {
    let InputSpec {
        name,
        description: text,
        function_id: _,
        status_code,
        headers: answer_headers,
        body,
        response_from_output: _,
        custom_domain,
        path_prefix,
        strip_path_prefix: _,
        tls_version: _,
        legacy_tls: _,
    } = spec;
    optional_name("name", name, options)?;
    description(text, options)?;
    if !matches!(status_code, 0 | 200..=599) {
        return Err(Error::invalid(
            "status_code",
            format!("must be 0 (which stands for 200) or from 200 to 599, not {status_code}"),
        ));
    }
    headers::sendable(&answer_headers.0, options)?;
    if answer_headers.0.contains_key(HOST) {
        return Err(Error::invalid("headers.Host", "cannot be set: it belongs to requests"));
    }
    length("body", body, options.max_static_body_bytes)?;
    if !custom_domain.is_empty() {
        domain::domain("custom_domain", custom_domain)?;
    }
    domain::path_prefix(path_prefix)
}
