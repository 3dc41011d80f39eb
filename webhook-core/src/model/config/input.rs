//! Inputs: the endpoints of a bucket where webhooks arrive.

use crate::guard::names;
use crate::wire::{
    Choice, Described,
    described::{Invalid, Shape, Value},
};
use http::header::HOST;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::model::{Deduplication, Extension, FunctionMust, Headers, SignatureSpec, wire};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{BucketId, DomainId, FunctionId, InputId, OutputId},
};

use super::{
    ANSWER, DOMAIN, MAX_DESCRIPTION, MAX_HEADERS, MAX_HEADERS_BYTES, MAX_NAME, MAX_PREFIX,
    keep_choice, refuse, sendable,
};

/// An endpoint of a bucket that receives webhooks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Input {
    /// Identifies the input; part of its public address.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid, read_only))]
    pub id: InputId,
    /// The bucket it belongs to.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid, read_only))]
    pub bucket_id: BucketId,
    /// Which version of it this is: 1 when it is made, one more with each change of what it is
    /// configured to be. Pauses and other states are no part of it. Not on the wire: the `ETag`.
    #[serde(skip)]
    pub version: u64,
    /// The reserved domain that `custom_domain` names; not on the wire.
    #[serde(skip)]
    pub domain_id: Option<DomainId>,
    /// When it was made, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, read_only))]
    pub created_at: Timestamp,
    /// When it was last changed, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, read_only))]
    pub updated_at: Timestamp,
    /// Which credential made it, for people; may be empty.
    #[cfg_attr(feature = "openapi", schema(read_only))]
    pub created_by: String,
    /// What a caller may write.
    #[serde(flatten)]
    pub spec: InputSpec,
}

impl Input {
    /// An input of this bucket, made now.
    #[must_use]
    pub fn new(id: InputId, bucket_id: BucketId, now: Timestamp, spec: InputSpec) -> Self {
        let (created_by, domain_id) = (String::new(), None);
        let (created_at, updated_at) = (now, now);
        Self { id, bucket_id, version: 1, domain_id, created_at, updated_at, created_by, spec }
    }
}

/// What a caller may write of an [`Input`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
#[described(rules)]
pub struct InputSpec {
    /// The name, for people. An update without a name keeps the old one.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Name", is_name, max = MAX_NAME, brief)]
    pub name: String,
    /// Free text for people.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Description", max = MAX_DESCRIPTION, lines = 2, brief)]
    pub description: String,
    /// The function that sees each webhook before it is routed; empty for none.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, default = ""))]
    #[field(label = "Function")]
    pub function_id: Option<FunctionId>,
    /// Whether a run of the function may change nothing (`anything`, the default), or fails then
    /// (`change`). In an update, absent keeps the value, and `null` resets it.
    #[serde(deserialize_with = "wire::null_some_default", skip_serializing_if = "Option::is_none")]
    #[field(label = "The function", brief)]
    pub function_must: Option<FunctionMust>,
    /// The status of the static answer; 0 stands for 200.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Status", group = ANSWER, range = 200..=599, or_zero)]
    pub status_code: u16,
    /// The headers of the static answer.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, Vec<String>>))]
    #[field(label = "Headers", group = ANSWER, max = MAX_HEADERS, max_bytes = MAX_HEADERS_BYTES, example = "Content-Type: application/json")]
    pub headers: Headers,
    /// The body of the static answer.
    #[serde(deserialize_with = "text_or_bytes")]
    #[field(label = "Body", group = ANSWER, max = 250 << 10, lines = 4, raw, brief)]
    pub body: String,
    /// The output whose answer the sender gets instead of the static one.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    #[field(label = "Senders get", group = ANSWER, brief)]
    pub response_from_output: ResponseFromOutput,
    /// A domain that the account has reserved, in its ASCII form; empty for none. Requests that
    /// name it as their host come to this input.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Domain", group = DOMAIN, max = MAX_PREFIX, example = "hooks.example.com")]
    pub custom_domain: String,
    /// The first segments of the paths at the domain that come to this input; empty for all. The
    /// longest prefix wins, and a slash at its end means nothing.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Path prefix", group = DOMAIN, max = MAX_PREFIX, example = "/v2")]
    pub path_prefix: String,
    /// Whether the prefix is dropped from the forwarded path.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(label = "Drop the prefix when forwarding", group = DOMAIN, brief)]
    pub strip_path_prefix: bool,
    /// The oldest version of TLS that senders to the domain may speak; empty stands for 1.2. The
    /// strictest input of a domain decides, because the path is not known when TLS begins.
    #[serde(with = "min_tls")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, default = ""))]
    #[field(label = "Oldest TLS", group = DOMAIN)]
    pub tls_version: Option<MinTls>,
    /// Kept for clients that set it: nothing older than TLS 1.2 is spoken.
    #[serde(deserialize_with = "wire::null_default")]
    #[field(hidden)]
    pub legacy_tls: bool,
    /// How webhooks are verified. In an update, absent keeps it,
    /// `null` takes it away, and an object replaces it whole. Answers show masks instead
    /// of secrets; a mask that is sent back stands for the secret that is stored.
    #[serde(skip_serializing_if = "Extension::is_unset")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<SignatureSpec>))]
    #[field(hidden, sealed)]
    pub signature: Extension<SignatureSpec>,
    /// Which webhooks are duplicates of earlier ones, and are not forwarded. In an update, absent keeps it, `null` takes it away, and
    /// an object replaces it whole.
    #[serde(skip_serializing_if = "Extension::is_unset")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Deduplication>))]
    #[field(hidden)]
    pub deduplication: Extension<Deduplication>,
}

