//! Pieces that are there for speed alone, and the server without one of them.
//!
//! `--without NAME` measures, beside each subject that has the piece, the same
//! subject without it, in alternating passes of the same run.

use crate::{
    Outcome,
    subject::Subject::{self, Embedded, Server},
};

/// Something that a trusted library, or nothing, could stand in for.
#[derive(Debug)]
pub(crate) struct Piece {
    name: &'static str,
    /// The subject's name without it.
    pub(crate) title: &'static str,
    about: &'static str,
    /// What has it.
    subjects: &'static [Subject],
    /// The variables of the environment that leave it out.
    pub(crate) variables: &'static [(&'static str, &'static str)],
}

const PIECES: &[Piece] = &[
    Piece {
        name: "sqlite-thread",
        title: "no SQLite thread",
        about: "sea-orm writes, as with PostgreSQL",
        subjects: &[Server],
        variables: &[("WEBHOOK_SQLITE_THREAD", "false")],
    },
    Piece {
        name: "core-runtimes",
        title: "no core runtimes",
        about: "one runtime with several threads",
        subjects: &[Server, Embedded],
        variables: &[("WEBHOOK_CORE_RUNTIMES", "false")],
    },
];

impl Piece {
    pub(crate) fn is_in(&self, subject: Subject) -> bool {
        self.subjects.contains(&subject)
    }
}

/// Those with these names.
pub(crate) fn chosen(names: &[String]) -> Outcome<Vec<&'static Piece>> {
    let named = |name: &String| {
        let found = PIECES.iter().find(|piece| piece.name == name);
        found.ok_or_else(|| format!("there is no piece {name}; --list names them").into())
    };
    names.iter().map(named).collect()
}

pub(crate) fn print_list() -> Outcome<()> {
    use std::io::Write;
    let mut stdout = std::io::stdout().lock();
    for Piece { name, about, .. } in PIECES {
        writeln!(stdout, "--without {name:20}{about}")?;
    }
    Ok(())
}
