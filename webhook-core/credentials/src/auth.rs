//! What an account writes: `auth` of an output.

use http::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use url::Url;
use webhook_wire::Secret;

use crate::{Invalid, token::ServiceAccount};

const MAX_BYTES: usize = 4 << 10;
const MAX_URL_BYTES: usize = 2 << 10;
const MAX_SERVICE_ACCOUNT_BYTES: usize = 16 << 10;

/// How requests to an output's destination are authenticated, as it is on the wire
/// (`docs/destinations.md`). Only the fields of its type may be there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = OutputAuth))]
pub struct AuthSpec {
    /// By what.
    #[serde(rename = "type")]
    pub kind: CredentialType,
    /// `basic`: the user name, without a colon.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub username: String,
    /// `basic`: the password. Answers show a mask in place of each secret; a mask that is
    /// sent back stands for the secret that is stored.
    #[serde(skip_serializing_if = "Secret::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub password: Secret,
    /// `bearer`: the token, sent as `Authorization: Bearer …`.
    #[serde(skip_serializing_if = "Secret::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub token: Secret,
    /// `api_key`: the header or the parameter of the query.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// `api_key`: the key.
    #[serde(skip_serializing_if = "Secret::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub value: Secret,
    /// `api_key`: where the key goes; `header` without.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub place: Option<KeyPlace>,
    /// `oauth2_client_credentials`: where tokens are asked for, `http` or `https`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub token_url: String,
    /// `oauth2_client_credentials`: the client (RFC 6749 section 4.4).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub client_id: String,
    /// `oauth2_client_credentials`: the client's secret.
    #[serde(skip_serializing_if = "Secret::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub client_secret: Secret,
    /// `oauth2_client_credentials`: how the client shows its secret;
    /// `client_secret_basic` without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_auth: Option<ClientAuth>,
    /// `oauth2_client_credentials`: the scopes that are asked for, separated by blanks; may
    /// be empty. `gcp_service_account`: those of an access token.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// `oauth2_client_credentials`: the parameter `audience`, which some servers need.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub audience: String,
    /// `aws_sigv4`: the access key.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub access_key_id: String,
    /// `aws_sigv4`: the secret of the access key.
    #[serde(skip_serializing_if = "Secret::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub secret_access_key: Secret,
    /// `aws_sigv4`: the session's token, for temporary keys only.
    #[serde(skip_serializing_if = "Secret::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub session_token: Secret,
    /// `aws_sigv4`: the region, such as `eu-central-1`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub region: String,
    /// `aws_sigv4`: the service as signatures name it, such as `sqs`, `events` or `lambda`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub service: String,
    /// `gcp_service_account`: the JSON key of the account, as Google hands it out, as text.
    #[serde(skip_serializing_if = "Secret::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub service_account: Secret,
    /// `gcp_service_account`: for whom the ID token is, in place of `scope`: the address of
    /// a Cloud Run service, for example.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub target_audience: String,
}

/// By what requests are authenticated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CredentialType {
    /// By nothing.
    #[default]
    None,
    /// User name and password (RFC 7617).
    Basic,
    /// A token that does not change (RFC 6750).
    Bearer,
    /// A key in a header or in the query.
    ApiKey,
    /// A token of an OAuth2 server, by client credentials (RFC 6749 section 4.4).
    Oauth2ClientCredentials,
    /// AWS Signature Version 4.
    AwsSigv4,
    /// A token of Google, by the key of a service account (RFC 7523).
    GcpServiceAccount,
}

impl CredentialType {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "basic",
            Self::Bearer => "bearer",
            Self::ApiKey => "api_key",
            Self::Oauth2ClientCredentials => "oauth2_client_credentials",
            Self::AwsSigv4 => "aws_sigv4",
            Self::GcpServiceAccount => "gcp_service_account",
        }
    }

    /// Whether it needs a token that has to be fetched.
    #[must_use]
    pub const fn has_token(self) -> bool {
        matches!(self, Self::Oauth2ClientCredentials | Self::GcpServiceAccount)
    }
}

/// Where an API key goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum KeyPlace {
    /// Into a header.
    #[default]
    Header,
    /// Into the query.
    Query,
}

/// How an OAuth2 client shows its secret (RFC 7591 section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ClientAuth {
    /// By the header `Authorization`.
    #[default]
    ClientSecretBasic,
    /// By the form.
    ClientSecretPost,
}

