//! The bounds that what callers send is checked against.

use std::time::Duration;

use super::DomainBlocklist;
use crate::guard::AddressGuard;

/// Bounds on the things of one account, on its concurrent work, and on the fields that an operator
/// bounds. Other bounds of fields are with their declarations; those on rules and on
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
    /// Functions of one account, 500. Beyond: [`Invalid`](crate::ErrorKind::Invalid),
    /// as for everything below that has to do with functions. The length of a
    /// source is one of the runtime's [`ScriptLimits`](crate::function::ScriptLimits).
    pub max_functions_per_account: usize,
    /// Whether a missing function, variable or run is [`NotFound`](crate::ErrorKind::NotFound), as in
    /// the hosted product, no: [`Invalid`](crate::ErrorKind::Invalid), as in the document.
    pub missing_functions_are_not_found: bool,
    /// Variables of one function, 100.
    pub max_variables_per_function: usize,
    /// The length of a variable's value, 16 KB.
    pub max_variable_bytes: usize,
    /// Functions that one account invokes or has written at once, 16. Beyond:
    /// [`Busy`](crate::ErrorKind::Busy).
    pub max_invocations_per_account: usize,
    /// Webhooks that the consumers of one account have leased at once, 10 000. Beyond:
    /// [`Busy`](crate::ErrorKind::Busy).
    pub max_leased_webhooks: usize,
    /// Searches in the logs of one account at once, 2. Beyond: [`Busy`](crate::ErrorKind::Busy).
    pub max_searches_per_account: usize,
    /// How many bytes of webhooks and answers one call of a search looks at, 64 MiB. It
    /// says how far it came.
    pub max_search_bytes: usize,
    /// How long it looks, 300 ms.
    pub max_search_time: Duration,
    /// Functions that are written at once for all accounts together, 2, because
    /// each takes a core for up to a second. Beyond:
    /// [`Unavailable`](crate::ErrorKind::Unavailable).
    pub max_generations: usize,
    /// Access tokens of one account, 1 000. Beyond: [`Conflict`](crate::ErrorKind::Conflict).
    pub max_tokens_per_account: usize,
    /// Domains of one account, 100. Beyond: [`Conflict`](crate::ErrorKind::Conflict).
    /// With 0 domains are not offered: [`Refused`](crate::ErrorKind::Refused).
    pub max_domains_per_account: usize,
    /// Domains that nobody may reserve: [`Refused`](crate::ErrorKind::Refused).
    /// The names under which the management API is reached belong here.
    pub domain_blocklist: DomainBlocklist,
    /// Whether domains can be reserved while there are several accounts, yes. A
    /// server that does not know all names that it is reached under says no:
    /// [`Refused`](crate::ErrorKind::Refused), because one account could reserve
    /// the name to which another sends its API key.
    pub domains_beside_other_accounts: bool,
    /// Replays of one account that are not over, 10. Beyond: [`Busy`](crate::ErrorKind::Busy).
    pub max_replays_per_account: usize,
    /// Erasures of one account that are not over, 10. Beyond: [`Busy`](crate::ErrorKind::Busy).
    pub max_erasures_per_account: usize,
    /// Crons of one account, 100. Beyond: [`Invalid`](crate::ErrorKind::Invalid).
    pub max_crons_per_account: usize,
    /// The length of a cron's payload, 256 KB.
    pub max_cron_payload_bytes: usize,
    /// The shortest time between two runs of a cron, 1 s.
    pub min_cron_period: Duration,
    /// Notifications of one account, 50. Beyond: [`Invalid`](crate::ErrorKind::Invalid).
    pub max_notifications_per_account: usize,
    /// Buckets or tunnels in the scopes of one access token, 100.
    pub max_token_scopes: usize,
    /// The longest `retention` that a bucket may have where the account's plan does not say, none
    /// for no bound: what [`keep_logs_for`](super::Admin::keep_logs_for) is given.
    pub log_retention: Option<Duration>,
}

impl Default for AdminOptions {
    fn default() -> Self {
        Self {
            guard: AddressGuard::default(),
            max_buckets_per_account: 1_000,
            max_inputs_per_bucket: 100,
            max_outputs_per_bucket: 100,
            max_functions_per_account: 500,
            missing_functions_are_not_found: false,
            max_variables_per_function: 100,
            max_variable_bytes: 16 << 10,
            max_invocations_per_account: 16,
            max_leased_webhooks: 10_000,
            max_searches_per_account: 2,
            max_search_bytes: 64 << 20,
            max_search_time: Duration::from_millis(300),
            max_generations: 2,
            max_tokens_per_account: 1_000,
            max_domains_per_account: 100,
            domain_blocklist: DomainBlocklist::default(),
            domains_beside_other_accounts: true,
            max_replays_per_account: 10,
            max_erasures_per_account: 10,
            max_crons_per_account: 100,
            max_cron_payload_bytes: 256 << 10,
            min_cron_period: Duration::from_secs(1),
            max_notifications_per_account: 50,
            max_token_scopes: 100,
            log_retention: None,
        }
    }
}
