//! Inputs.

use http::{HeaderName, header::HOST};

use super::{description, domain, headers, length, optional_name};
use crate::{
    admin::AdminOptions,
    clock::Timestamp,
    error::Error,
    model::{Deduplication, DuplicateAnswer, InputSpec, KeyPart, KeySource, signatures::Now},
    rule,
};

/// How long the name of a part of a webhook may be.
const MAX_PATH_BYTES: usize = 1 << 10;

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
        // Checked when it is known what is stored: `input_extensions`.
        signature: _,
        deduplication: _,
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

/// The extension fields as they are going to be stored.
///
/// Those that stay as they were `stored` were checked then: secrets may have expired since.
pub(in crate::admin) fn input_extensions(
    spec: &InputSpec,
    stored: Option<&InputSpec>,
    now: Timestamp,
) -> Result<(), Error> {
    let is_new = stored.is_none_or(|stored| stored.signature != spec.signature);
    if let Some(signature) = spec.signature.set().filter(|_| is_new) {
        signature
            .check(Now::from_unix_seconds(now.as_secs()))
            .map_err(|invalid| Error::invalid(&invalid.field, invalid.reason))?;
    }
    spec.deduplication.set().map_or(Ok(()), deduplication)
}

fn deduplication(spec: &Deduplication) -> Result<(), Error> {
    let Deduplication { enabled: _, window, key, content, exclude, answer } = spec;
    let (least, most) = (Deduplication::MIN_WINDOW, Deduplication::MAX_WINDOW);
    if !window.is_zero() && !(least..=most).contains(window) {
        let (least, most) = (least.as_nanos(), most.as_nanos());
        let reason =
            format!("must be 0 (which stands for 24 h) or from {least} to {most} nanoseconds");
        return Err(Error::invalid("deduplication.window", reason));
    }
    if key.len() > Deduplication::MAX_KEY_PARTS {
        let reason = format!("at most {} parts are possible", Deduplication::MAX_KEY_PARTS);
        return Err(Error::invalid("deduplication.key", reason));
    }
    for (at, KeyPart { source, name }) in key.iter().enumerate() {
        let field = format!("deduplication.key[{at}].name");
        if name.is_empty() || name.len() > MAX_PATH_BYTES {
            return Err(Error::invalid(&field, format!("must be of 1 to {MAX_PATH_BYTES} bytes")));
        }
        if *source == KeySource::Payload && name.split('.').count() > rule::MAX_PATH_SEGMENTS {
            let reason = format!("must have at most {} segments", rule::MAX_PATH_SEGMENTS);
            return Err(Error::invalid(&field, reason));
        }
        if *source == KeySource::Header && HeaderName::try_from(&**name).is_err() {
            return Err(Error::invalid(&field, "is no name of a header"));
        }
    }
    if exclude.len() > Deduplication::MAX_EXCLUDED {
        let reason = format!("at most {} are possible", Deduplication::MAX_EXCLUDED);
        return Err(Error::invalid("deduplication.exclude", reason));
    }
    for (at, path) in exclude.iter().enumerate() {
        let rest = path.strip_prefix("payload.").or_else(|| path.strip_prefix("query."));
        let is_deep = path.split('.').count() > rule::MAX_PATH_SEGMENTS;
        if rest.is_none_or(str::is_empty) || path.len() > MAX_PATH_BYTES || is_deep {
            let reason = format!(
                "must be payload. and a path of at most {} segments, or query. and a key, of at \
                 most {MAX_PATH_BYTES} bytes",
                rule::MAX_PATH_SEGMENTS
            );
            return Err(Error::invalid(&format!("deduplication.exclude[{at}]"), reason));
        }
    }
    if !exclude.is_empty() && !content && !key.is_empty() {
        let reason = "has a meaning only where the content counts";
        return Err(Error::invalid("deduplication.exclude", reason));
    }
    match answer {
        DuplicateAnswer::Status(status) if !(200..=599).contains(status) => {
            let reason = format!("must be \"same\" or a status from 200 to 599, not {status}");
            Err(Error::invalid("deduplication.answer", reason))
        }
        _ => Ok(()),
    }
}