impl AuthSpec {
    /// Whether requests can be authenticated by it.
    ///
    /// # Errors
    /// What is wrong, with the field as `auth.…`.
    pub fn check(&self) -> Result<(), Invalid> {
        use CredentialType::{
            ApiKey, AwsSigv4, Basic, Bearer, GcpServiceAccount, Oauth2ClientCredentials as Oauth2,
        };
        let Self {
            kind,
            username,
            password,
            token,
            name,
            value,
            place,
            token_url,
            client_id,
            client_secret,
            client_auth,
            scope,
            audience,
            access_key_id,
            secret_access_key,
            session_token,
            region,
            service,
            service_account,
            target_audience,
        } = self;
        // Each text with the type that it belongs to, and whether that needs it.
        let texts: [(&str, &str, CredentialType, bool); 17] = [
            ("username", username, Basic, false),
            ("password", password.expose(), Basic, false),
            ("token", token.expose(), Bearer, true),
            ("name", name, ApiKey, true),
            ("value", value.expose(), ApiKey, true),
            ("token_url", token_url, Oauth2, true),
            ("client_id", client_id, Oauth2, true),
            ("client_secret", client_secret.expose(), Oauth2, true),
            ("scope", scope, if *kind == GcpServiceAccount { *kind } else { Oauth2 }, false),
            ("audience", audience, Oauth2, false),
            ("access_key_id", access_key_id, AwsSigv4, true),
            ("secret_access_key", secret_access_key.expose(), AwsSigv4, true),
            ("session_token", session_token.expose(), AwsSigv4, false),
            ("region", region, AwsSigv4, true),
            ("service", service, AwsSigv4, true),
            ("service_account", service_account.expose(), GcpServiceAccount, true),
            ("target_audience", target_audience, GcpServiceAccount, false),
        ];
        for (field, text, owner, needed) in texts {
            let owned = owner == *kind;
            let max =
                if field == "service_account" { MAX_SERVICE_ACCOUNT_BYTES } else { MAX_BYTES };
            let reason = if !text.is_empty() && !owned {
                format!("does not belong to the type {}", kind.as_str())
            } else if text.is_empty() && owned && needed {
                format!("must not be empty for the type {}", kind.as_str())
            } else if text.len() > max {
                format!("must be at most {max} bytes long, not {}", text.len())
            } else if field != "service_account" && text.chars().any(char::is_control) {
                "must not contain control characters".to_owned()
            } else {
                continue;
            };
            return Err(invalid(field, reason));
        }
        for (field, set, owner) in
            [("in", place.is_some(), ApiKey), ("client_auth", client_auth.is_some(), Oauth2)]
        {
            if set && owner != *kind {
                let reason = format!("does not belong to the type {}", kind.as_str());
                return Err(invalid(field, reason));
            }
        }
        match kind {
            CredentialType::None => Ok(()),
            Basic if username.is_empty() && password.is_empty() => {
                Err(invalid("username", "basic credentials need a user name or a password"))
            }
            Basic if username.contains(':') => {
                Err(invalid("username", "must not contain a colon (RFC 7617)"))
            }
            Basic => Ok(()),
            Bearer => graphic("token", token.expose()),
            ApiKey => self.check_api_key(),
            Oauth2 => url("token_url", token_url),
            AwsSigv4 => {
                let part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
                for (field, text) in
                    [("access_key_id", access_key_id), ("region", region), ("service", service)]
                {
                    if !text.bytes().all(part) {
                        let reason = "must have only letters, digits, hyphens, dots and _";
                        return Err(invalid(field, reason));
                    }
                }
                graphic("secret_access_key", secret_access_key.expose())?;
                graphic("session_token", session_token.expose())
            }
            GcpServiceAccount => {
                let account = ServiceAccount::read(service_account.expose())
                    .map_err(|reason| invalid("service_account", reason))?;
                url("service_account", account.token_uri())?;
                match (scope.is_empty(), target_audience.is_empty()) {
                    (true, true) => {
                        let reason = "must not be empty unless target_audience is set";
                        Err(invalid("scope", reason))
                    }
                    (false, false) => {
                        Err(invalid("target_audience", "cannot be set together with scope"))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    fn check_api_key(&self) -> Result<(), Invalid> {
        if self.place == Some(KeyPlace::Query) {
            return Ok(());
        }
        let name = HeaderName::try_from(&self.name)
            .map_err(|_| invalid("name", "is not the name of a header"))?;
        // What the message and its connection need, and no destination reads a key from.
        if matches!(
            name.as_str(),
            "host"
                | "content-length"
                | "transfer-encoding"
                | "connection"
                | "te"
                | "trailer"
                | "upgrade"
        ) {
            return Err(invalid("name", "is a header that cannot carry a key"));
        }
        match HeaderValue::try_from(self.value.expose()) {
            Ok(_) => Ok(()),
            Err(_) => Err(invalid("value", "cannot be sent in a header")),
        }
    }
}

fn invalid(field: &str, reason: impl Into<String>) -> Invalid {
    Invalid::new(format!("auth.{field}"), reason)
}

fn graphic(field: &str, text: &str) -> Result<(), Invalid> {
    match text.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(()),
        false => Err(invalid(field, "must be printable ASCII without blanks")),
    }
}

/// Whether tokens can be asked for there, as far as one can say without a look at it.
fn url(field: &str, text: &str) -> Result<(), Invalid> {
    if text.len() > MAX_URL_BYTES {
        return Err(invalid(field, format!("must be at most {MAX_URL_BYTES} bytes long")));
    }
    let wrong = "must be an absolute url that starts with http:// or https://, without credentials";
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    let url = Url::parse(text).ok().filter(|url| {
        matches!(scheme.as_deref(), Some("http" | "https"))
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
    });
    match url {
        Some(_) if text.parse::<http::Uri>().is_ok() => Ok(()),
        _ => Err(invalid(field, wrong)),
    }
}

#[cfg(test)]
mod tests;
