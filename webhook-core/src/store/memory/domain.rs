//! Reserved domains in memory.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;

use super::{MemoryStore, bucket::Directory};
use crate::{
    error::Error,
    id::{AccountId, DomainId},
    model::{Domain, Input},
    store::DomainStore,
};

#[derive(Default)]
pub(super) struct Domains {
    by_id: BTreeMap<DomainId, Domain>,
    by_name: HashMap<String, DomainId>,
}

impl Domains {
    fn owned(&self, account: AccountId, id: DomainId) -> Option<&Domain> {
        self.by_id.get(&id).filter(|domain| domain.account_id == account)
    }
}

fn inputs<'a>(
    directory: &'a Directory,
    account: AccountId,
    name: &'a str,
) -> impl Iterator<Item = &'a Input> {
    let inputs = directory.buckets_of(account).flat_map(|bucket| &bucket.inputs);
    inputs.filter(move |input| !name.is_empty() && input.spec.custom_domain == name)
}

#[async_trait]
impl DomainStore for MemoryStore {
    async fn create_domain(&self, domain: &Domain) -> Result<(), Error> {
        let mut domains = self.domains.lock();
        if domains.by_id.contains_key(&domain.id) {
            return Err(Error::conflict("a domain with this id exists"));
        }
        let name = &domain.spec.domain;
        if domains.by_name.contains_key(name) {
            return Err(Error::conflict(format!("domain: {name} is taken")));
        }
        domains.by_name.insert(name.clone(), domain.id);
        domains.by_id.insert(domain.id, domain.clone());
        Ok(())
    }

    async fn domain(&self, account: AccountId, id: DomainId) -> Result<Option<Domain>, Error> {
        Ok(self.domains.lock().owned(account, id).cloned())
    }

    async fn domain_by_name(&self, name: &str) -> Result<Option<Domain>, Error> {
        let domains = self.domains.lock();
        Ok(domains.by_name.get(name).and_then(|id| domains.by_id.get(id)).cloned())
    }

    async fn domains(&self, account: AccountId) -> Result<Vec<Domain>, Error> {
        let domains = self.domains.lock();
        Ok(domains.by_id.values().filter(|domain| domain.account_id == account).cloned().collect())
    }

    async fn inputs_of_domain(&self, account: AccountId, name: &str) -> Result<Vec<Input>, Error> {
        let mut found: Vec<_> = inputs(&self.directory(), account, name).cloned().collect();
        found.sort_by_key(|input| (input.created_at, input.id));
        Ok(found)
    }

    async fn delete_domain(&self, account: AccountId, id: DomainId) -> Result<(), Error> {
        let directory = self.directory();
        let mut domains = self.domains.lock();
        let domain = domains.owned(account, id).ok_or_else(|| Error::not_found("domain"))?;
        if inputs(&directory, account, &domain.spec.domain).next().is_some() {
            return Err(Error::conflict("the domain is used by an input"));
        }
        let name = domain.spec.domain.clone();
        domains.by_name.remove(&name);
        domains.by_id.remove(&id);
        Ok(())
    }
}
