//! The cache of domains: which inputs a host name leads to.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use quick_cache::sync::Cache;

use super::{RelayOptions, routes::Source};
use crate::{
    clock::Timestamp,
    error::Error,
    id::InputId,
    model::{Domain, Input},
};

/// A reserved domain as the data path sees it: an immutable snapshot.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) name: String,
    /// The longest prefix first; of two that are the same the older input.
    places: Vec<Place>,
    pub(super) requires_tls13: bool,
    loaded_at: Timestamp,
}

/// The part of a domain's paths that belongs to one input.
#[derive(Debug)]
struct Place {
    prefix: String,
    strip: bool,
    input: InputId,
}

impl Site {
    fn new(domain: Domain, inputs: &[Input], loaded_at: Timestamp) -> Self {
        let mut places: Vec<_> = inputs
            .iter()
            .map(|input| Place {
                prefix: input.spec.prefix().to_owned(),
                strip: input.spec.strip_path_prefix,
                input: input.id,
            })
            .collect();
        places.sort_by(|a, b| b.prefix.len().cmp(&a.prefix.len()).then(a.input.cmp(&b.input)));
        let requires_tls13 = inputs.iter().any(|input| input.spec.tls_version == "1.3");
        Self { name: domain.spec.domain, places, requires_tls13, loaded_at }
    }

    /// The input that a path belongs to, and what is forwarded of the path.
    /// The path of the domain itself, which is never empty in HTTP, adds
    /// nothing to a destination's.
    pub(super) fn place<'a>(&self, path: &'a str) -> Option<(InputId, &'a str)> {
        if !path.starts_with('/') {
            return None;
        }
        self.places.iter().find_map(|place| {
            let rest = path.strip_prefix(place.prefix.as_str())?;
            if !(rest.is_empty() || rest.starts_with('/')) {
                return None;
            }
            let extra = match (place.strip, path) {
                (true, _) if !place.prefix.is_empty() => rest,
                (_, "/") => "",
                _ => path,
            };
            Some((place.input, extra))
        })
    }
}

/// Domains by name, and names that are nobody's, at most `cached_domains` of each.
#[derive(Debug)]
pub(super) struct Sites {
    known: Cache<String, Arc<Site>>,
    /// Since when. Apart from `known`, so that requests for made-up hosts do
    /// not push out those that are there.
    unknown: Cache<String, Timestamp>,
    /// Counts changes; see [`Routes`](super::routes::Routes).
    changes: AtomicU64,
}

impl Sites {
    pub(super) fn new(options: &RelayOptions) -> Self {
        Self {
            known: Cache::new(options.cached_domains),
            unknown: Cache::new(options.cached_domains),
            changes: AtomicU64::new(0),
        }
    }

    /// The domain of this name; none when nobody has reserved it.
    pub(super) async fn of(
        &self,
        name: &str,
        source: &Source<'_>,
    ) -> Result<Option<Arc<Site>>, Error> {
        if let Some(site) = self.known.get(name).filter(|site| source.is_fresh(site.loaded_at)) {
            return Ok(Some(site));
        }
        if self.unknown.get(name).is_some_and(|since| source.is_fresh(since)) {
            return Ok(None);
        }
        let seen = self.changes.load(Ordering::Acquire);
        let loaded_at = source.clock.now();
        let domains = &source.stores.domains;
        let site = match domains.domain_by_name(name).await? {
            Some(domain) => {
                let inputs = domains.inputs_of_domain(domain.account_id, name).await?;
                let site = Arc::new(Site::new(domain, &inputs, loaded_at));
                self.unknown.remove(name);
                self.known.insert(name.to_owned(), Arc::clone(&site));
                Some(site)
            }
            None => {
                self.known.remove(name);
                self.unknown.insert(name.to_owned(), loaded_at);
                None
            }
        };
        // A change may have come between the read and the insertion.
        if self.changes.load(Ordering::Acquire) != seen {
            self.forget_entries(name);
        }
        Ok(site)
    }

    /// Forgets what is cached of a name, which means something else now.
    pub(super) fn forget(&self, name: &str) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        self.forget_entries(name);
    }

    /// How many names are known to be nobody's.
    #[cfg(test)]
    pub(super) fn unknown_len(&self) -> usize {
        self.unknown.len()
    }

    fn forget_entries(&self, name: &str) {
        self.known.remove(name);
        self.unknown.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        id::{AccountId, BucketId, DomainId},
        model::{DomainSpec, InputSpec},
    };

    fn site(places: &[(&str, bool)]) -> (Site, Vec<InputId>) {
        let inputs: Vec<_> = places
            .iter()
            .map(|(prefix, strip)| Input {
                id: InputId::generate(),
                bucket_id: BucketId::generate(),
                created_at: Timestamp::default(),
                updated_at: Timestamp::default(),
                created_by: String::new(),
                spec: InputSpec {
                    path_prefix: (*prefix).to_owned(),
                    strip_path_prefix: *strip,
                    ..InputSpec::default()
                },
            })
            .collect();
        let domain = Domain {
            id: DomainId::generate(),
            account_id: AccountId::generate(),
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
            spec: DomainSpec::default(),
        };
        let ids = inputs.iter().map(|input| input.id).collect();
        (Site::new(domain, &inputs, Timestamp::default()), ids)
    }

    #[test]
    fn the_longest_whole_prefix_wins() {
        let (site, ids) = site(&[("", false), ("/a", false), ("/a/b/", true), ("/a%2Fb", true)]);
        for (path, input, extra) in [
            ("/", 0, ""),
            ("/x", 0, "/x"),
            ("/ab", 0, "/ab"),
            ("/A", 0, "/A"),
            ("//a", 0, "//a"),
            ("/a", 1, "/a"),
            ("/a/", 1, "/a/"),
            ("/a/bc", 1, "/a/bc"),
            ("/a//b", 1, "/a//b"),
            ("/a/b", 2, ""),
            ("/a/b/", 2, "/"),
            ("/a/b/c/../d", 2, "/c/../d"),
            ("/a%2Fb/c", 3, "/c"),
            ("/a%2fb/c", 0, "/a%2fb/c"),
        ] {
            assert_eq!(site.place(path), Some((ids[input], extra)), "{path}");
        }
        for no_path in ["", "*", "a"] {
            assert_eq!(site.place(no_path), None, "{no_path:?}");
        }
    }

    #[test]
    fn without_a_match_there_is_no_place() {
        let (elsewhere, _) = site(&[("/a", false), ("/b", true)]);
        for path in ["/", "/c", "/ab", "/c/a"] {
            assert_eq!(elsewhere.place(path), None, "{path}");
        }
        assert_eq!(site(&[]).0.place("/"), None);
    }

    #[test]
    fn of_two_inputs_at_one_place_the_older_one_has_it() {
        let (site, ids) = site(&[("/a", false), ("/a/", false)]);
        assert_eq!(site.place("/a"), Some((ids[0], "/a")));
    }
}
