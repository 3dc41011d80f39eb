//! The same rows on PostgreSQL, written by hand.

use super::Pass;
use crate::{
    Outcome,
    measured::Measured,
    options::Context,
    subject::{
        postgres::{SKIPPED, Schema},
        server::Server,
    },
};

/// What `pgbench` writes into the server's own tables, over as many connections as senders have.
pub(super) fn by_hand(context: &Context, connections: usize) -> Outcome<Pass> {
    let Some(schema) = Schema::create(context.postgres.as_deref())? else {
        return Ok(Pass::Skipped(SKIPPED.to_owned()));
    };
    let folder = context.scratch()?;
    let url = schema.url();
    // It makes the tables.
    drop(Server::start(context, folder.path(), &[("WEBHOOK_DATABASE_URL", &*url)])?);
    let seconds = context.scale.load.as_secs().max(1);
    let before = schema.done()?;
    let rate = schema.by_hand(folder.path(), connections, seconds)?;
    let mut measured = Measured::default();
    measured.value("events/s", rate);
    schema.done()?.measure(before, rate * seconds as f64, &mut measured);
    Ok(Pass::Measured(measured))
}
