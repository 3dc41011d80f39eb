//! Pieces that are there for speed alone, and the server without one of them.
//!
//! `--without NAME` measures, beside each subject that has the piece, the same
//! subject without it, in alternating passes of the same run.

use crate::{
    Outcome,
    subject::Subject::{self, Embedded, Server, Store},
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
    /// How it is left out.
    pub(crate) switch: Switch,
}

/// How a piece is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Switch {
    /// By variables of the environment.
    Variables(&'static [(&'static str, &'static str)]),
    /// By a build without this feature of `webhook-server` and of the harness.
    Feature(&'static str),
}

const PIECES: &[Piece] = &[
    Piece {
        name: "http1-server",
        title: "no http1 server",
        about: "hyper serves every connection",
        subjects: &[Server, Embedded],
        switch: Switch::Variables(&[("WEBHOOK_WITHOUT", "http1-server")]),
    },
    Piece {
        name: "http1-client",
        title: "no http1 client",
        about: "hyper sends every request",
        subjects: &[Server, Embedded],
        switch: Switch::Variables(&[("WEBHOOK_WITHOUT", "http1-client")]),
    },
    Piece {
        name: "http1",
        title: "no http1 at all",
        about: "hyper on both sides",
        subjects: &[Server, Embedded],
        switch: Switch::Variables(&[("WEBHOOK_WITHOUT", "http1-server,http1-client")]),
    },
    Piece {
        name: "rusqlite",
        title: "no rusqlite",
        about: "sea-orm writes everything",
        subjects: &[Server, Store],
        switch: Switch::Variables(&[("WEBHOOK_WITHOUT", "rusqlite")]),
    },
    Piece {
        name: "bound-cores",
        title: "no bound cores",
        about: "threads run on any core",
        subjects: &[Server],
        switch: Switch::Variables(&[("WEBHOOK_BIND_CORES", "false")]),
    },
    Piece {
        name: "core-runtimes",
        title: "no core runtimes",
        about: "one runtime with several threads",
        subjects: &[Server, Embedded],
        switch: Switch::Variables(&[("WEBHOOK_WITHOUT", "core-runtimes")]),
    },
    Piece {
        name: "all",
        title: "none of them",
        about: "the libraries' ways, but for rusqlite",
        subjects: &[Server],
        switch: Switch::Variables(&[(
            "WEBHOOK_WITHOUT",
            "http1-server,http1-client,core-runtimes",
        )]),
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
