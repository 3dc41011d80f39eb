//! A destination takes requests and does not answer, beside another that does:
//! that one gets everything meanwhile. Half of the rounds kill the server, too.

use std::time::{Duration, Instant};

use benches::Outcome;

use super::Fault;
use crate::{
    rig::{Load, Rig},
    sink::{Mode, Order},
};

#[derive(Debug)]
pub(super) struct Hang;

impl Fault for Hang {
    fn before(&mut self, rig: &mut Rig<'_>) -> Outcome<()> {
        rig.order(&Order::Open(false)).map(drop)
    }

    fn outputs(&self, _random: &mut fastrand::Rng) -> Vec<Mode> {
        vec![Mode::Hanging, Mode::Steady]
    }

    fn load(&self) -> Load {
        Load { most: 150, ..Load::default() }
    }

    fn strike(&mut self, rig: &mut Rig<'_>) -> Outcome<()> {
        rig.wait(100, 700);
        if rig.random.bool() {
            rig.kill()?;
            rig.start()?;
            rig.wait(10, 200);
        }
        let deadline = Instant::now() + rig.context.patience;
        loop {
            let compare = Order::Compare { ledgers: rig.ledgers(), outputs: vec![Mode::Steady] };
            match rig.order(&compare)?.missing {
                0 => break,
                missing if Instant::now() > deadline => {
                    let said = "webhooks wait for another output's destination";
                    return Err(format!("{missing} {said}").into());
                }
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        rig.order(&Order::Open(true))?;
        rig.recover()
    }
}
