//! Deals the rounds out and gathers what came of them.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Range,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering, mpsc},
    time::{Duration, Instant},
};

use benches::{Outcome, program};
use clap::ValueEnum;

use crate::{
    database::Database,
    faults::{Name, Prepared, addresses},
    namespaces,
    options::{Context, Options},
    report::Table,
    rig::Rig,
    round::{self, Round},
};

/// What a lane has to tell.
enum Told {
    Round(Name, Round),
    /// The harness itself could not go on, in the rounds of this fault.
    Broken(Name, String),
    Skipped(Name, String),
}

/// Whether everything that was acknowledged arrived, and nothing else went wrong.
pub(crate) fn run(options: &Options) -> Outcome<bool> {
    let server = program::server(options.server.as_deref())?.canonicalize()?;
    let mounts = match options.mounts {
        Some(mounts) => mounts,
        None => namespaces::enter(&server)?,
    };
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let patience = Duration::from_secs(options.patience);
    let mut context = Context::new(server, seed, mounts, options.set.clone(), patience)?;
    context.nodes = options.nodes;
    println!("torture: {} with --seed {seed}", context.server.display());
    let until = Instant::now() + Duration::from_secs(options.minutes * 60);
    let work = Mutex::new(deal(options));
    let (telling, told) = mpsc::channel();
    let mut table = Table::over(options.nodes);
    std::thread::scope(|scope| {
        for _ in 0..options.parallel {
            let (telling, context, work) = (telling.clone(), &context, &work);
            scope.spawn(move || {
                while Instant::now() < until {
                    let next = work.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let Some((name, numbers)) = next else { return };
                    if !lane(context, name, numbers, &telling) {
                        work.lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .retain(|(other, _)| *other != name);
                    }
                }
            });
        }
        drop(telling);
        for told in told {
            match told {
                Told::Round(name, round) => table.add(name, round),
                Told::Broken(name, error) => table.broken(name, &error),
                Told::Skipped(name, why) => table.skipped(name, &why),
            }
            if options.until_bad && !table.is_well() {
                work.lock().unwrap_or_else(PoisonError::into_inner).clear();
                context.is_over.store(true, Ordering::Relaxed);
            }
        }
    });
    let left: usize = work.into_inner().unwrap_or_else(PoisonError::into_inner).len();
    if left > 0 {
        println!("torture: the time was up before all rounds were made");
    }
    print!("{table}");
    Ok(table.is_well())
}

/// The rounds of all faults, in turn, as many together as share a data folder.
fn deal(options: &Options) -> VecDeque<(Name, Range<u32>)> {
    let chosen = Name::value_variants().iter();
    let chosen = chosen.filter(|name| options.only.is_empty() || options.only.contains(name));
    let mut turns = BTreeMap::<(u32, Name), Range<u32>>::new();
    for name in chosen {
        let together = name.together();
        for begin in (0..options.rounds).step_by(together as usize) {
            let numbers = begin..options.rounds.min(begin + together);
            turns.insert((begin / together, *name), numbers);
        }
    }
    turns.into_iter().map(|((_, name), numbers)| (name, numbers)).collect()
}

/// Rounds of one fault; whether more of them make sense.
fn lane(context: &Context, name: Name, numbers: Range<u32>, telling: &mpsc::Sender<Told>) -> bool {
    // Nobody listens any more when the program ends.
    let mut tell = |round| Ok(telling.send(Told::Round(name, round))?);
    let done = match name {
        Name::Addresses if context.nodes == 1 => addresses::isolated(context, numbers, &mut tell),
        _ => on_one_folder(context, name, numbers, &mut tell),
    };
    match done {
        Ok(None) => true,
        Ok(Some(why)) => {
            let _ = telling.send(Told::Skipped(name, why));
            false
        }
        Err(error) => {
            let _ = telling.send(Told::Broken(name, error.to_string()));
            true
        }
    }
}

/// Rounds on one data folder, a new one after each that did not end well. Why
/// not, where this fault cannot be.
pub(crate) fn on_one_folder(
    context: &Context,
    name: Name,
    mut numbers: Range<u32>,
    tell: &mut dyn FnMut(Round) -> Outcome<()>,
) -> Outcome<Option<String>> {
    while !numbers.is_empty() {
        let scratch = context.scratch()?;
        let mut database = None;
        if context.nodes > 1 || name.needs_database() {
            match Database::make() {
                Ok(made) => database = Some(Arc::new(made)),
                Err(why) => return Ok(Some(why)),
            }
        }
        let (mut fault, folder) = match name.prepare(context, scratch.path(), database.as_ref())? {
            Prepared::Ready(fault, folder) => (fault, folder),
            Prepared::Skipped(why) => return Ok(Some(why)),
        };
        let mut variables = fault.variables();
        variables.extend(database.iter().map(|database| database.variable()));
        // Goes before the fault, which takes the data folder with it.
        let mut rig = Rig::new(context, scratch.path(), &folder, variables, fault.public())?;
        for number in numbers.by_ref() {
            if context.is_over.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let round = round::run(&mut rig, fault.as_mut(), name, number);
            let round =
                round.map_err(|error| format!("round {number}: {error}\n{}", rig.complaints()))?;
            let well = round.is_well();
            tell(round)?;
            if !well {
                rig.keep_log(&format!("{name:?}-{number}.log").to_lowercase())?;
                break;
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::options::Arguments;

    #[test]
    fn each_round_is_dealt_once_and_the_faults_take_turns() {
        let arguments = ["torture", "--rounds", "12", "--only", "kill", "disk"];
        let dealt: Vec<_> = deal(&Arguments::parse_from(arguments).options).into();
        let turns = [
            (Name::Kill, 0..10),
            (Name::Disk, 0..5),
            (Name::Kill, 10..12),
            (Name::Disk, 5..10),
            (Name::Disk, 10..12),
        ];
        assert_eq!(dealt, turns);
    }
}
