//! The power is cut: the data folder is on a disk of its own, a file behind a
//! loop device, whose file system is shut down in the middle of the load. What it
//! had in memory is gone, and what the disk was given stays, as after a reset.
//! Then the file system recovers from its journal, and the server from that.
//!
//! The call is the one that file systems are tested with (`EXT4_IOC_SHUTDOWN`
//! with `NOLOGFLUSH`). No program of the system offers it, hence Perl or Python.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use benches::Outcome;

use super::{Fault, Prepared, restart};
use crate::{
    namespaces::{Mounts, ask, run},
    options::Context,
    rig::Rig,
};

/// The disk.
const BYTES: u64 = 192 << 20;
/// How long a file system may be busy after its last process has ended.
const BUSY: Duration = Duration::from_secs(10);

const PERL: &str = r#"open(my $disk, "<", $ARGV[0]) or die $!;
my $without_journal = pack("L", 2);
ioctl($disk, 0x8004587d, $without_journal) or die $!;"#;
const PYTHON: &str = "import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack('I', 2))";

#[derive(Debug)]
pub(super) struct Power {
    image: PathBuf,
    disk: PathBuf,
}

impl Drop for Power {
    fn drop(&mut self) {
        run(Command::new("umount").arg(&self.disk));
    }
}

impl Power {
    pub(super) fn prepare(context: &Context, notes: &Path) -> Outcome<Prepared> {
        if context.mounts != Mounts::Own {
            let why = "only root may mount a file as a disk (and needs mounts of its own: unshare)";
            return Ok(Prepared::Skipped(why.to_owned()));
        }
        let (image, disk) = (notes.join("disk.img"), notes.join("disk"));
        std::fs::create_dir(&disk)?;
        File::create(&image)?.set_len(BYTES)?;
        let power = Self { image, disk };
        // Shows that it can be done here, with nothing on the disk yet.
        let mut make = Command::new("mkfs.ext4");
        let trial = ask(make.args(["-q", "-F"]).arg(&power.image))
            .and_then(|_| power.mount())
            .and_then(|()| power.cut())
            .and_then(|()| power.repower());
        if let Err(error) = trial {
            return Ok(Prepared::Skipped(format!("no disk whose power can be cut: {error}")));
        }
        let data = power.disk.join("data");
        Ok(Prepared::Ready(Box::new(power), data))
    }

    fn mount(&self) -> Outcome<()> {
        let mut mount = Command::new("mount");
        ask(mount.args(["-t", "ext4", "-o", "loop"]).arg(&self.image).arg(&self.disk)).map(drop)
    }

    /// Nothing reaches the disk from now on.
    fn cut(&self) -> Outcome<()> {
        let perl = ask(Command::new("perl").args(["-e", PERL]).arg(&self.disk));
        let cut = perl.or_else(|perl| {
            let python = ask(Command::new("python3").args(["-c", PYTHON]).arg(&self.disk));
            python.map_err(|python| format!("{perl}; {python}"))
        });
        cut.map(drop).map_err(Into::into)
    }

    fn repower(&self) -> Outcome<()> {
        let deadline = Instant::now() + BUSY;
        while let Err(error) = ask(Command::new("umount").arg(&self.disk)) {
            if Instant::now() > deadline {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.mount()
    }
}

impl Fault for Power {
    fn strike(&mut self, rig: &mut Rig<'_>) -> Outcome<()> {
        rig.wait(50, 700);
        restart(rig, |rig| {
            rig.freeze()?;
            self.cut()?;
            rig.kill()?;
            self.repower()
        })
    }
}
