//! The local address of each webhook.
//!
//! The agent sends to the target of its command line and to paths below it, and to no other
//! address that the server names: with another address, a person who can change the output
//! could reach every service that this machine reaches.

use std::sync::atomic::{AtomicBool, Ordering};

use http::Uri;
use webhook_core::forward::path::{climbs, join};

use super::{connection::Meta, one_line};

/// Where a webhook is to go.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// To this URL.
    At(String),
    /// Not here: the server names a destination that is not below the target.
    Elsewhere,
    /// Nowhere: its path leads above the target.
    Above,
}

/// The local service.
#[derive(Debug)]
pub(super) struct Target {
    url: String,
    /// Whether the user was told that the output has another destination.
    is_told: AtomicBool,
}

impl Target {
    pub(super) fn new(url: &Uri) -> Self {
        Self { url: url.to_string(), is_told: AtomicBool::new(false) }
    }

    /// Where a webhook with this query goes. `tell` is called once, when the output has another
    /// destination.
    pub(super) fn address(&self, meta: &Meta, query: &str, tell: impl FnOnce(&str)) -> Address {
        let destination = &meta.output_destination;
        let Some(extra_path) = &meta.extra_path else {
            let extra_path = self.below(destination);
            return extra_path.map_or(Address::Elsewhere, |extra_path| {
                Address::At(join(&self.url, extra_path, query))
            });
        };
        if join(&self.url, extra_path, "") != *destination
            && !self.is_told.swap(true, Ordering::Relaxed)
        {
            tell(&format!(
                "the output leads to {}; this agent sends to {} all the same",
                one_line(destination),
                self.url
            ));
        }
        match climbs(extra_path) {
            true => Address::Above,
            false => Address::At(join(&self.url, extra_path, query)),
        }
    }

    /// What `destination` appends to the path of the target.
    fn below<'a>(&self, destination: &'a str) -> Option<&'a str> {
        let (base, own_query) = self.url.split_once('?').unwrap_or((&self.url, ""));
        let (path, query) = destination.split_once('?').unwrap_or((destination, ""));
        let extra_path = path.strip_prefix(base.strip_suffix('/').unwrap_or(base))?;
        let is_below = extra_path.is_empty() || extra_path.starts_with('/');
        (is_below && query == own_query && !climbs(extra_path)).then_some(extra_path)
    }
}

#[cfg(test)]
mod tests {
    use webhook_core::DeliveryId;

    use super::*;

    fn address(target: &str, destination: &str, extra_path: Option<&str>) -> Address {
        let meta = Meta {
            id: DeliveryId::generate(),
            output_destination: destination.to_owned(),
            extra_path: extra_path.map(str::to_owned),
            leased_until: None,
        };
        Target::new(&target.parse().expect("a URL")).address(&meta, "q=1", |_| {})
    }

    #[test]
    fn the_target_of_the_command_line_is_the_only_one() {
        let target = "http://localhost:3000/hook";
        for destination in [target, "http://127.0.0.1:9/latest/meta-data/", "", "nonsense"] {
            let sent = address(target, destination, Some("/a%2Fb"));
            assert_eq!(sent, Address::At("http://localhost:3000/hook/a%2Fb?q=1".to_owned()));
        }
        assert_eq!(
            address("http://localhost:3000?k=v", "http://a/", Some("")),
            Address::At("http://localhost:3000/?k=v&q=1".to_owned())
        );
        for extra_path in ["/../admin", "/%2e%2e/admin", "/a/..%2f../admin", r"\..\admin"] {
            assert_eq!(address(target, target, Some(extra_path)), Address::Above, "{extra_path}");
        }
    }

    #[test]
    fn without_a_path_the_destination_must_be_below_the_target() {
        for (target, destination, sent) in [
            ("http://h:1/hook", "http://h:1/hook", "http://h:1/hook?q=1"),
            ("http://h:1/hook", "http://h:1/hook/a", "http://h:1/hook/a?q=1"),
            ("http://h:1/hook/", "http://h:1/hook/a", "http://h:1/hook/a?q=1"),
            ("http://h:1", "http://h:1/a", "http://h:1/a?q=1"),
            ("http://h:1/?k=v", "http://h:1/a?k=v", "http://h:1/a?k=v&q=1"),
        ] {
            let at = Address::At(sent.to_owned());
            assert_eq!(address(target, destination, None), at, "{destination}");
        }
        for destination in [
            "",
            "http://h:1/",
            "http://h:1/hooked",
            "http://h:12/hook",
            "https://h:1/hook",
            "http://h:1@evil/hook",
            "http://h:1/hook/../admin",
            "http://h:1/hook/%2e%2e/admin",
            "http://h:1/hook/a?k=v",
        ] {
            let sent = address("http://h:1/hook", destination, None);
            assert_eq!(sent, Address::Elsewhere, "{destination}");
        }
    }
}
