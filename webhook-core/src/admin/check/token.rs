//! Access tokens.

use super::{description, name};
use crate::{
    admin::AdminOptions,
    error::Error,
    model::{TokenScopes, TokenSpec},
};

pub(in crate::admin) fn token(spec: &TokenSpec, options: &AdminOptions) -> Result<(), Error> {
    let TokenSpec { description: text, scopes, api_access: _ } = spec;
    let TokenScopes { buckets, tunnels } = scopes;
    description(text, options)?;
    for (field, names) in [("scopes.buckets", buckets), ("scopes.tunnels", tunnels)] {
        let limit = options.max_token_scopes;
        if names.len() > limit {
            return Err(Error::invalid(field, format!("must have at most {limit} entries")));
        }
        for (index, entry) in names.iter().enumerate() {
            name(&format!("{field}[{index}]"), entry, options)?;
        }
    }
    Ok(())
}
