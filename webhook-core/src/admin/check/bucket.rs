//! Buckets and their credentials.

use super::{description, length, line, optional_name};
use crate::{
    admin::AdminOptions,
    error::Error,
    model::{AuthType, BucketAuth, BucketSpec},
};

pub(in crate::admin) fn bucket(spec: &BucketSpec, options: &AdminOptions) -> Result<(), Error> {
    let BucketSpec {
        name,
        description: text,
        stream: _,
        ephemeral: _,
        large_webhooks: _,
        static_ip: _,
        auth,
        // Against the account's plan.
        retention: _,
    } = spec;
    optional_name("name", name, options)?;
    description(text, options)?;
    credentials(auth, options)
}

fn credentials(auth: &BucketAuth, options: &AdminOptions) -> Result<(), Error> {
    let BucketAuth { id: _, created_at: _, updated_at: _, kind, username, password, token } = auth;
    let limit = options.max_credential_bytes;
    line("auth.username", username, limit)?;
    line("auth.password", password.expose(), limit)?;
    length("auth.token", token.expose(), limit)?;
    match kind {
        AuthType::None => Ok(()),
        AuthType::Basic if username.is_empty() && password.is_empty() => {
            Err(Error::invalid("auth.username", "basic credentials need a user name or a password"))
        }
        AuthType::Basic if username.contains(':') => {
            Err(Error::invalid("auth.username", "must not contain a colon (RFC 7617)"))
        }
        AuthType::Basic => Ok(()),
        AuthType::Token if token.is_empty() => {
            Err(Error::invalid("auth.token", "must not be empty for the type token"))
        }
        AuthType::Token if !token.expose().bytes().all(|byte| byte.is_ascii_graphic()) => {
            Err(Error::invalid("auth.token", "must be printable ASCII without blanks"))
        }
        AuthType::Token => Ok(()),
    }
}
