//! Domains: reserving them, and the inputs at them.

use tokio::sync::MutexGuard;

use super::{Admin, Caller, check};
use crate::{
    error::{Error, ErrorKind},
    id::DomainId,
    model::{Domain, DomainSpec, Input, InputSpec},
    plan::Limited,
};

impl Admin {
    /// All domains of the account, in the order they were reserved.
    pub async fn domains(&self, caller: &Caller) -> Result<Vec<Domain>, Error> {
        caller.require_account()?;
        self.stores.domains.domains(caller.account_id()).await
    }

    /// Reserves a domain: whoever has it, has every request that names it.
    ///
    /// # Errors
    ///
    /// * [`Invalid`](ErrorKind::Invalid): it is no DNS name.
    /// * [`Refused`](ErrorKind::Refused): it is on
    ///   [`domain_blocklist`](super::AdminOptions::domain_blocklist), domains
    ///   are not offered at all
    ///   ([`max_domains_per_account`](super::AdminOptions::max_domains_per_account)
    ///   is 0), or not beside other accounts
    ///   ([`domains_beside_other_accounts`](super::AdminOptions::domains_beside_other_accounts)).
    /// * [`Conflict`](ErrorKind::Conflict): some account has it already, or this
    ///   one has all that it may have.
    pub async fn reserve_domain(&self, caller: &Caller, spec: DomainSpec) -> Result<Domain, Error> {
        caller.require_account()?;
        let name = check::domain("domain", &spec.domain)?;
        if self.options.domain_blocklist.refuses(&name) {
            let reason = format!("domain: {name} cannot be reserved at this server");
            return Err(Error::new(ErrorKind::Refused, reason));
        }
        let account = caller.account_id();
        let _guard = self.domain_locks.lock(account.as_uuid()).await;
        let limit = self.options.max_domains_per_account;
        if limit == 0 {
            let reason = "domain: domains are not part of the plan";
            return Err(Error::new(ErrorKind::Refused, reason));
        }
        if !self.options.domains_beside_other_accounts
            && self.stores.accounts.accounts().await?.len() > 1
        {
            let reason = "domain: none can be reserved beside other accounts until the server \
                          knows its own name (WEBHOOK_PUBLIC_URL)";
            return Err(Error::new(ErrorKind::Refused, reason));
        }
        if self.stores.domains.domains(account).await?.len() >= limit {
            return Err(Error::conflict(format!("the account has all of its {limit} domains")));
        }

        let count = async { Ok(self.stores.domains.domains(account).await?.len() as u64) };
        let _room = self.room(caller, Limited::Domains, count).await?;
        let now = self.now();
        let domain = Domain {
            id: self.ids.next(),
            account_id: account,
            created_at: now,
            updated_at: now,
            spec: DomainSpec { domain: name },
        };
        let name = &domain.spec.domain;
        let reserved = self.stores.domains.create_domain(&domain).await;
        reserved.map_err(|error| match error.kind() {
            ErrorKind::Conflict => Error::conflict(format!("domain: {name} is taken")),
            _ => error,
        })?;
        self.listeners.domain_changed(name);
        Ok(domain)
    }

    /// Gives a domain back. While an input uses it, that is a
    /// [`Conflict`](ErrorKind::Conflict).
    pub async fn delete_domain(&self, caller: &Caller, id: DomainId) -> Result<(), Error> {
        caller.require_account()?;
        let account = caller.account_id();
        let _guard = self.domain_locks.lock(account.as_uuid()).await;
        let domain = self.stores.domains.domain(account, id).await?;
        let name = domain.ok_or_else(|| Error::not_found("domain"))?.spec.domain;
        let deleted = self.stores.domains.delete_domain(account, id).await;
        deleted.map_err(|error| match error.kind() {
            ErrorKind::Conflict => Error::conflict(format!(
                "{name} is used by an input; take it out of the input's custom_domain first"
            )),
            _ => error,
        })?;
        self.listeners.domain_changed(&name);
        Ok(())
    }

    /// Brings an input's `custom_domain` to the form in which it is reserved,
    /// and says whether the input may be there. What it looked at stays so
    /// until the guard is dropped.
    ///
    /// An access token with a scope may leave an input where it is (`old`) or
    /// take it away, but not put it somewhere: a longer prefix takes webhooks
    /// from inputs of buckets that the token does not reach.
    pub(super) async fn place_input(
        &self,
        caller: &Caller,
        old: Option<&Input>,
        spec: &mut InputSpec,
    ) -> Result<Option<MutexGuard<'_, ()>>, Error> {
        if spec.custom_domain.is_empty() {
            return Ok(None);
        }
        spec.custom_domain = check::domain("custom_domain", &spec.custom_domain)?;
        let name = &spec.custom_domain;
        let stays = old.is_some_and(|old| {
            old.spec.custom_domain == *name && old.spec.prefix() == spec.prefix()
        });
        if !stays {
            caller.require_account()?;
        }
        let account = caller.account_id();
        let guard = self.domain_locks.lock(account.as_uuid()).await;
        let domain = self.stores.domains.domain_by_name(name).await?;
        if domain.is_none_or(|domain| domain.account_id != account) {
            let reason = format!("{name} is not a domain that the account has reserved");
            return Err(Error::invalid("custom_domain", reason));
        }
        let there = self.stores.domains.inputs_of_domain(account, name).await?;
        let same = there.iter().find(|input| {
            old.is_none_or(|old| old.id != input.id) && input.spec.prefix() == spec.prefix()
        });
        match same {
            Some(input) => Err(Error::conflict(format!(
                "path_prefix: the input {} has {name}{} already",
                input.id,
                spec.prefix(),
            ))),
            None => Ok(Some(guard)),
        }
    }
}
