//! What an account writes: `auth` of an output.

use crate::wire::{Choice, Described, Secret, described::Invalid};
use http::{HeaderName, HeaderValue};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error as _},
};
use serde_json::{Map, Value};
use url::Url;

use crate::credentials::token::ServiceAccount;

const MAX_BYTES: usize = 4 << 10;

/// How requests to an output's destination are authenticated, as it is on the wire: `type`, and
/// the fields of that type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Described)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = OutputAuth))]
pub enum AuthSpec {
    /// By nothing.
    #[kind("nothing")]
    None(NoAuth),
    /// User name and password (RFC 7617).
    #[kind("user name and password (HTTP Basic)")]
    Basic(BasicAuth),
    /// A token that does not change (RFC 6750).
    #[kind("a token (Bearer)")]
    Bearer(BearerAuth),
    /// A key in a header or in the query.
    #[kind("an API key")]
    ApiKey(ApiKeyAuth),
    /// A token of an OAuth2 server, by client credentials (RFC 6749 section 4.4).
    #[kind("OAuth2, by client credentials")]
    Oauth2ClientCredentials(OAuth2Auth),
    /// AWS Signature Version 4.
    #[kind("AWS Signature Version 4")]
    AwsSigv4(AwsAuth),
    /// A token of Google, by the key of a service account (RFC 7523).
    #[kind("a service account of Google Cloud")]
    GcpServiceAccount(GoogleAuth),
}

impl Default for AuthSpec {
    fn default() -> Self {
        Self::None(NoAuth::default())
    }
}

/// No credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NoAuth {}

/// A user name and a password (RFC 7617).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[described(rules)]
pub struct BasicAuth {
    /// The user name, without a colon.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[field(label = "User name", max = MAX_BYTES, brief)]
    pub username: String,
    /// The password. Answers show a mask instead of each secret. A mask that is sent
    /// back stands for the stored secret.
    #[serde(skip_serializing_if = "Secret::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    #[field(label = "Password", max = MAX_BYTES, brief)]
    pub password: Secret,
}

impl BasicAuth {
    fn rules(&self) -> Result<(), Invalid> {
        let is_empty = self.username.is_empty() && self.password.is_empty();
        let reason = "basic credentials need a user name or a password";
        Invalid::when(is_empty, "username", reason)?;
        let reason = "must not contain a colon (RFC 7617)";
        Invalid::when(self.username.contains(':'), "username", reason)
    }
}

/// A token that does not change (RFC 6750).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[described(rules)]
pub struct BearerAuth {
    /// The token, sent as `Authorization: Bearer …`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    #[field(label = "Token", required, max = MAX_BYTES, brief, example = "t0ken")]
    pub token: Secret,
}

impl BearerAuth {
    fn rules(&self) -> Result<(), Invalid> {
        graphic("token", &self.token)
    }
}

/// A key in a header or in the query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[described(rules)]
pub struct ApiKeyAuth {
    /// The name of the header or of the parameter of the query, such as X-Api-Key.
    #[field(label = "Name", required, max = MAX_BYTES, example = "X-Api-Key")]
    pub name: String,
    /// The place of the key; `header` unless it is set.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    #[field(label = "It goes into", brief)]
    pub place: Option<KeyPlace>,
    /// The key.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    #[field(label = "Key", required, max = MAX_BYTES, brief, example = "k3y")]
    pub value: Secret,
}

/// Headers that the message and its connection need, and that no destination reads a key from.
const RESERVED: [&str; 7] =
    ["host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade"];

impl ApiKeyAuth {
    fn rules(&self) -> Result<(), Invalid> {
        if self.place == Some(KeyPlace::Query) {
            return Ok(());
        }
        let name = HeaderName::try_from(&self.name)
            .map_err(|_| Invalid::new("name", "is not the name of a header"))?;
        let reason = "is a header that cannot carry a key";
        Invalid::when(RESERVED.contains(&name.as_str()), "name", reason)?;
        let is_sendable = HeaderValue::try_from(self.value.expose()).is_ok();
        Invalid::when(!is_sendable, "value", "cannot be sent in a header")
    }
}

/// A token of an OAuth2 server, by client credentials (RFC 6749 section 4.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[described(rules)]
pub struct OAuth2Auth {
    /// The `http` or `https` URL that gives tokens.
    #[field(label = "URL of the token", required, max = 2 << 10, brief, example = "https://auth.example.com/token")]
    pub token_url: String,
    /// The identifier of the client.
    #[field(label = "Client ID", required, max = MAX_BYTES, brief)]
    pub client_id: String,
    /// The secret of the client.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    #[field(label = "Client secret", required, max = MAX_BYTES, brief)]
    pub client_secret: Secret,
    /// How the client shows its secret; `client_secret_basic` unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[field(label = "The client shows its secret", brief)]
    pub client_auth: Option<ClientAuth>,
    /// The scopes to ask for, separated by blanks; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[field(label = "Scopes", max = MAX_BYTES)]
    pub scope: String,
    /// The parameter `audience`, which some servers need.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[field(label = "Audience", max = MAX_BYTES)]
    pub audience: String,
}

impl OAuth2Auth {
    fn rules(&self) -> Result<(), Invalid> {
        url("token_url", &self.token_url)
    }
}

