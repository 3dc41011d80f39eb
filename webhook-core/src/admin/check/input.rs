//! Inputs.

use http::{HeaderName, header::HOST};

use super::{description, domain, length, optional_name, sendable};
use crate::{
    admin::AdminOptions,
    clock::Timestamp,
    error::{Error, invalid_if},
    model::{Deduplication, DuplicateAnswer, InputSpec, KeyPart, KeySource, signatures::Now},
    rule,
};

/// How long the name of a part of a webhook may be.
const MAX_PATH_BYTES: usize = 1 << 10;

pub(crate) fn input(spec: &InputSpec, options: &AdminOptions) -> Result<(), Error> {
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
    let is_status = matches!(status_code, 0 | 200..=599);
    let reason =
        format_args!("must be 0 (which stands for 200) or from 200 to 599, not {status_code}");
    invalid_if(!is_status, "status_code", reason)?;
    sendable(&answer_headers.0, options)?;
    let reason = "cannot be set: it belongs to requests";
    invalid_if(answer_headers.0.contains_key(HOST), "headers.Host", reason)?;
    length("body", body, options.max_static_body_bytes)?;
    if !custom_domain.is_empty() {
        domain::domain("custom_domain", custom_domain)?;
    }
    domain::path_prefix(path_prefix)
}

/// The extension fields as they are going to be stored.
///
/// Those that stay as they were `stored` were checked then: secrets may have expired since.
pub(crate) fn input_extensions(
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
    let reason = format_args!("at most {} parts are possible", Deduplication::MAX_KEY_PARTS);
    invalid_if(key.len() > Deduplication::MAX_KEY_PARTS, "deduplication.key", reason)?;
    for (at, KeyPart { source, name }) in key.iter().enumerate() {
        let field = format!("deduplication.key[{at}].name");
        let reason = format_args!("must be of 1 to {MAX_PATH_BYTES} bytes");
        invalid_if(name.is_empty() || name.len() > MAX_PATH_BYTES, &field, reason)?;
        let most = rule::MAX_PATH_SEGMENTS;
        let is_deep = *source == KeySource::Payload && name.split('.').count() > most;
        invalid_if(is_deep, &field, format_args!("must have at most {most} segments"))?;
        let is_unnamable = *source == KeySource::Header && HeaderName::try_from(&**name).is_err();
        invalid_if(is_unnamable, &field, "is no name of a header")?;
    }
    let reason = format_args!("at most {} are possible", Deduplication::MAX_EXCLUDED);
    invalid_if(exclude.len() > Deduplication::MAX_EXCLUDED, "deduplication.exclude", reason)?;
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
    let is_needless = !exclude.is_empty() && !content && !key.is_empty();
    let reason = "has a meaning only where the content counts";
    invalid_if(is_needless, "deduplication.exclude", reason)?;
    let DuplicateAnswer::Status(status) = answer else { return Ok(()) };
    let reason = format_args!("must be \"same\" or a status from 200 to 599, not {status}");
    invalid_if(!(200..=599).contains(status), "deduplication.answer", reason)
}
