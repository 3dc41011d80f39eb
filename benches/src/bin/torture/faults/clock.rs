//! The clock jumps while retries wait: that of the server alone, through a small
//! library that is loaded before the C library. What is due in a second must come
//! in about a second, wherever the clock has gone.

use std::{
    fs::File,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::Command,
};

use benches::Outcome;

use super::{Fault, Prepared};
use crate::{
    namespaces::ask,
    rig::{Load, Rig},
    sink::{Mode, Order, now_micros},
};

const SOURCE: &str = include_str!("clock.c");
/// By how many seconds it jumps.
const JUMPS: [i64; 8] = [-86_400, -7_200, -60, -3, 3, 60, 7_200, 86_400];
/// How far it may get in all: the outputs give up after 20 days.
const FARTHEST: i64 = 5 * 86_400;

#[derive(Debug)]
pub(super) struct Clock {
    library: PathBuf,
    path: PathBuf,
    file: File,
    shift: i64,
    /// The farthest that it has been.
    highest: i64,
}

impl Clock {
    pub(super) fn prepare(notes: &Path, data: PathBuf) -> Outcome<Prepared> {
        let (source, library) = (notes.join("clock.c"), notes.join("clock.so"));
        std::fs::write(&source, SOURCE)?;
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source);
        if let Err(error) = ask(&mut compile) {
            let why = format!("no C compiler for the library that shifts the clock: {error}");
            return Ok(Prepared::Skipped(why));
        }
        let path = notes.join("shift");
        let file = File::options().create(true).truncate(true).write(true).open(&path)?;
        let mut clock = Self { library, path, file, shift: 0, highest: 0 };
        clock.jump(0)?;
        Ok(Prepared::Ready(Box::new(clock), data))
    }

    fn jump(&mut self, seconds: i64) -> Outcome<()> {
        self.shift += seconds;
        self.highest = self.highest.max(self.shift);
        Ok(self.file.write_all_at(&self.shift.to_ne_bytes(), 0)?)
    }

    /// Shows that the server's clock goes where it is put. It need not go back.
    fn check(&self, rig: &mut Rig<'_>) -> Outcome<()> {
        if rig.context.nodes > 1 {
            // Several servers go by the clock of their database.
            return Ok(());
        }
        let number = rig.random.u64(..);
        let (bucket, _) = rig.server()?.api.bucket(&format!("clock-{number}"))?;
        let made = bucket["created_at"].as_i64().ok_or("a bucket without its time")?;
        let ahead = made - i64::try_from(now_micros() / 1_000_000)?;
        match (self.shift - 2..=self.highest + 2).contains(&ahead) {
            true => Ok(()),
            false => {
                let said = "s ahead: is the server linked statically?";
                Err(format!("a clock was put {} s ahead and is {ahead} {said}", self.shift).into())
            }
        }
    }
}

impl Fault for Clock {
    fn variables(&self) -> Vec<(String, String)> {
        let text = |path: &Path| path.display().to_string();
        vec![
            ("LD_PRELOAD".to_owned(), text(&self.library)),
            ("TORTURE_CLOCK".to_owned(), text(&self.path)),
        ]
    }

    fn before(&mut self, rig: &mut Rig<'_>) -> Outcome<()> {
        rig.order(&Order::Open(false)).map(drop)
    }

    fn outputs(&self, _random: &mut fastrand::Rng) -> Vec<Mode> {
        vec![Mode::Closed]
    }

    fn load(&self) -> Load {
        Load { most: 150, ..Load::default() }
    }

    fn strike(&mut self, rig: &mut Rig<'_>) -> Outcome<()> {
        rig.wait(200, 900);
        let room = JUMPS.into_iter().filter(|jump| (self.shift + jump).abs() <= FARTHEST);
        let jumps: Vec<_> = room.collect();
        let jump = jumps[rig.random.usize(..jumps.len())];
        self.jump(jump)?;
        self.check(rig)?;
        rig.wait(10, 300);
        rig.order(&Order::Open(true))?;
        // A new process cannot know what its predecessor's clock had shown: where
        // that was ahead, what was due in a second is due in a day.
        // One of several servers does not start with a clock that is far from the database's.
        let can_restart = rig.context.nodes == 1 && self.shift == self.highest;
        if can_restart && rig.random.bool() {
            rig.kill()?;
            return rig.start();
        }
        rig.recover()
    }
}
