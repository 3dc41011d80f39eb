//! The bounds that what callers send is checked against.

use std::time::Duration;

use crate::forward::guard::AddressGuard;

/// Bounds on accounts, buckets, inputs and outputs. Those on rules and on
/// retries are in [`rule`](crate::rule) and [`retry`](crate::retry).
///
/// ```
/// use webhook_core::admin::AdminOptions;
///
/// let mut options = AdminOptions::default();
/// options.max_outputs_per_bucket = 20;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AdminOptions {
    /// Which destinations may be saved. Names are resolved and checked again
    /// at each connection; this refuses early what can never be reached.
    pub guard: AddressGuard,
    /// Buckets of one account, 1 000. Beyond: [`Conflict`](crate::ErrorKind::Conflict).
    pub max_buckets_per_account: usize,
    /// Inputs of one bucket, 100. Beyond: [`Conflict`](crate::ErrorKind::Conflict).
    pub max_inputs_per_bucket: usize,
    /// Outputs of one bucket, 100. Beyond: [`Conflict`](crate::ErrorKind::Conflict).
    pub max_outputs_per_bucket: usize,
    /// Access tokens of one account, 1 000. Beyond: [`Conflict`](crate::ErrorKind::Conflict).
    pub max_tokens_per_account: usize,
    /// Buckets or tunnels in the scopes of one access token, 100.
    pub max_token_scopes: usize,
    /// The length of a name, 255 bytes.
    pub max_name_bytes: usize,
    /// The length of a description, 4 KB.
    pub max_description_bytes: usize,
    /// The length of a user name, password or token of a bucket, 1 KB.
    pub max_credential_bytes: usize,
    /// The static answer's body, 250 KB.
    pub max_static_body_bytes: usize,
    /// Values in one header map, 100.
    pub max_headers: usize,
    /// Names and values of one header map together, 16 KB.
    pub max_headers_bytes: usize,
    /// The length of a destination, 8 KB.
    pub max_destination_bytes: usize,
    /// `timeout` of an output, 180 s.
    pub max_timeout: Duration,
    /// `throttle.deadline` and `durability.handoff_after`, 30 days.
    pub max_deadline: Duration,
    /// `throttle.max_concurrent`, 1 000.
    pub max_concurrent: u32,
}

impl Default for AdminOptions {
    fn default() -> Self {
        Self {
            guard: AddressGuard::default(),
            max_buckets_per_account: 1_000,
            max_inputs_per_bucket: 100,
            max_outputs_per_bucket: 100,
            max_tokens_per_account: 1_000,
            max_token_scopes: 100,
            max_name_bytes: 255,
            max_description_bytes: 4 << 10,
            max_credential_bytes: 1 << 10,
            max_static_body_bytes: 250 << 10,
            max_headers: 100,
            max_headers_bytes: 16 << 10,
            max_destination_bytes: 8 << 10,
            max_timeout: Duration::from_secs(180),
            max_deadline: Duration::from_secs(30 * 24 * 60 * 60),
            max_concurrent: 1_000,
        }
    }
}
