//! Reserved domains.

use std::fmt;

use async_trait::async_trait;

use crate::{
    error::Error,
    id::{AccountId, DomainId},
    model::{Domain, Input},
};

/// Keeps reserved domains, and knows which inputs use them.
///
/// Names are compared byte by byte: they are stored as
/// [`Admin`](crate::admin::Admin) writes them, in ASCII and lower case.
#[async_trait]
pub trait DomainStore: Send + Sync + fmt::Debug {
    /// Stores a new domain. A taken ID, or a name that any account has, is a conflict.
    async fn create_domain(&self, domain: &Domain) -> Result<(), Error>;

    /// The account's domain with this ID.
    async fn domain(&self, account: AccountId, id: DomainId) -> Result<Option<Domain>, Error>;

    /// The domain with this name, whoever has it: what a request's way starts
    /// with that names it as its host.
    async fn domain_by_name(&self, name: &str) -> Result<Option<Domain>, Error>;

    /// All domains of the account, in ID order.
    async fn domains(&self, account: AccountId) -> Result<Vec<Domain>, Error>;

    /// The account's inputs with this `custom_domain`, the oldest first, whether or
    /// not the account has it reserved.
    async fn inputs_of_domain(&self, account: AccountId, name: &str) -> Result<Vec<Input>, Error>;

    /// Removes a domain of the account. While an input of the account has it as
    /// its `custom_domain`, that is a conflict. An input that another process
    /// stores at the same moment may be left with a domain that nobody has
    /// reserved, which routes nothing.
    async fn delete_domain(&self, account: AccountId, id: DomainId) -> Result<(), Error>;
}
