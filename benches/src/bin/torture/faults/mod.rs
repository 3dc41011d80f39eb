//! What is done to the server, one file for each fault.

pub(crate) mod addresses;
mod clock;
mod disk;
mod hang;
mod hostile;
mod kill;
mod postgres;
mod power;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use benches::Outcome;
use serde::{Deserialize, Serialize};

use crate::{
    database::Database,
    options::Context,
    rig::{Load, Rig},
    sink::Mode,
};

/// The faults, in the order in which they are told of.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
pub(crate) enum Name {
    /// `kill -9`.
    Kill,
    /// The power of the disk's machine is cut.
    Power,
    /// The disk is full.
    Disk,
    /// All connections to PostgreSQL are cut, several times.
    Postgres,
    /// The clock jumps, forward or back.
    Clock,
    /// A destination takes webhooks and does not answer.
    Hang,
    /// A destination answers what nobody should.
    Hostile,
    /// Destinations are private addresses, in a network without a way out.
    Addresses,
}

/// A fault that strikes the servers of one data folder.
pub(crate) trait Fault {
    /// What the server is started with, beside the usual.
    fn variables(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The address of a sink that is not on this machine, as far as the server knows.
    fn public(&self) -> Option<&'static str> {
        None
    }

    /// Before the first webhook of a round.
    fn before(&mut self, _rig: &mut Rig<'_>) -> Outcome<()> {
        Ok(())
    }

    /// Where webhooks of the round go.
    fn outputs(&self, _random: &mut fastrand::Rng) -> Vec<Mode> {
        vec![Mode::Steady]
    }

    fn load(&self) -> Load {
        Load::default()
    }

    /// While the senders send: does what it does, and starts the server again or
    /// says from when on recovery counts.
    fn strike(&mut self, rig: &mut Rig<'_>) -> Outcome<()>;
}

/// A fault that is there, or why it cannot be.
pub(crate) enum Prepared {
    /// With the data folder.
    Ready(Box<dyn Fault>, PathBuf),
    Skipped(String),
}

impl Name {
    /// Whether the servers need a database of their own for it, whatever their number.
    pub(crate) fn needs_database(self) -> bool {
        self == Self::Postgres
    }

    /// Makes what the fault needs, for servers with this database if they have one; `notes`
    /// is a folder for it.
    pub(crate) fn prepare(
        self,
        context: &Context,
        notes: &Path,
        database: Option<&Arc<Database>>,
    ) -> Outcome<Prepared> {
        let plain = notes.join("data");
        match (self, database) {
            (Self::Postgres, Some(database)) => {
                Ok(Prepared::Ready(Box::new(postgres::Postgres(Arc::clone(database))), plain))
            }
            (Self::Postgres, None) => Err("the servers have no database".into()),
            (Self::Power | Self::Disk, Some(_)) => {
                Ok(Prepared::Skipped("webhooks are not in the data folder".to_owned()))
            }
            (Self::Addresses, Some(_)) => {
                Ok(Prepared::Skipped("no way leads from that network to the database".to_owned()))
            }
            (Self::Kill, _) => Ok(Prepared::Ready(Box::new(kill::Kill), plain)),
            (Self::Power, None) => power::Power::prepare(context, notes),
            (Self::Disk, None) => disk::Disk::prepare(context, notes),
            (Self::Clock, _) => clock::Clock::prepare(notes, plain),
            (Self::Hang, _) => Ok(Prepared::Ready(Box::new(hang::Hang), plain)),
            (Self::Hostile, _) => Ok(Prepared::Ready(Box::new(hostile::Hostile), plain)),
            (Self::Addresses, None) => Ok(Prepared::Ready(Box::new(addresses::Addresses), plain)),
        }
    }

    /// Rounds on one data folder.
    pub(crate) fn together(self) -> u32 {
        match self {
            Self::Kill | Self::Power | Self::Postgres | Self::Addresses => 10,
            Self::Disk | Self::Clock | Self::Hang | Self::Hostile => 5,
        }
    }
}

/// `kill -9` and a restart; now and then once more while the server recovers.
fn restart(rig: &mut Rig<'_>, mut kill: impl FnMut(&mut Rig<'_>) -> Outcome<()>) -> Outcome<()> {
    kill(rig)?;
    rig.start()?;
    if rig.random.u8(..4) == 0 {
        rig.wait(5, 150);
        kill(rig)?;
        rig.start()?;
    }
    Ok(())
}