impl InputSpec {
    /// An input that answers with an empty 200.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Completes what a caller wrote by what was stored before; `stored` is the default when the
    /// input is new. An empty name and absent extension fields keep the stored ones.
    ///
    /// # Errors
    /// As for [`Extension::keep`].
    pub fn keep(&mut self, stored: &Self) -> Result<(), Error> {
        if self.name.is_empty() {
            self.name.clone_from(&stored.name);
        }
        keep_choice(&mut self.function_must, stored.function_must);
        self.signature.keep("signature", &stored.signature)?;
        self.deduplication.keep("deduplication", &stored.deduplication)
    }

    fn rules(&self) -> Result<(), Invalid> {
        sendable(&self.headers.0)?;
        if self.headers.0.contains_key(HOST) {
            return refuse(&HOST, "cannot be set: it belongs to requests");
        }
        if !self.custom_domain.is_empty() {
            names::domain(&self.custom_domain)
                .map_err(|error| Invalid::new("custom_domain", error.to_string()))?;
        }
        path_prefix(&self.path_prefix)
    }

    /// The prefix as it is compared: without a slash at its end.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.path_prefix.strip_suffix('/').unwrap_or(&self.path_prefix)
    }
}

/// The first segments of a path, percent-encoded as senders send them; a slash
/// at the end means nothing.
fn path_prefix(prefix: &str) -> Result<(), Invalid> {
    let refuse = |reason: &str| Err(Invalid::new("path_prefix", reason));
    let path = prefix.strip_suffix('/').unwrap_or(prefix);
    if path.is_empty() {
        return Ok(());
    }
    let Some(segments) = path.strip_prefix('/') else {
        return refuse("must start with a slash");
    };
    for segment in segments.split('/') {
        match segment {
            "" => return refuse("must not have two slashes in a row"),
            "." | ".." => return refuse("must not have the segments . and .."),
            _ if !is_segment(segment) => {
                return refuse(
                    "must be a path as in a URL: what is not a letter, a digit or one of \
                     -._~!$&'()*+,;=:@ is percent-encoded",
                );
            }
            _ => {}
        }
    }
    Ok(())
}

/// RFC 3986 section 3.3: `segment`.
fn is_segment(segment: &str) -> bool {
    let mut bytes = segment.bytes();
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'%' => {
                let mut hex = || bytes.next().is_some_and(|digit| digit.is_ascii_hexdigit());
                hex() && hex()
            }
            _ => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte),
        };
        if !fits {
            return false;
        }
    }
    true
}

