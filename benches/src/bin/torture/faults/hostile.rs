//! A destination answers each webhook first with what nobody should, see
//! [`answers`](crate::answers), and then as it is meant to be. A third of the rounds
//! kill the server meanwhile.

use benches::Outcome;

use super::{Fault, restart};
use crate::{
    rig::{Load, Rig},
    sink::Mode,
};

#[derive(Debug)]
pub(super) struct Hostile;

impl Fault for Hostile {
    fn outputs(&self, _random: &mut fastrand::Rng) -> Vec<Mode> {
        vec![Mode::Hostile]
    }

    fn load(&self) -> Load {
        Load { most: 100, ..Load::default() }
    }

    fn strike(&mut self, rig: &mut Rig<'_>) -> Outcome<()> {
        rig.wait(50, 700);
        match rig.random.u8(..3) {
            0 => restart(rig, |rig| rig.kill()),
            _ => rig.recover(),
        }
    }
}
