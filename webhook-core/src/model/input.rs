//! Inputs: the endpoints of a bucket where webhooks arrive.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use webhook_signatures::SignatureSpec;

use super::{Deduplication, Extension, Headers, wire};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{BucketId, DomainId, FunctionId, InputId, OutputId},
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct InputSpec {
    /// For people. An update without a name keeps the old one.
    #[serde(deserialize_with = "wire::null_default")]
    pub name: String,
    /// Free text for people.
    #[serde(deserialize_with = "wire::null_default")]
    pub description: String,
    /// The function that sees each webhook before it is routed; empty for none.
    #[serde(with = "wire::optional_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, default = ""))]
    pub function_id: Option<FunctionId>,
    /// The static answer's status; 0 stands for 200.
    #[serde(deserialize_with = "wire::null_default")]
    pub status_code: u16,
    /// The static answer's headers.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, Vec<String>>))]
    pub headers: Headers,
    /// The static answer's body, at most 250 KB.
    #[serde(deserialize_with = "text_or_bytes")]
    pub body: String,
    /// Whose answer the sender gets in place of the static one.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub response_from_output: ResponseFromOutput,
    /// A domain that the account has reserved, in its ASCII form; empty for none.
    /// Requests that name it as their host come to this input.
    #[serde(deserialize_with = "wire::null_default")]
    pub custom_domain: String,
    /// The first segments of the paths at the custom domain that come to this
    /// input; empty for all. The longest prefix wins, and a slash at its end
    /// means nothing.
    #[serde(deserialize_with = "wire::null_default")]
    pub path_prefix: String,
    /// Whether the prefix is dropped from the forwarded path.
    #[serde(deserialize_with = "wire::null_default")]
    pub strip_path_prefix: bool,
    /// The oldest version of TLS that senders to the custom domain may speak:
    /// `1.2` (what empty stands for) or `1.3`. The strictest input of a domain
    /// decides, because the path is not known when TLS begins.
    #[serde(with = "min_tls")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, default = ""))]
    pub tls_version: Option<MinTls>,
    /// Kept for clients that set it: nothing older than TLS 1.2 is spoken.
    #[serde(deserialize_with = "wire::null_default")]
    pub legacy_tls: bool,
    /// How webhooks are verified (`docs/signatures.md`). In an update, absent keeps it,
    /// `null` takes it away, and an object replaces it whole. Answers show masks in place
    /// of secrets; a mask that is sent back stands for the secret that is stored.
    #[serde(skip_serializing_if = "Extension::is_unset")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<SignatureSpec>))]
    pub signature: Extension<SignatureSpec>,
    /// Which webhooks are duplicates of earlier ones, and are not forwarded. In an update, absent keeps it, `null` takes it away, and
    /// an object replaces it whole.
    #[serde(skip_serializing_if = "Extension::is_unset")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Deduplication>))]
    pub deduplication: Extension<Deduplication>,
}

impl InputSpec {
    /// An input that answers with an empty 200.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Makes of the extension fields that a caller wrote what is to be stored after
    /// `stored`; none when the input is new.
    ///
    /// # Errors
    /// As for [`Extension::keep`].
    pub fn keep_extensions(&mut self, stored: Option<&Self>) -> Result<(), Error> {
        let nothing = Self::default();
        let stored = stored.unwrap_or(&nothing);
        self.signature.keep("signature", &stored.signature)?;
        self.deduplication.keep("deduplication", &stored.deduplication)
    }

    /// The prefix as it is compared: without a slash at its end.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.path_prefix.strip_suffix('/').unwrap_or(&self.path_prefix)
    }
}

/// The oldest version of TLS that senders may speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub enum MinTls {
    /// TLS 1.2.
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3.
    #[serde(rename = "1.3")]
    Tls13,
}

impl MinTls {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tls12 => "1.2",
            Self::Tls13 => "1.3",
        }
    }

    /// The version of this name on the wire.
    #[must_use]
    pub fn from_wire(name: &str) -> Option<Self> {
        [Self::Tls12, Self::Tls13].into_iter().find(|version| version.as_str() == name)
    }
}

/// A version; none is `""`.
mod min_tls {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        version: &Option<MinTls>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(version.map_or("", MinTls::as_str))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<MinTls>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        if text.is_empty() {
            return Ok(None);
        }
        MinTls::from_wire(&text).map(Some).ok_or_else(|| {
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

impl Serialize for ResponseFromOutput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Static => serializer.serialize_str(""),
            Self::Any => serializer.serialize_str("anyOutput"),
            Self::Output(id) => id.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ResponseFromOutput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match &*std::borrow::Cow::<'de, str>::deserialize(deserializer)? {
            "" => Ok(Self::Static),
            "anyOutput" => Ok(Self::Any),
            id => id
                .parse()
                .map(Self::Output)
                .map_err(|_| de::Error::custom("expected an output's id, \"anyOutput\" or \"\"")),
        }
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
}