/// The keys of AWS Signature Version 4.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[described(rules)]
pub struct AwsAuth {
    /// The access key.
    #[field(label = "Access key ID", required, max = MAX_BYTES, brief, example = "AKIDEXAMPLE")]
    pub access_key_id: String,
    /// The secret of the access key.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    #[field(label = "Secret access key", required, max = MAX_BYTES, brief, example = "s3cret")]
    pub secret_access_key: Secret,
    /// The token of the session, for temporary keys only.
    #[serde(skip_serializing_if = "Secret::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    #[field(label = "Session token", max = MAX_BYTES, example = "t0ken")]
    pub session_token: Secret,
    /// The region, such as eu-central-1.
    #[field(label = "Region", required, max = MAX_BYTES, example = "eu-central-1")]
    pub region: String,
    /// The service as signatures name it, such as sqs, events or lambda.
    #[field(label = "Service", required, max = MAX_BYTES, example = "sqs")]
    pub service: String,
}

impl AwsAuth {
    fn rules(&self) -> Result<(), Invalid> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        for (field, text) in [
            ("access_key_id", &self.access_key_id),
            ("region", &self.region),
            ("service", &self.service),
        ] {
            let reason = "must have only letters, digits, hyphens, dots and _";
            Invalid::when(!text.bytes().all(is_part), field, reason)?;
        }
        graphic("secret_access_key", &self.secret_access_key)?;
        graphic("session_token", &self.session_token)
    }
}

/// The key of a service account of Google.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[described(rules)]
pub struct GoogleAuth {
    /// The JSON key of the account, as Google hands it out, as text.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    #[field(label = "JSON key of the account", required, max = 16 << 10, lines = 4, raw, brief)]
    pub service_account: Secret,
    /// The scopes of an access token, separated by blanks.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[field(label = "Scopes of an access token", max = MAX_BYTES, brief)]
    pub scope: String,
    /// The audience of an ID token, instead of `scope`: the address of a Cloud Run service, for
    /// example.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[field(label = "Or: the audience of an ID token", max = MAX_BYTES)]
    pub target_audience: String,
}

impl GoogleAuth {
    fn rules(&self) -> Result<(), Invalid> {
        let account = ServiceAccount::read(self.service_account.expose())
            .map_err(|reason| Invalid::new("service_account", reason))?;
        url("service_account", account.token_uri())?;
        match (self.scope.is_empty(), self.target_audience.is_empty()) {
            (true, true) => {
                Err(Invalid::new("scope", "must not be empty unless target_audience is set"))
            }
            (false, false) => {
                Err(Invalid::new("target_audience", "cannot be set together with scope"))
            }
            _ => Ok(()),
        }
    }
}

/// Where an API key goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Choice)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum KeyPlace {
    /// Into a header.
    #[default]
    #[choice("a header of this name")]
    Header,
    /// Into the query.
    #[choice("the query, by this name")]
    Query,
}

/// How an OAuth2 client shows its secret (RFC 7591 section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Choice)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ClientAuth {
    /// By the header `Authorization`.
    #[default]
    #[choice("in the header Authorization")]
    ClientSecretBasic,
    /// By the form.
    #[choice("in the form")]
    ClientSecretPost,
}

impl AuthSpec {
    /// Whether it needs a token that has to be fetched.
    #[must_use]
    pub const fn has_token(&self) -> bool {
        matches!(self, Self::Oauth2ClientCredentials(_) | Self::GcpServiceAccount(_))
    }
}

impl<'de> Deserialize<'de> for AuthSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        let kind = match fields.remove("type") {
            None => "none".to_owned(),
            Some(Value::String(kind)) => kind,
            Some(_) => return Err(D::Error::custom("type: must be a text")),
        };
        Ok(match &*kind {
            "none" => Self::None(object(fields)?),
            "basic" => Self::Basic(object(fields)?),
            "bearer" => Self::Bearer(object(fields)?),
            "api_key" => Self::ApiKey(object(fields)?),
            "oauth2_client_credentials" => Self::Oauth2ClientCredentials(object(fields)?),
            "aws_sigv4" => Self::AwsSigv4(object(fields)?),
            "gcp_service_account" => Self::GcpServiceAccount(object(fields)?),
            other => {
                let known = Self::default().kinds().iter().map(|(name, _)| *name);
                let known = known.collect::<Vec<_>>().join(", ");
                return Err(D::Error::custom(format_args!(
                    "type: must be one of {known}, not {other:?}"
                )));
            }
        })
    }
}

/// Reads the fields of one type. A field that is wrong is found by reading it alone, because
/// each has a default.
fn object<T: DeserializeOwned, E: serde::de::Error>(fields: Map<String, Value>) -> Result<T, E> {
    for (name, value) in &fields {
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        if let Err(error) = T::deserialize(Value::Object(alone)) {
            return Err(E::custom(format_args!("{name}: {error}")));
        }
    }
    T::deserialize(Value::Object(fields)).map_err(E::custom)
}

fn graphic(field: &str, secret: &Secret) -> Result<(), Invalid> {
    let is_graphic = secret.expose().bytes().all(|byte| byte.is_ascii_graphic());
    Invalid::when(!is_graphic, field, "must be printable ASCII without blanks")
}

/// Whether tokens can be asked for there, as far as one can say without a look at it.
fn url(field: &str, text: &str) -> Result<(), Invalid> {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    let url = Url::parse(text).ok().filter(|url| {
        matches!(scheme.as_deref(), Some("http" | "https"))
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
    });
    let is_right = url.is_some() && text.parse::<http::Uri>().is_ok();
    let reason =
        "must be an absolute url that starts with http:// or https://, without credentials";
    Invalid::when(!is_right, field, reason)
}

#[cfg(test)]
mod tests;
