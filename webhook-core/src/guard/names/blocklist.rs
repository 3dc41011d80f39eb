//! Domains that the operator lets nobody reserve.

use std::{collections::HashSet, str::FromStr};

use super::dns_name;

/// Domains that nobody may reserve: the server's own names, say, or other
/// people's.
///
/// | entry | refuses |
/// |---|---|
/// | `example.com` | this name |
/// | `*.example.com` | every name below it |
/// | `.example.com` | both |
///
/// Names are compared in their ASCII form and label by label: `*.example.com`
/// has nothing to do with `myexample.com`. An entry may be a single label
/// (`*.internal`).
///
/// ```
/// use webhook_core::guard::names::DomainBlocklist;
///
/// let list: DomainBlocklist = "hooks.example.com, *.bücher.example".parse()?;
/// assert!(list.refuses("hooks.example.com"));
/// assert!(list.refuses("shop.xn--bcher-kva.example"));
/// assert!(!list.refuses("shop.hooks.example.com"));
/// # Ok::<(), webhook_core::guard::names::InvalidBlocklist>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainBlocklist {
    names: HashSet<String>,
    /// Of every name below.
    parents: HashSet<String>,
}

/// An entry of a [`DomainBlocklist`] that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{entry:?} is not a domain such as example.com, *.example.com or .example.com")]
pub struct InvalidBlocklist {
    entry: String,
}

impl DomainBlocklist {
    /// Whether `domain`, in its ASCII form, is on the list.
    #[must_use]
    pub fn refuses(&self, domain: &str) -> bool {
        let mut parents = domain.match_indices('.').filter_map(|(dot, _)| domain.get(dot + 1..));
        self.names.contains(domain) || parents.any(|parent| self.parents.contains(parent))
    }

    /// Puts an entry on the list.
    ///
    /// # Errors
    /// When it is none of the forms above.
    pub fn add(&mut self, entry: &str) -> Result<(), InvalidBlocklist> {
        let (name, itself, below) = match (entry.strip_prefix("*."), entry.strip_prefix('.')) {
            (Some(parent), _) => (parent, false, true),
            (None, Some(parent)) => (parent, true, true),
            (None, None) => (entry, true, false),
        };
        let name = dns_name(name);
        let name = name.ok_or_else(|| InvalidBlocklist { entry: entry.to_owned() })?;
        if itself {
            self.names.insert(name.clone());
        }
        if below {
            self.parents.insert(name);
        }
        Ok(())
    }

    /// Puts a name of the server's own on the list, with every name below it and
    /// every one that it is below itself: whoever has one of those is taken for
    /// the server by people, and where cookies and certificates are shared, by
    /// programs.
    ///
    /// # Errors
    /// When it is no domain.
    pub fn add_with_related(&mut self, name: &str) -> Result<(), InvalidBlocklist> {
        let own = dns_name(name);
        let own = own.ok_or_else(|| InvalidBlocklist { entry: name.to_owned() })?;
        let above = own.match_indices('.').filter_map(|(dot, _)| own.get(dot + 1..));
        self.names.extend(above.map(str::to_owned));
        self.names.insert(own.clone());
        self.parents.insert(own);
        Ok(())
    }
}

impl FromStr for DomainBlocklist {
    type Err = InvalidBlocklist;

    /// Reads entries that are separated by commas or blanks.
    fn from_str(text: &str) -> Result<Self, InvalidBlocklist> {
        let mut list = Self::default();
        let entries = text.split(|c: char| c == ',' || c.is_whitespace());
        entries.filter(|entry| !entry.is_empty()).try_for_each(|entry| list.add(entry))?;
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_name_a_domain_or_what_is_below() {
        let list: DomainBlocklist =
            "a.example,*.b.example .C.example, *.internal".parse().expect("a list");
        for refused in
            ["a.example", "x.b.example", "x.y.b.example", "c.example", "x.c.example", "x.internal"]
        {
            assert!(list.refuses(refused), "{refused}");
        }
        for free in
            ["x.a.example", "b.example", "xb.example", "xc.example", "example", "internal.x"]
        {
            assert!(!list.refuses(free), "{free}");
        }
        assert!(!DomainBlocklist::default().refuses("a.example"));
    }

    #[test]
    fn an_own_name_takes_what_is_above_and_below() {
        let mut list = DomainBlocklist::default();
        list.add_with_related("API.Relay.example.com.").expect("a name");
        for refused in [
            "api.relay.example.com",
            "a.api.relay.example.com",
            "a.b.api.relay.example.com",
            "relay.example.com",
            "example.com",
        ] {
            assert!(list.refuses(refused), "{refused}");
        }
        for free in ["shop.relay.example.com", "xapi.relay.example.com", "other.com"] {
            assert!(!list.refuses(free), "{free}");
        }
        assert!(list.add_with_related("*.example.com").is_err());
    }

    #[test]
    fn what_is_no_entry_is_refused() {
        for wrong in
            ["*", "*.", ".", "a.*.example", "**.example", "https://a.example", "a_b.example"]
        {
            let error = wrong.parse::<DomainBlocklist>().expect_err(wrong);
            assert!(error.to_string().contains("is not a domain"), "{error}");
        }
    }
}
