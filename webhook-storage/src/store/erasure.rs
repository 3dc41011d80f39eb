//! Erasures.

use async_trait::async_trait;
use webhook_core::{
    AccountId, ErasureId, Error, NodeId, Timestamp,
    model::Erasure,
    store::{ClaimWork, EraseOutcome, EraseStep, ErasureStore},
};

use super::{
    erase::{Erased, erase_in},
    held,
};
use crate::{
    Storage,
    entity::{Table, erasure::Model, millis},
    fault::About,
    tx::{Tx, with},
};

const WHAT: &str = "erasure";

const STEP: &str = "UPDATE erasure SET status = ?, error = ?, found = ?, erased = ?, \
    withdrawn = ?, in_flight = ?, finished_at = ?, place = ?, spec = ?, wakes_at = ?, \
    held_by = CASE WHEN ? = 'running' THEN held_by ELSE NULL END WHERE id = ?";

#[async_trait]
impl ErasureStore for Storage {
    async fn create_erasure(&self, erasure: &Erasure, most: usize) -> Result<(), Error> {
        let row = Model::of(erasure)?;
        let transaction = self.begin(WHAT).await?;
        let created = create(&*transaction, erasure.account_id, &row, most).await;
        self.database().finish(transaction, created, WHAT).await
    }

    async fn erasure(&self, account: AccountId, id: ErasureId) -> Result<Option<Erasure>, Error> {
        let row = held::one::<Model>(self.database(), account, id.as_uuid()).await?;
        row.map(Model::read).transpose()
    }

    async fn claim_erasures(&self, claim: ClaimWork) -> Result<Vec<Erasure>, Error> {
        let rows = held::claim(self.database(), claim).await;
        rows.about(WHAT)?.into_iter().map(Model::read).collect()
    }

    async fn erasures_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        Ok(held::wakes_at::<Model>(self.database()).await?)
    }

    async fn release_erasures(&self, node: NodeId) -> Result<(), Error> {
        held::release::<Model>(self.database(), node).await.about(WHAT)
    }

    async fn step_erasure(&self, step: EraseStep) -> Result<Option<Vec<EraseOutcome>>, Error> {
        let transaction = self.begin(WHAT).await?;
        let mut objects = Vec::new();
        let taken = take(&*transaction, &step, &mut objects).await;
        let outcomes = self.database().finish(transaction, taken, WHAT).await?;
        self.delete_objects(objects).await;
        Ok(outcomes)
    }
}

async fn create(tx: &impl Tx, account: AccountId, row: &Model, most: usize) -> Result<(), Error> {
    let open = held::open::<Model>(tx, account).await.about(WHAT)?;
    Erasure::may_begin(open.len(), most)?;
    tx.insert(&Model::insert(""), std::slice::from_ref(row), Model::values).await.about(WHAT)?;
    held::trim::<Model>(tx, account).await.about(WHAT)
}

async fn take(
    tx: &impl Tx,
    step: &EraseStep,
    objects: &mut Vec<sea_orm::prelude::Uuid>,
) -> Result<Option<Vec<EraseOutcome>>, Error> {
    let tail = format!(
        "WHERE id = ? AND account_id = ? AND status = 'running' AND held_by = ? AND place = ?{}",
        tx.on_postgres(" FOR UPDATE")
    );
    let account = step.account.as_uuid();
    let values = [
        step.id.as_uuid().into(),
        account.into(),
        step.node.as_uuid().into(),
        step.from.as_str().into(),
    ];
    let Some(row) = Model::select_one(tx, &tail, values).await.about(WHAT)? else {
        return Ok(None);
    };
    let mut ordered: Vec<_> = step.webhooks.iter().enumerate().collect();
    // In one order everywhere, so that two transactions do not lock crosswise.
    ordered.sort_by_key(|(_, erase)| erase.webhook_id);
    let mut outcomes = vec![EraseOutcome::Gone; step.webhooks.len()];
    for (number, erase) in ordered {
        outcomes[number] = match erase_in(tx, account, erase).await.about("webhook")? {
            Erased::Whole { answer, is_object } => {
                objects.extend(is_object.then_some(erase.webhook_id.as_uuid()));
                EraseOutcome::Erased(answer)
            }
            Erased::InFlight => EraseOutcome::InFlight,
            Erased::NotThere => EraseOutcome::Gone,
            // Some of its rows may be removed already: the transaction is taken back.
            Erased::Leaving => return Err(Erased::leaving()),
        };
    }
    let after = step.after(row.read()?, &outcomes);
    let Model { id, status, error, found, erased, withdrawn, in_flight, .. } = Model::of(&after)?;
    let Model { finished_at, place, spec, wakes_at, .. } = Model::of(&after)?;
    let values = [
        status.as_str().into(),
        error.into(),
        found.into(),
        erased.into(),
        withdrawn.into(),
        in_flight.into(),
        finished_at.into(),
        place.into(),
        spec.into(),
        wakes_at.map(|_| millis(step.until)).into(),
        status.as_str().into(),
        id.into(),
    ];
    tx.execute(with(STEP, values)).await.about(WHAT)?;
    Ok(Some(outcomes))
}
