//! Domains that accounts reserve.

use std::{borrow::Cow, str::FromStr};

use webhook_core::{
    admin::{AdminOptions, DomainBlocklist},
    relay::host_name,
};

use super::ListenConfig;

/// Which domains may be reserved, and how many.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Domains")]
pub(crate) struct DomainsConfig {
    /// Domains of one account; over it 412. With 0 none can be reserved: 451.
    #[arg(long, env = "WEBHOOK_MAX_DOMAINS", default_value_t = 100, value_name = "COUNT")]
    pub(crate) max_domains: usize,
    /// Domains that nobody may reserve, separated by commas: example.com is this
    /// name, *.example.com all below it, .example.com both. The server's own
    /// names (WEBHOOK_PUBLIC_URL, WEBHOOK_PUBLIC_ALIASES) are always among them.
    #[arg(long, env = "WEBHOOK_DOMAIN_BLOCKLIST", default_value = "", value_name = "DOMAINS")]
    pub(crate) domain_blocklist: DomainBlocklist,
    /// Whether names above and below the server's own may be reserved, such as
    /// shop.relay.example.com or example.com where the server is
    /// relay.example.com.
    #[arg(long, env = "WEBHOOK_RESERVE_RELATED_DOMAINS", default_value_t = false)]
    #[arg(value_name = "true|false", action = clap::ArgAction::Set)]
    pub(crate) reserve_related_domains: bool,
}

impl DomainsConfig {
    /// Adds the bounds that the library checks.
    pub(crate) fn bound(&self, listen: &ListenConfig, options: &mut AdminOptions) {
        options.max_domains_per_account = self.max_domains;
        options.domain_blocklist = self.domain_blocklist.clone();
        for own in listen.own_names() {
            let list = &mut options.domain_blocklist;
            // A name that could be no entry could not be reserved either.
            let _ = match self.reserve_related_domains {
                true => list.add(&own),
                false => list.add_with_related(&own),
            };
        }
        let knows_its_name = listen.public_url.is_some() || !listen.public_aliases.0.is_empty();
        options.domains_beside_other_accounts = knows_its_name;
    }
}

impl ListenConfig {
    /// The names that this server is reached under: the one in
    /// WEBHOOK_PUBLIC_URL, unless that is an address, and its aliases.
    pub(crate) fn own_names(&self) -> Vec<String> {
        let url = self.public_url.as_deref().and_then(|url| url.parse::<http::Uri>().ok());
        let name = url.as_ref().and_then(|url| host_name(url.host()?)).map(Cow::into_owned);
        name.into_iter().chain(self.public_aliases.0.iter().cloned()).collect()
    }
}

/// Names that the server is reached under besides the one in its public URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aliases(Vec<String>);

impl FromStr for Aliases {
    type Err = String;

    /// Reads names that are separated by commas or blanks. Addresses and names
    /// of one label are none: nobody can reserve them.
    fn from_str(text: &str) -> Result<Self, String> {
        let names = text.split(|c: char| c == ',' || c.is_whitespace());
        let names = names.filter(|name| !name.is_empty()).map(|name| match host_name(name) {
            Some(known) if !name.contains([':', '@']) => Ok(known.into_owned()),
            _ => Err(format!("{name:?} is not a domain such as relay.example.com")),
        });
        names.collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_names() {
        let names: Aliases = "Relay.example.com., a.example".parse().expect("a list");
        assert_eq!(names.0, ["relay.example.com", "a.example"]);
        assert_eq!("".parse(), Ok(Aliases::default()));
        for wrong in ["https://a.example", "a.example:443", "*.a.example", "localhost", "10.0.0.1"]
        {
            let error = wrong.parse::<Aliases>().expect_err(wrong);
            assert!(error.contains("is not a domain"), "{error}");
        }
    }
}