/// The oldest version of TLS that senders may speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Choice)]
#[non_exhaustive]
pub enum MinTls {
    /// TLS 1.2.
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3.
    #[serde(rename = "1.3")]
    Tls13,
}

/// A version; none is `""`.
mod min_tls {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        version: &Option<MinTls>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(version.map_or("", MinTls::name))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<MinTls>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        if text.is_empty() {
            return Ok(None);
        }
        MinTls::of_name(&text).map(Some).map_err(|_| {
            de::Error::custom(format_args!("must be 1.2 or 1.3, or empty, not {text:?}"))
        })
    }
}

/// Whose answer the sender of a webhook gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ResponseFromOutput {
    /// The input's static answer; `""` on the wire.
    #[default]
    Static,
    /// The answer of the first output that has one; `anyOutput` on the wire.
    Any,
    /// The answer of this output; its ID on the wire.
    Output(OutputId),
}

impl Value for ResponseFromOutput {
    fn shape(&self) -> Shape {
        Shape::Reference
    }

    fn text(&self) -> String {
        match self {
            Self::Static => String::new(),
            Self::Any => "anyOutput".to_owned(),
            Self::Output(id) => id.to_string(),
        }
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        *self = match typed {
            "" => Self::Static,
            "anyOutput" => Self::Any,
            id => Self::Output(
                id.parse().map_err(|_| "expected an output's id, \"anyOutput\" or \"\"")?,
            ),
        };
        Ok(())
    }
}

impl Serialize for ResponseFromOutput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for ResponseFromOutput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut read = Self::default();
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        read.set_text(&text).map_err(de::Error::custom).map(|()| read)
    }
}

/// Plain text; some clients send a list of byte values in its place.
fn text_or_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected text or a list of byte values")]
    enum Body {
        Text(String),
        Bytes(Vec<u8>),
        Null(()),
    }
    match Body::deserialize(deserializer)? {
        Body::Text(text) => Ok(text),
        Body::Bytes(bytes) => {
            String::from_utf8(bytes).map_err(|_| de::Error::custom("the bytes are not UTF-8 text"))
        }
        Body::Null(()) => Ok(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use crate::wire::described;
    use serde_json::json;

    use super::*;

    #[test]
    fn tls_versions_are_those_that_are_spoken() {
        for (written, read) in [
            (json!(""), None),
            (json!(null), None),
            (json!("1.2"), Some(MinTls::Tls12)),
            (json!("1.3"), Some(MinTls::Tls13)),
        ] {
            let spec: InputSpec = serde_json::from_value(json!({"tls_version": written}))
                .expect("a version that is spoken");
            assert_eq!(spec.tls_version, read);
            let again = serde_json::to_value(&spec).expect("JSON");
            assert_eq!(again["tls_version"], json!(written.as_str().unwrap_or_default()));
        }
        for version in ["1.0", "1.1", "1.4", "tls", " 1.3"] {
            let error = serde_json::from_value::<InputSpec>(json!({"tls_version": version}))
                .expect_err(version);
            let reason = format!("must be 1.2 or 1.3, or empty, not {version:?}");
            assert_eq!(error.to_string(), reason);
        }
    }

    #[test]
    fn prefixes_are_paths() {
        let with = |path_prefix: &str| InputSpec {
            path_prefix: path_prefix.to_owned(),
            ..InputSpec::default()
        };
        for prefix in ["", "/", "/a", "/a/", "/a/b.c/d", "/a%2Fb", "/~x;y=1,@:$&'()*+!"] {
            described::check(&with(prefix), "").expect(prefix);
        }
        let long = format!("/{}", "a".repeat(1_024));
        for prefix in [
            "a", "//", "/a//", "//a", "/a//b", "/.", "/a/../b", "/a?b", "/a#b", "/a b", "/ä", "/%",
            "/%4", "/%zz", "/a\n", "/a\\b", &long,
        ] {
            let error = described::check(&with(prefix), "").expect_err(prefix);
            assert!(error.to_string().starts_with("path_prefix: "), "{error}");
        }
    }
}
