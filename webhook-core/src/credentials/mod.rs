//! What a request to a destination carries, so that the destination knows who sent it.
//!
//! * [`SigningSpec`] signs a webhook: the receiver verifies that it came from here as it is.
//! * [`AuthSpec`] authenticates the request: by a password, a key, a token that is fetched
//!   first ([`Tokens`]), or AWS Signature Version 4.
//!
//! Both are what an account writes, as it is on the wire. The crate opens no connection and
//! reads no clock: moments are seconds since 1970, and tokens are asked for by [`Fetch`].
//!
//! ```
//! use http::HeaderMap;
//! use webhook_core::credentials::{Message, SigningSpec};
//!
//! let signing: SigningSpec = serde_json::from_value(serde_json::json!({
//!     "format": "standard_webhooks",
//!     "secrets": [{"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}],
//! }))?;
//! signing.check(0)?;
//! let mut headers = HeaderMap::new();
//! let message = Message {
//!     id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
//!     timestamp: 1614265330,
//!     body: br#"{"test": 2432232314}"#,
//! };
//! signing.sign(&message, &mut headers)?;
//! assert_eq!(headers["webhook-signature"], "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apply;
mod auth;
mod error;
mod signing;
mod sigv4;
mod token;

pub use apply::Request;
pub use auth::{
    ApiKeyAuth, AuthSpec, AwsAuth, BasicAuth, BearerAuth, ClientAuth, GoogleAuth, KeyPlace, NoAuth,
    OAuth2Auth,
};
pub use error::CredentialError;
pub use signing::{Message, SigningFormat, SigningSecret, SigningSpec};
pub use token::{Answer, Fetch, MAX_TOKENS, Question, Token, Tokens};
