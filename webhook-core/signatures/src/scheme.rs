//! The language that schemes are written in, as it is on the wire.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a sender signs: where its signature is, what it is made of and with which key.
///
/// ```
/// let scheme: webhook_signatures::Scheme = serde_json::from_value(serde_json::json!({
///     "signature": {"source": "header", "name": "X-Acme-Signature", "split": "comma", "key": "v1="},
///     "algorithm": "hmac-sha256",
///     "signed": "{timestamp}.{body}",
///     "timestamp": {"source": "header", "name": "X-Acme-Signature", "split": "comma", "key": "t="},
/// }))?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SignatureScheme))]
pub struct Scheme {
    /// Where the signature is. A JSON Web Token and a shared token are signatures, too.
    pub signature: SignatureField,
    /// How the signature is made.
    pub algorithm: Algorithm,
    /// A field of the request that says which algorithm it is instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm_by: Option<AlgorithmBy>,
    /// How a secret is read, or where the key is fetched.
    #[serde(default, skip_serializing_if = "KeySource::is_default")]
    pub key: KeySource,
    /// A template of what is signed: text, references in braces (`{timestamp}.{body}`), and
    /// parts in brackets that are left out where one of their references is missing. `{{`,
    /// `}}`, `[[` and `]]` are the characters themselves.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "openapi", schema(max_length = 4096))]
    pub signed: String,
    /// A signed field that has a hash of the body, where the body itself is not signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// When it was signed. It must be part of what is signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<TimestampField>,
    /// The sender's identifier of the delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Field>,
    /// The sender's name for what happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Field>,
    /// What a request must have beside a signature that is right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<Condition>,
    /// The handshakes by which the sender checks an address; the first that applies answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub challenges: Vec<Handshake>,
}

/// Which part of a request a value is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeSource))]
pub enum Source {
    /// A header. A name that ends with `*` stands for all headers that have a number there,
    /// or nothing.
    #[default]
    Header,
    /// A parameter of the query, decoded.
    Query,
    /// A value of the JSON body, by its path: `data.items.0.id`.
    Payload,
    /// A claim of the JSON Web Token.
    Claim,
    /// The HTTP method, which has no name.
    Method,
}

/// What is between several values of one field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeSplit))]
pub enum Split {
    /// Nothing: there is one value.
    #[default]
    None,
    /// A comma, and white space.
    Comma,
    /// A semicolon, and white space.
    Semicolon,
    /// A space.
    Space,
}

/// Where a value is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeField))]
pub struct Field {
    /// Which part of the request.
    pub source: Source,
    /// Which header, parameter, path or claim.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What the text begins with and the value does not: `sha256=`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// What separates several values after the prefix.
    #[serde(default, skip_serializing_if = "is_default")]
    pub split: Split,
    /// What each of the values that count begins with, with its sign: `v1=`. Others are
    /// passed over.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
}

/// Where a signature is, and how it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeSignature))]
pub struct SignatureField {
    /// Which part of the request it is in.
    pub source: Source,
    /// Which header, parameter, path or claim.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What the text begins with and the value does not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// What separates several values.
    #[serde(default, skip_serializing_if = "is_default")]
    pub split: Split,
    /// What each of the values that count begins with, with its sign.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// How the bytes are written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub encoding: Encoding,
}

/// Where a time is, and how it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeTimestamp))]
pub struct TimestampField {
    /// Which part of the request it is in.
    pub source: Source,
    /// Which header, parameter, path or claim.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What the text begins with and the value does not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// What separates several values.
    #[serde(default, skip_serializing_if = "is_default")]
    pub split: Split,
    /// What each of the values that count begins with, with its sign.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// How the time is written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unit: Unit,
    /// How far it may be from now, before and after, in nanoseconds; 0 is five minutes.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 86_400_000_000_000i64))]
    pub tolerance: i64,
}

/// How a time is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeTimeUnit))]
pub enum Unit {
    /// Seconds since 1970.
    #[default]
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds since 1970.
    #[serde(rename = "ms")]
    Milliseconds,
    /// RFC 3339.
    #[serde(rename = "rfc3339")]
    Rfc3339,
}

/// How bytes are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SignatureEncoding))]
pub enum Encoding {
    /// Two hexadecimal digits a byte, in either case; lower-case where they are signed.
    #[default]
    Hex,
    /// Two hexadecimal digits a byte, in either case; upper-case where they are signed.
    HexUpper,
    /// Base64 with its padding (RFC 4648, section 4).
    Base64,
    /// Base64 of the alphabet for URLs (RFC 4648, section 5), with or without padding.
    Base64url,
}

