//! `kill -9` at any moment, also while the server recovers from the last one.

use benches::Outcome;

use super::{Fault, restart};
use crate::{rig::Rig, sink::Mode};

#[derive(Debug)]
pub(super) struct Kill;

impl Fault for Kill {
    /// Now and then with retries under way.
    fn outputs(&self, random: &mut fastrand::Rng) -> Vec<Mode> {
        match random.u8(..4) {
            0 => vec![Mode::Flaky],
            1 => vec![Mode::Steady, Mode::Flaky],
            _ => vec![Mode::Steady],
        }
    }

    fn strike(&mut self, rig: &mut Rig<'_>) -> Outcome<()> {
        rig.wait(50, 700);
        restart(rig, |rig| rig.kill())
    }
}
