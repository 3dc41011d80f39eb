//! Domains that accounts reserve.

use webhook_core::{
    admin::{AdminOptions, DomainBlocklist},
    relay::host_name,
};

use super::ListenConfig;

const HEADING: &str = "Domains";

/// Which domains may be reserved, and how many.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct DomainsConfig {
    /// Domains of one account; over it 412. With 0 none can be reserved: 451.
    #[arg(long, env = "WEBHOOK_MAX_DOMAINS", default_value_t = 100, global = true)]
    #[arg(value_name = "COUNT")]
    pub(crate) max_domains: usize,
    /// Domains that nobody may reserve, separated by commas: example.com is this
    /// name, *.example.com all below it, .example.com both. The host of
    /// WEBHOOK_PUBLIC_URL is always among them; other names that the API is
    /// reached under belong here.
    #[arg(long, env = "WEBHOOK_DOMAIN_BLOCKLIST", default_value = "", global = true)]
    #[arg(value_name = "DOMAINS")]
    pub(crate) domain_blocklist: DomainBlocklist,
}

impl DomainsConfig {
    /// Adds the bounds that the library checks.
    pub(crate) fn bound(&self, listen: &ListenConfig, options: &mut AdminOptions) {
        options.max_domains_per_account = self.max_domains;
        options.domain_blocklist = self.domain_blocklist.clone();
        if let Some(own) = listen.public_name() {
            // A name that could be no entry could not be reserved either.
            let _ = options.domain_blocklist.add(&own);
        }
    }
}

impl ListenConfig {
    /// The name in WEBHOOK_PUBLIC_URL, unless that is an address.
    pub(crate) fn public_name(&self) -> Option<String> {
        let url: http::Uri = self.public_url.as_deref()?.parse().ok()?;
        Some(host_name(url.host()?)?.into_owned())
    }
}