/// How a signature is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SignatureAlgorithm))]
pub enum Algorithm {
    /// The secret itself is sent.
    Token,
    /// The secret is `user:password`, sent as HTTP's Basic authentication (RFC 7617).
    Basic,
    /// HMAC (RFC 2104) of SHA-1.
    HmacSha1,
    /// HMAC of SHA-256.
    #[default]
    HmacSha256,
    /// HMAC of SHA-512.
    HmacSha512,
    /// SHA-256 of a text in which the secret is.
    Sha256,
    /// Ed25519 (RFC 8032).
    Ed25519,
    /// ECDSA on P-256 of SHA-256, the signature in DER.
    EcdsaP256Sha256,
    /// RSA, PKCS #1 v1.5, of SHA-1.
    RsaSha1,
    /// RSA, PKCS #1 v1.5, of SHA-256.
    RsaSha256,
    /// A JSON Web Token (RFC 7519) of HS256, HS384, HS512, RS256, RS384, RS512, ES256, ES384
    /// or EdDSA, whichever the key is for.
    Jwt,
    /// A JSON Web Signature without its payload (RFC 7515, appendix F; RFC 7797), which is
    /// the body.
    JwsDetached,
}

/// Which algorithm it is, by a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeAlgorithmBy))]
pub struct AlgorithmBy {
    /// Which part of the request it is in.
    pub source: Source,
    /// Which header, parameter, path or claim.
    pub name: String,
    /// The algorithm for each value of the field.
    pub values: BTreeMap<String, Algorithm>,
}

/// How keys are written, and where they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeKey))]
pub struct KeySource {
    /// How a secret is read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub encoding: KeyEncoding,
    /// Where the key is fetched, for the encodings `certificate` and `jwks`: a template of
    /// references to headers, parameters, the payload, and `{kid}`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// The hosts that `url` may come to; a `*` stands for one label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// What the path of `url` must begin with.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// JSON that is posted to `url`, where it is not fetched by GET: text values are
    /// templates, in which `{secret}` stands for the secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub post: Option<Value>,
}

impl KeySource {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How a secret is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeKeyEncoding))]
pub enum KeyEncoding {
    /// Its bytes are the key.
    #[default]
    Utf8,
    /// Base64, of either alphabet.
    Base64,
    /// Hexadecimal digits.
    Hex,
    /// Base64 after `whsec_`, or `whpk_` for a public key, as Standard Webhooks has it.
    Whsec,
    /// A public key or certificate in PEM, with or without the lines around it.
    Pem,
    /// For JSON Web Tokens and Signatures: a PEM, a JSON Web Key or set of them, or else the
    /// bytes of a key for HMAC.
    Auto,
    /// A certificate that is fetched. There is no secret.
    Certificate,
    /// A JSON Web Key Set that is fetched.
    Jwks,
}

/// A field that has a hash of the body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeDigest))]
pub struct Digest {
    /// Which part of the request it is in.
    pub source: Source,
    /// Which header, parameter, path or claim.
    pub name: String,
    /// How the SHA-256 of the body is written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub encoding: Encoding,
    /// Whether it is needed only for a body that `{form}` does not cover.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unless_form: bool,
}

/// Something that must hold of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeCondition))]
pub struct Condition {
    /// Which part of the request it is in.
    pub source: Source,
    /// Which header, parameter, path or claim.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The value must be this text. With neither this nor `parameter`, it must be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<String>,
    /// The value must be this one of the input's parameters. While that is not set, the
    /// condition does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The value must not be there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub absent: bool,
}

/// A request by which a sender checks an address, and the answer that it expects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeHandshake))]
pub struct Handshake {
    /// What makes a request this handshake.
    pub when: Vec<Condition>,
    /// Whether the request has to be verified before it is answered. Without, the token is
    /// restricted: an answer must not be a signature of something that could be sent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub signed: bool,
    /// What the sender wants to see again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Field>,
    /// What is answered.
    #[serde(default)]
    pub answer: Answer,
    /// What is done with the token beside the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<HandshakeAction>,
}

/// What is done with the token of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeHandshakeAction))]
pub enum HandshakeAction {
    /// It is a URL that is fetched once, on one of the hosts of the scheme's key.
    Fetch,
    /// It is the secret of the input, which has none so far.
    StoreSecret,
}

/// The answer to a handshake. Its texts are templates, over `{token}`, `{hmac(token)}`,
/// `{sha256(token,parameter.name,endpoint)}` and the like, with `:base64` for that encoding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SchemeAnswer))]
pub struct Answer {
    /// The status; 0 is 200.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 499))]
    pub status: u16,
    /// Headers beside `Content-Type`, which follows from the body.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body as text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The body as JSON, whose text values are the templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub json: Option<Value>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
