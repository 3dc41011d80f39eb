//! Reserved domains: which inputs a host name leads to.

use std::sync::Arc;

use super::{MaxAge, Snapshots};
use crate::{
    error::Error,
    id::InputId,
    model::{Domain, Input, MinTls},
    store::{DocumentStore, InputStore},
};

/// A reserved domain as requests see it.
#[derive(Debug)]
pub(crate) struct DomainRoutes {
    pub(crate) name: String,
    /// The longest prefix first; of two that are the same the older input.
    routes: Vec<Route>,
    pub(crate) requires_tls13: bool,
}

/// The part of a domain's paths that belongs to one input.
#[derive(Debug)]
struct Route {
    prefix: String,
    strip: bool,
    input: InputId,
}

impl DomainRoutes {
    fn new(domain: Domain, inputs: &[Input]) -> Self {
        let mut routes: Vec<_> = inputs
            .iter()
            .map(|input| Route {
                prefix: input.spec.prefix().to_owned(),
                strip: input.spec.strip_path_prefix,
                input: input.id,
            })
            .collect();
        routes.sort_by(|a, b| b.prefix.len().cmp(&a.prefix.len()).then(a.input.cmp(&b.input)));
        let requires_tls13 =
            inputs.iter().any(|input| input.spec.tls_version == Some(MinTls::Tls13));
        Self { name: domain.spec.domain, routes, requires_tls13 }
    }

    /// The input that a path belongs to, and what is forwarded of the path.
    /// The path of the domain itself, which is never empty in HTTP, adds
    /// nothing to a destination's.
    pub(crate) fn input_of<'a>(&self, path: &'a str) -> Option<(InputId, &'a str)> {
        if !path.starts_with('/') {
            return None;
        }
        self.routes.iter().find_map(|route| {
            let rest = path.strip_prefix(route.prefix.as_str())?;
            if !(rest.is_empty() || rest.starts_with('/')) {
                return None;
            }
            let extra = match (route.strip, path) {
                (true, _) if !route.prefix.is_empty() => rest,
                (_, "/") => "",
                _ => path,
            };
            Some((route.input, extra))
        })
    }
}

/// Domains by name, and names that nobody has reserved, without asking the store.
#[derive(Debug)]
pub(crate) struct DomainCache {
    by_name: Snapshots<String, Arc<DomainRoutes>>,
    documents: Arc<dyn DocumentStore>,
}

impl DomainCache {
    /// Keeps at most `capacity` domains, and as many names that are nobody's.
    pub(crate) fn new(capacity: usize, max_age: MaxAge, documents: Arc<dyn DocumentStore>) -> Self {
        Self { by_name: Snapshots::new(capacity, max_age).with_absent(capacity), documents }
    }

    /// The domain of this name; none when nobody has reserved it.
    pub(crate) async fn get(&self, name: &str) -> Result<Option<Arc<DomainRoutes>>, Error> {
        let read = || async {
            let Some(domain) = self.documents.domain_named(name).await? else { return Ok(None) };
            let inputs = self.documents.inputs_of_domain(&domain).await?;
            Ok(Some(Arc::new(DomainRoutes::new(domain, &inputs))))
        };
        self.by_name.get(name, read, |_| vec![name.to_owned()]).await
    }

    /// Forgets a name that means something else now.
    pub(crate) fn changed(&self, name: &str) {
        self.by_name.changed([name]);
    }

    /// How many names are known to be nobody's.
    #[cfg(test)]
    pub(crate) fn absent_len(&self) -> usize {
        self.by_name.absent_len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clock::Timestamp,
        id::{AccountId, BucketId, DomainId},
        model::{DomainSpec, InputSpec},
    };

    fn domain(routes: &[(&str, bool)]) -> (DomainRoutes, Vec<InputId>) {
        let inputs: Vec<_> = routes
            .iter()
            .map(|(prefix, strip)| {
                let mut spec = InputSpec::default();
                (*prefix).clone_into(&mut spec.path_prefix);
                spec.strip_path_prefix = *strip;
                let (id, bucket) = (InputId::generate(), BucketId::generate());
                Input::new(id, bucket, Timestamp::default(), spec)
            })
            .collect();
        let reserved = Domain {
            id: DomainId::generate(),
            account_id: AccountId::generate(),
            version: 1,
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
            spec: DomainSpec::default(),
        };
        let ids = inputs.iter().map(|input| input.id).collect();
        (DomainRoutes::new(reserved, &inputs), ids)
    }

    #[test]
    fn the_longest_whole_prefix_wins() {
        let (domain, ids) =
            domain(&[("", false), ("/a", false), ("/a/b/", true), ("/a%2Fb", true)]);
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
            assert_eq!(domain.input_of(path), Some((ids[input], extra)), "{path}");
        }
        for no_path in ["", "*", "a"] {
            assert_eq!(domain.input_of(no_path), None, "{no_path:?}");
        }
    }

    #[test]
    fn without_a_match_there_is_no_place() {
        let (elsewhere, _) = domain(&[("/a", false), ("/b", true)]);
        for path in ["/", "/c", "/ab", "/c/a"] {
            assert_eq!(elsewhere.input_of(path), None, "{path}");
        }
        assert_eq!(domain(&[]).0.input_of("/"), None);
    }

    #[test]
    fn of_two_inputs_at_one_place_the_older_one_has_it() {
        let (domain, ids) = domain(&[("/a", false), ("/a/", false)]);
        assert_eq!(domain.input_of("/a"), Some((ids[0], "/a")));
    }
}
