//! The connections to PostgreSQL are cut several times under load, with
//! `pg_terminate_backend`. Half of the rounds end with the same process, which
//! nobody starts again, and the others with `kill -9`.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use benches::Outcome;

use super::{Fault, restart};
use crate::{
    database::Database,
    rig::{Load, Rig},
    sink::Order,
};

/// How long the first webhook may take to arrive.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(super) struct Postgres(pub(super) Arc<Database>);

impl Fault for Postgres {
    fn load(&self) -> Load {
        Load { lasts: Duration::from_millis(1_500), ..Load::default() }
    }

    fn strike(&mut self, rig: &mut Rig<'_>) -> Outcome<()> {
        // A server whose relay finds no database when it starts ends, and says so.
        let began = Instant::now();
        while rig.order(&Order::Open(true))?.first.is_none() {
            if began.elapsed() > PATIENCE {
                return Err("nothing arrived before the first cut".into());
            }
            // How often depends on the machine, and so not on chance, which a seed repeats.
            std::thread::sleep(Duration::from_millis(2));
        }
        let times = rig.random.u32(3..10);
        rig.wait(10, 150);
        rig.begin_outage();
        let mut cut = self.0.cut()?;
        for _ in 1..times {
            rig.wait(10, 150);
            cut += self.0.cut()?;
        }
        if cut == 0 {
            return Err("the server had no connection that could be cut".into());
        }
        match rig.random.bool() {
            true => restart(rig, |rig| rig.kill()),
            false => rig.recover(),
        }
    }
}
