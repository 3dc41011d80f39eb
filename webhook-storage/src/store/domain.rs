//! Reserved domains.

use async_trait::async_trait;
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DatabaseTransaction, EntityTrait, IntoActiveModel,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select, prelude::Uuid,
};
use webhook_core::{
    AccountId, DomainId, Error,
    model::{Domain, Input},
    store::DomainStore,
};

use super::read_error;
use crate::{
    Storage,
    entity::{
        bucket,
        domain::{Column, Entity, Model},
        input,
    },
    fault,
};

const WHAT: &str = "domain";

fn owned(account: AccountId, id: DomainId) -> Condition {
    Condition::all().add(Column::Id.eq(id.as_uuid())).add(Column::AccountId.eq(account.as_uuid()))
}

/// The account's inputs at this domain. The condition that the name is not
/// empty is what the index asks for.
fn inputs(account: AccountId, name: &str) -> Select<input::Entity> {
    let buckets = bucket::Entity::find()
        .select_only()
        .column(bucket::Column::Id)
        .filter(bucket::Column::AccountId.eq(account.as_uuid()));
    input::Entity::find()
        .filter(input::Column::CustomDomain.eq(name))
        .filter(input::Column::CustomDomain.ne(""))
        .filter(input::Column::BucketId.in_subquery(buckets.into_query()))
}

#[async_trait]
impl DomainStore for Storage {
    async fn create_domain(&self, domain: &Domain) -> Result<(), Error> {
        let row = Model::of(domain).into_active_model();
        let insert = Entity::insert(row).exec_without_returning(&self.database().write);
        insert.await.map(|_| ()).map_err(|error| fault::error(error, WHAT))
    }

    async fn domain(&self, account: AccountId, id: DomainId) -> Result<Option<Domain>, Error> {
        let find = Entity::find().filter(owned(account, id));
        let row = find.one(&self.database().read).await.map_err(read_error)?;
        Ok(row.map(Model::read))
    }

    async fn domain_by_name(&self, name: &str) -> Result<Option<Domain>, Error> {
        let find = Entity::find().filter(Column::Name.eq(name));
        let row = find.one(&self.database().routes).await.map_err(read_error)?;
        Ok(row.map(Model::read))
    }

    async fn domains(&self, account: AccountId) -> Result<Vec<Domain>, Error> {
        let find =
            Entity::find().filter(Column::AccountId.eq(account.as_uuid())).order_by_asc(Column::Id);
        let rows = find.all(&self.database().read).await.map_err(read_error)?;
        Ok(rows.into_iter().map(Model::read).collect())
    }

    async fn inputs_of_domain(&self, account: AccountId, name: &str) -> Result<Vec<Input>, Error> {
        let find = inputs(account, name)
            .order_by_asc(input::Column::CreatedAt)
            .order_by_asc(input::Column::Id);
        let rows = find.all(&self.database().routes).await.map_err(read_error)?;
        rows.into_iter().map(|row| row.open(self.vault())).collect()
    }

    async fn delete_domain(&self, account: AccountId, id: DomainId) -> Result<(), Error> {
        let transaction = self.begin(WHAT).await?;
        let deleted = delete(&transaction, account, id).await;
        self.database().finish(transaction, deleted, WHAT).await
    }
}

async fn delete(
    transaction: &DatabaseTransaction,
    account: AccountId,
    id: DomainId,
) -> Result<(), Error> {
    let find = Entity::find().filter(owned(account, id));
    let find = match transaction.get_database_backend() {
        // SQLite has one writer, which is this transaction.
        sea_orm::DbBackend::Sqlite => find,
        _ => find.lock(sea_orm::sea_query::LockType::Update),
    };
    let row = find.one(transaction).await.map_err(read_error)?;
    let row = row.ok_or_else(|| Error::not_found(WHAT))?;
    let user = inputs(account, &row.name).select_only().column(input::Column::Id).limit(1);
    if user.into_tuple::<Uuid>().one(transaction).await.map_err(read_error)?.is_some() {
        return Err(Error::conflict("the domain is used by an input"));
    }
    let deleted = Entity::delete_by_id(row.id).exec(transaction).await;
    deleted.map(|_| ()).map_err(|error| fault::error(error, WHAT))
}
