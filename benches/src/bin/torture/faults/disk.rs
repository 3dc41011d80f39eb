//! The disk is full: a small file system in memory, whose room ends in the middle
//! of the load. Then there is room again, for the server that is still running or
//! for one that is started anew.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use benches::Outcome;

use super::{Fault, Prepared};
use crate::{
    namespaces::{Mounts, ask, run},
    options::Context,
    rig::{Load, Rig},
};

/// The room before and after, in KiB: more than ten rounds write with a fast server.
const ROOM: u64 = 512 << 10;

#[derive(Debug)]
pub(super) struct Disk {
    disk: PathBuf,
}

impl Drop for Disk {
    fn drop(&mut self) {
        run(Command::new("umount").arg(&self.disk));
    }
}

impl Disk {
    pub(super) fn prepare(context: &Context, notes: &Path) -> Outcome<Prepared> {
        if context.mounts == Mounts::Shared {
            let why = "nothing can be mounted without a namespace (unshare --mount)";
            return Ok(Prepared::Skipped(why.to_owned()));
        }
        let disk = notes.join("disk");
        std::fs::create_dir(&disk)?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={ROOM}k"), "none"]).arg(&disk);
        if let Err(error) = ask(&mut mount) {
            return Ok(Prepared::Skipped(format!("no small file system: {error}")));
        }
        let data = disk.join("data");
        Ok(Prepared::Ready(Box::new(Self { disk }), data))
    }

    fn resize(&self, kib: u64) -> Outcome<()> {
        let mut mount = Command::new("mount");
        // With its source: otherwise mount adds what an ordinary user may not say.
        let options = ["-o", &format!("remount,size={kib}k"), "none"];
        ask(mount.args(options).arg(&self.disk)).map(drop)
    }

    /// KiB in use.
    fn used(&self) -> Outcome<u64> {
        let said = ask(Command::new("df").args(["-k", "--output=used"]).arg(&self.disk))?;
        let used = said.split_whitespace().last().ok_or("df says nothing")?;
        Ok(used.parse()?)
    }
}

impl Fault for Disk {
    fn load(&self) -> Load {
        // More than there is room for, and on for a while.
        Load { most: 20_000, usual: 8 << 10, lasts: Duration::from_secs(2), ..Load::default() }
    }

    fn strike(&mut self, rig: &mut Rig<'_>) -> Outcome<()> {
        rig.wait(50, 400);
        // A server that keeps running stores its outcomes when there is room again.
        let is_killed = rig.random.bool();
        match is_killed {
            true => rig.begin_outage(),
            false => rig.begin_fault(),
        }
        // The server may have taken what was free a moment ago.
        let mut filled = Err("the disk was not tried".into());
        for _ in 0..10 {
            let left = rig.random.u64(50..1_000);
            filled = self.used().and_then(|used| self.resize(used + left));
            if filled.is_ok() {
                break;
            }
        }
        filled?;
        rig.wait(400, 1_200);
        if is_killed {
            rig.kill()?;
            self.resize(ROOM)?;
            return rig.start();
        }
        self.resize(ROOM)?;
        rig.recover()
    }
}
