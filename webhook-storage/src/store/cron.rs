//! Crons.

use async_trait::async_trait;
use sea_orm::{
    ActiveModelTrait, ActiveValue, ColumnTrait, Condition, ConnectionTrait, DbBackend, EntityTrait,
    FromQueryResult, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect, sea_query::Expr,
};
use webhook_core::{
    AccountId, CronId, Error, NodeId, Timestamp,
    model::{Bucket, Cron},
    store::{AdvanceCron, ClaimCrons, CronStore},
};

use super::{bucket::delete, read_error};
use crate::{
    Storage,
    entity::{
        cron::{Column, Entity, Model},
        moment,
    },
    fault,
    tx::{statement, with},
};

const WHAT: &str = "cron";

/// Holds what is due. Rows that another node is just claiming are left to it.
const CLAIM: &str = "UPDATE cron SET wakes_at = ?, held_by = ? WHERE id IN (SELECT id FROM cron \
    WHERE wakes_at <= ? ORDER BY wakes_at LIMIT ?{skip}) RETURNING *";

fn of_account(account: AccountId) -> Condition {
    Condition::all().add(Column::AccountId.eq(account.as_uuid()))
}

fn one(account: AccountId, id: CronId) -> Condition {
    of_account(account).add(Column::Id.eq(id.as_uuid()))
}

fn failed(error: sea_orm::DbErr) -> Error {
    fault::error(error, WHAT)
}

#[async_trait]
impl CronStore for Storage {
    async fn create_cron(&self, cron: &Cron, bucket: &Bucket) -> Result<(), Error> {
        let row = Model::seal(cron, self.vault())?.into_active_model();
        let transaction = self.begin(WHAT).await?;
        let created = async {
            self.insert_whole(&transaction, bucket).await?;
            let insert = Entity::insert(row).exec_without_returning(&*transaction);
            insert.await.map(|_| ()).map_err(failed)
        };
        let created = created.await;
        self.database().finish(transaction, created, WHAT).await
    }

    async fn cron(&self, account: AccountId, id: CronId) -> Result<Option<Cron>, Error> {
        let row = Entity::find().filter(one(account, id)).one(&self.database().read).await;
        row.map_err(read_error)?.map(|row| row.open(self.vault())).transpose()
    }

    async fn crons(&self, account: AccountId) -> Result<Vec<Cron>, Error> {
        let find = Entity::find().filter(of_account(account)).order_by_asc(Column::Id);
        let rows = find.all(&self.database().read).await.map_err(read_error)?;
        rows.into_iter().map(|row| row.open(self.vault())).collect()
    }

    async fn update_cron(&self, cron: &Cron, known: Option<Timestamp>) -> Result<bool, Error> {
        let mut row = Model::seal(cron, self.vault())?.into_active_model().reset_all();
        let stay =
            [Column::Id, Column::AccountId, Column::CreatedAt, Column::BucketId, Column::InputId];
        stay.into_iter().for_each(|column| row.not_set(column));
        if cron.next_run == known {
            // Whoever makes that run goes on.
            (row.wakes_at, row.held_by) = (ActiveValue::NotSet, ActiveValue::NotSet);
        }
        let known = match known {
            Some(known) => Column::NextRun.eq(known.as_millis()),
            None => Column::NextRun.is_null(),
        };
        let place = one(cron.account_id, cron.id);
        let update = Entity::update_many().set(row).filter(place.clone()).filter(known);
        let updated = update.exec(&self.database().write).await.map_err(failed)?;
        if updated.rows_affected > 0 {
            return Ok(true);
        }
        match self.cron(cron.account_id, cron.id).await? {
            Some(_) => Ok(false),
            None => Err(Error::not_found(WHAT)),
        }
    }

    async fn delete_cron(&self, account: AccountId, id: CronId) -> Result<(), Error> {
        let cron = self.cron(account, id).await?.ok_or_else(|| Error::not_found(WHAT))?;
        let transaction = self.begin(WHAT).await?;
        // The cron goes with it.
        let deleted = delete(&transaction, account, cron.bucket_id, None, true).await;
        self.database().finish(transaction, deleted, WHAT).await.map_err(|error| {
            match error.kind() {
                webhook_core::ErrorKind::NotFound => Error::not_found(WHAT),
                _ => error,
            }
        })
    }

    async fn claim_crons(&self, claim: ClaimCrons) -> Result<Vec<Cron>, Error> {
        let ClaimCrons { node, now, until, limit, .. } = claim;
        let backend = self.database().backend();
        let skip = if backend == DbBackend::Sqlite { "" } else { " FOR UPDATE SKIP LOCKED" };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values =
            [until.as_millis().into(), node.as_uuid().into(), now.as_millis().into(), limit.into()];
        let claim = statement(backend, with(CLAIM.replace("{skip}", skip), values));
        let rows = self.database().write.query_all_raw(claim).await.map_err(failed)?;
        let rows = rows.iter().map(|row| Model::from_query_result(row, "").map_err(failed));
        let open = |row: Result<Model, Error>| row?.open(self.vault());
        let mut crons = rows.map(open).collect::<Result<Vec<_>, _>>()?;
        crons.sort_by_key(|cron| (cron.next_run, cron.id));
        Ok(crons)
    }

    async fn crons_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        let find = Entity::find().filter(Column::WakesAt.is_not_null());
        let find = find.order_by_asc(Column::WakesAt).select_only().column(Column::WakesAt);
        let first = find.limit(1).into_tuple::<i64>().one(&self.database().read).await;
        Ok(first.map_err(read_error)?.map(moment))
    }

    async fn advance_cron(&self, advance: AdvanceCron) -> Result<bool, Error> {
        let AdvanceCron { id, from, to, enabled, .. } = advance;
        let to = to.map(Timestamp::as_millis);
        let update = Entity::update_many()
            .col_expr(Column::NextRun, Expr::value(to))
            .col_expr(Column::WakesAt, Expr::value(to))
            .col_expr(Column::HeldBy, Expr::value(None::<uuid::Uuid>))
            .col_expr(Column::Enabled, Expr::value(enabled))
            .filter(Column::Id.eq(id.as_uuid()))
            .filter(Column::NextRun.eq(from.as_millis()));
        let advanced = update.exec(&self.database().write).await.map_err(failed)?;
        Ok(advanced.rows_affected > 0)
    }

    async fn release_crons(&self, node: NodeId) -> Result<(), Error> {
        let update = Entity::update_many()
            .col_expr(Column::WakesAt, Expr::col(Column::NextRun))
            .col_expr(Column::HeldBy, Expr::value(None::<uuid::Uuid>))
            .filter(Column::HeldBy.eq(node.as_uuid()));
        update.exec(&self.database().write).await.map(|_| ()).map_err(failed)
    }
}
