//! Domains: reserving them, and the inputs at them.

use crate::guard::names;

use super::{Admin, Caller, check, output::function_gone};
use crate::{
    error::{Error, ErrorKind},
    id::{DomainId, InputId},
    model::{Domain, DomainSpec, Input, InputSpec},
    plan::Limited,
    store::{ApplyError, Bounds, Change, Configured, DocumentKind, InputStore, Page, Refusal},
};

impl Admin {
    /// All domains of the account, in the order they were reserved.
    pub async fn domains(&self, caller: &Caller) -> Result<Vec<Domain>, Error> {
        self.list(caller, Page::ALL).await
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
        check::fields(&spec)?;
        let name = ascii("domain", &spec.domain)?;
        if self.options.domain_blocklist.refuses(&name) {
            let reason = format!("domain: {name} cannot be reserved at this server");
            return Err(Error::new(ErrorKind::Refused, reason));
        }
        let account = caller.account_id();
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
        let full = Error::conflict(format!("the account has all of its {limit} domains"));
        let (in_account, full) = self.bound(caller, Limited::Domains, limit, full).await?;
        let now = self.now();
        let domain = Domain {
            id: self.ids.next(),
            account_id: account,
            version: 1,
            created_at: now,
            updated_at: now,
            spec: DomainSpec { domain: name },
        };
        let name = &domain.spec.domain;
        let create = Change::create(account, &domain, Bounds { in_account, ..Bounds::NONE })?;
        self.stores.documents.apply(&[create]).await.map_err(|error| match error {
            ApplyError::Refused(Refusal::NameTaken(_)) => {
                Error::conflict(format!("domain: {name} is taken"))
            }
            ApplyError::Refused(Refusal::AccountFull(_)) => full,
            error => error.into(),
        })?;
        self.tell(|it| it.domain_changed(name));
        Ok(domain)
    }

    /// Gives a domain back. While an input uses it, that is a
    /// [`Conflict`](ErrorKind::Conflict).
    pub async fn delete_domain(&self, caller: &Caller, id: DomainId) -> Result<(), Error> {
        caller.require_account()?;
        let account = caller.account_id();
        let domain = self.stores.documents.get::<Domain>(account, id.as_uuid()).await?;
        let domain = domain.ok_or_else(|| Error::not_found("domain"))?;
        let name = domain.spec.domain;
        let delete = Change::delete::<Domain>(account, id.as_uuid());
        let delete = delete.pinned(caller.pin(domain.version)?);
        let changes = [Change::Unused(Domain::key(id.as_uuid())), delete];
        self.stores.documents.apply(&changes).await.map_err(|error| match error {
            ApplyError::Refused(Refusal::Used) => Error::conflict(format!(
                "{name} is used by an input; take it out of the input's custom_domain first"
            )),
            error => error.into(),
        })?;
        self.tell(|it| it.domain_changed(&name));
        Ok(())
    }

    /// Brings an input's `custom_domain` to the form in which it is reserved,
    /// and checks that the input may use that domain. The answer is the domain.
    ///
    /// An access token with a scope may leave an input where it is (`old`) or
    /// take it away, but not put it somewhere: a longer prefix takes webhooks
    /// from inputs of buckets that the token does not reach.
    pub(super) async fn place_input(
        &self,
        caller: &Caller,
        old: Option<&Input>,
        spec: &mut InputSpec,
    ) -> Result<Option<DomainId>, Error> {
        if spec.custom_domain.is_empty() {
            return Ok(None);
        }
        spec.custom_domain = ascii("custom_domain", &spec.custom_domain)?;
        let name = &spec.custom_domain;
        let stays = old.is_some_and(|old| {
            old.spec.custom_domain == *name && old.spec.prefix() == spec.prefix()
        });
        if !stays {
            caller.require_account()?;
        }
        let account = caller.account_id();
        let domain = self.stores.documents.domain_named(name).await?;
        let domain = domain.filter(|domain| domain.account_id == account);
        domain.map(|domain| Some(domain.id)).ok_or_else(|| not_reserved(name))
    }

    /// The error of an input whose function or domain was removed at this moment, or whose place
    /// another input has. Inputs of a domain are read only then, because there may be many.
    pub(super) async fn place_refused(&self, error: ApplyError, spec: &InputSpec) -> ApplyError {
        let (name, prefix) = (&spec.custom_domain, spec.prefix());
        match error {
            ApplyError::Refused(Refusal::Missing(DocumentKind::Domain)) => {
                not_reserved(name).into()
            }
            ApplyError::Refused(Refusal::RouteTaken) => {
                let other = self.input_at(name, prefix).await.ok().flatten();
                let Some(other) = other else { return error };
                let reason = format!("path_prefix: the input {other} has {name}{prefix} already");
                Error::conflict(reason).into()
            }
            error => function_gone(error),
        }
    }

    async fn input_at(&self, domain: &str, prefix: &str) -> Result<Option<InputId>, Error> {
        let documents = &self.stores.documents;
        let Some(domain) = documents.domain_named(domain).await? else { return Ok(None) };
        let there = documents.inputs_of_domain(&domain).await?;
        Ok(there.iter().find(|input| input.spec.prefix() == prefix).map(|input| input.id))
    }
}

/// The ASCII form of a domain. Names are compared in that form.
fn ascii(field: &str, text: &str) -> Result<String, Error> {
    names::domain(text).map_err(|error| Error::invalid(field, error.to_string()))
}

/// The error of an input at a domain that its account does not have.
fn not_reserved(name: &str) -> Error {
    let reason = format!("{name} is not a domain that the account has reserved");
    Error::invalid("custom_domain", reason)
}
