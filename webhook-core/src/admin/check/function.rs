//! Functions and their variables.

use std::collections::BTreeMap;

use super::{length, line, optional_name};
use crate::{
    admin::AdminOptions,
    error::Error,
    model::{FunctionSpec, Secret},
};

/// All but the payload, which only a compiler can check.
pub(in crate::admin) fn function(spec: &FunctionSpec, options: &AdminOptions) -> Result<(), Error> {
    let FunctionSpec { name, driver: _, payload, metadata: labels } = spec;
    optional_name("name", name, options)?;
    if payload.trim().is_empty() {
        return Err(Error::invalid("payload", "must not be empty"));
    }
    metadata(labels, options)
}

pub(in crate::admin) fn metadata(
    labels: &BTreeMap<String, String>,
    options: &AdminOptions,
) -> Result<(), Error> {
    let limit = options.max_metadata;
    if labels.len() > limit {
        return Err(Error::invalid("metadata", format!("must have at most {limit} entries")));
    }
    let bytes: usize = labels.iter().map(|(key, value)| key.len() + value.len()).sum();
    let limit = options.max_metadata_bytes;
    if bytes > limit {
        let reason = format!("must be at most {limit} bytes together, not {bytes}");
        return Err(Error::invalid("metadata", reason));
    }
    match labels.keys().find(|key| key.is_empty() || key.chars().any(char::is_control)) {
        Some(key) => Err(Error::invalid("metadata", format!("{key:?} cannot be a name"))),
        None => Ok(()),
    }
}

pub(in crate::admin) fn variable(
    key: &str,
    value: &Secret,
    options: &AdminOptions,
) -> Result<(), Error> {
    if key.is_empty() {
        return Err(Error::invalid("key", "must not be empty"));
    }
    line("key", key, options.max_name_bytes)?;
    length("value", value.expose(), options.max_variable_bytes)?;
    match value.expose().contains('\0') {
        true => Err(Error::invalid("value", "must not contain NUL characters")),
        false => Ok(()),
    }
}
