//! What is measured, and beside what.

use crate::{
    Outcome,
    subject::Subject::{
        self, Bare, ByDay, ByHand, Embedded, Nginx, Postgres, Proxy, Qhook, Searched, Server,
        Store, Throttled, Trusting, Unscripted, Watched,
    },
    work::{
        Work,
        commit::Commits,
        load::{Code, Inputs, Load, Place},
    },
};

/// One thing that is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The first is compared with the others.
    pub(crate) subjects: &'static [Subject],
    pub(crate) work: Work,
}

const FORWARDING: &[Subject] = &[Server, Nginx, Proxy, Qhook];
const PROXYING: &[Subject] = &[Server, Nginx];
const ALONE: &[Subject] = &[Server];
const SCRIPTED: &[Subject] = &[Server, Unscripted, Nginx];
const STORING: &[Subject] = &[Store, Bare];

const fn load(name: &'static str, about: &'static str, load: Load) -> Scenario {
    Scenario { name, about, subjects: PROXYING, work: Work::Load(load) }
}

/// A function of the output, next to the same without it.
const fn scripted(name: &'static str, about: &'static str, code: Code) -> Scenario {
    let work = Load { function: Some((Place::Output, code)), ..ORDINARY };
    Scenario { name, about, subjects: SCRIPTED, work: Work::Load(work) }
}

const fn alone(name: &'static str, about: &'static str, work: Work) -> Scenario {
    Scenario { name, about, subjects: ALONE, work }
}

const fn store(name: &'static str, about: &'static str, commits: Commits) -> Scenario {
    Scenario { name, about, subjects: STORING, work: Work::Commit(commits) }
}

/// Of the store only: bare SQLite keeps no outcomes.
const fn alone_store(name: &'static str, about: &'static str, commits: Commits) -> Scenario {
    Scenario { name, about, subjects: &[Store], work: Work::Commit(commits) }
}

const ORDINARY: Load = Load::ORDINARY;

/// All scenarios, in the order of a full run.
pub(crate) const ALL: &[Scenario] = &[
    Scenario {
        subjects: &[Server, Nginx, Proxy, Qhook, Bare],
        ..load(
            "cycle-1",
            "accept, commit, acknowledge, deliver, store the outcome; 1 connection, 1 KiB",
            Load { connections: 1, ..ORDINARY },
        )
    },
    Scenario { subjects: FORWARDING, ..load("cycle-64", "the same with 64 connections", ORDINARY) },
    Scenario {
        subjects: &[Postgres, ByHand, Server],
        ..load(
            "cycle-64-postgres",
            "cycle-64 on PostgreSQL, the same rows by hand, and SQLite (--postgres)",
            ORDINARY,
        )
    },
    Scenario {
        subjects: &[Postgres],
        ..load(
            "cycle-64-postgres-buckets-50",
            "the same over 50 buckets (--postgres)",
            Load { inputs: Inputs::Buckets(50), ..ORDINARY },
        )
    },
    Scenario {
        subjects: &[Throttled, Postgres],
        ..load(
            "cycle-64-postgres-throttled",
            "the same with an owner of the output's queue, and without (--postgres)",
            ORDINARY,
        )
    },
    Scenario {
        subjects: &[Server, Watched],
        ..load("cycle-64-watched", "cycle-64, and the same beside ten live lists", ORDINARY)
    },
    Scenario {
        subjects: &[Searched, Server],
        ..load(
            "cycle-64-searched",
            "cycle-64 while ten searches go on in the logs of five accounts, and without them",
            Load { inputs: Inputs::Archives, ..ORDINARY },
        )
    },
    Scenario {
        subjects: FORWARDING,
        ..load("cycle-512", "the same with 512 connections", Load { connections: 512, ..ORDINARY })
    },
    load(
        "cycle-64-buckets-100",
        "64 connections to the inputs of 100 buckets in turn",
        Load { inputs: Inputs::Buckets(100), ..ORDINARY },
    ),
    load(
        "cycle-64-buckets-1000",
        "the same over 1 000 buckets",
        Load { inputs: Inputs::Buckets(1_000), ..ORDINARY },
    ),
    load(
        "unloaded",
        "50 webhooks a second: from the acknowledgement to the destination",
        Load { connections: 4, rate: Some(50.0), ..ORDINARY },
    ),
    load(
        "steady",
        "2 000 webhooks a second whether or not they are answered (open loop)",
        Load { rate: Some(2_000.0), ..ORDINARY },
    ),
    load(
        "fan-out",
        "64 connections, 1 KiB, each webhook to 10 outputs",
        Load { outputs: 10, ..ORDINARY },
    ),
    load("body-16k", "64 connections, 16 KiB", Load { body_bytes: 16 << 10, ..ORDINARY }),
    load("body-256k", "64 connections, 256 KiB", Load { body_bytes: 256 << 10, ..ORDINARY }),
    load(
        "one-refusing",
        "10 outputs, one of which nobody listens at",
        Load { outputs: 9, refusing: true, ..ORDINARY },
    ),
    load(
        "one-hanging",
        "10 outputs, one of which never answers",
        Load { outputs: 9, hanging: true, ..ORDINARY },
    ),
    scripted("function-if", "a Lua function of the output is an `if` on the method", Code::LuaIf),
    scripted("function-js-if", "the same in JavaScript", Code::JavaScriptIf),
    scripted(
        "function-js-message",
        "a JavaScript function of the output makes a message of the payload",
        Code::JavaScriptMessage,
    ),
    load(
        "function",
        "64 connections, a Lua function of the output reads each payload",
        Load { function: Some((Place::Output, Code::Lua)), ..ORDINARY },
    ),
    load(
        "function-input",
        "the same with the input's function",
        Load { function: Some((Place::Input, Code::Lua)), ..ORDINARY },
    ),
    load(
        "function-js",
        "a JavaScript function of the output reads each payload",
        Load { function: Some((Place::Output, Code::JavaScript)), ..ORDINARY },
    ),
    load(
        "function-js-input",
        "the same with the input's function",
        Load { function: Some((Place::Input, Code::JavaScript)), ..ORDINARY },
    ),
    Scenario {
        subjects: &[Server, Trusting],
        ..load(
            "ingest-hmac",
            "64 connections, signed webhooks of 1 KiB: verified by HMAC-SHA256, and not",
            Load { secret: Some("It's a Secret to Everybody"), ..ORDINARY },
        )
    },
    load(
        "answer-from-output",
        "64 connections; the sender gets the destination's answer",
        Load { answer_from_output: true, ..ORDINARY },
    ),
    Scenario {
        subjects: &[Embedded, Nginx],
        ..load(
            "pass-through",
            "the same without storage: webhook-core in memory, inside another program",
            ORDINARY,
        )
    },
    load(
        "inputs-100k",
        "64 connections to 100 000 inputs in turn",
        Load { inputs: Inputs::Many, ..ORDINARY },
    ),
    store("store-64", "durable commits without HTTP, 64 callers", Commits::ORDINARY),
    store("store-512", "the same with 512 callers", Commits { callers: 512, ..Commits::ORDINARY }),
    store(
        "store-64-buckets-100",
        "64 callers, webhooks of 100 buckets in turn",
        Commits { buckets: 100, ..Commits::ORDINARY },
    ),
    store(
        "store-64-buckets-1000",
        "64 callers, webhooks of 1 000 buckets in turn",
        Commits { buckets: 1_000, ..Commits::ORDINARY },
    ),
    alone_store(
        "store-cycle-64",
        "64 callers, each webhook and then its outcome",
        Commits { outcomes: true, ..Commits::ORDINARY },
    ),
    alone_store(
        "store-cycle-64-buckets-100",
        "the same over 100 buckets",
        Commits { outcomes: true, buckets: 100, ..Commits::ORDINARY },
    ),
    alone_store(
        "store-cycle-64-buckets-1000",
        "the same over 1 000 buckets",
        Commits { outcomes: true, buckets: 1_000, ..Commits::ORDINARY },
    ),
    alone("start", "from the process to its first answer, nothing stored", Work::Start),
    alone("backlog", "start with a million pending deliveries, and their delivery", Work::Backlog),
    alone(
        "backlog-deleted",
        "300 webhooks a second beside the deletion of an output with a million deliveries",
        Work::DeletedBacklog,
    ),
    alone(
        "backlog-broken",
        "64 connections beside 200 000 deliveries whose destination refuses connections",
        Work::BrokenBacklog,
    ),
    alone("idle", "30 s without anything to do", Work::Idle),
    alone("overload", "a destination so slow that senders are refused", Work::Overload),
    alone("crash", "kill -9 in the middle of the load, and a restart", Work::Crash),
    alone("listing", "a bucket of a million logs, alone and beside full ingest", Work::Listing),
    alone(
        "search",
        "searches in a bucket of a million logs, alone and beside full ingest",
        Work::Search,
    ),
    alone(
        "replay",
        "fresh webhooks alone, and during a replay of 100 000 logs of the same output, 1 000 a second",
        Work::Replay { rate: 1_000 },
    ),
    alone(
        "replay-fastest",
        "the same, 10 000 a second or as many as there can be",
        Work::Replay { rate: 10_000 },
    ),
    alone(
        "management",
        "the management operations of an account with 100 buckets, one with 50 outputs",
        Work::Management,
    ),
    alone(
        "buckets-100k",
        "100 000 buckets of one account that 8 clients make, and pages of them",
        Work::Buckets,
    ),
    alone("dashboard", "the dashboard's pages over a bucket of a million logs", Work::Pages),
    alone("socket-1", "from a sender to one WebSocket client", Work::Socket { clients: 1 }),
    alone("socket-100", "from a sender to 100 WebSocket clients", Work::Socket { clients: 100 }),
    nodes("nodes-1", 1),
    nodes("nodes-2", 2),
    nodes("nodes-3", 3),
    Scenario {
        subjects: &[ByDay, Postgres],
        ..alone(
            "growth",
            "lists of a million and twenty million logs, and days of them that go (--postgres)",
            Work::Growth,
        )
    },
    alone("socket-idle", "memory of 1 000 idle WebSocket clients", Work::IdleSockets),
];

/// As many servers on one PostgreSQL database.
const fn nodes(name: &'static str, nodes: usize) -> Scenario {
    let about = "cycle-64 over several servers on one PostgreSQL database (--postgres)";
    Scenario { name, about, subjects: &[Postgres], work: Work::Nodes { nodes } }
}

/// Those with these names; all of them without names.
pub(crate) fn chosen(names: &[String]) -> Outcome<Vec<Scenario>> {
    if names.is_empty() {
        return Ok(ALL.to_vec());
    }
    let named = |name: &String| {
        let found = ALL.iter().find(|scenario| scenario.name == name).copied();
        found.ok_or_else(|| format!("there is no scenario {name}; --list names them").into())
    };
    names.iter().map(named).collect()
}

pub(crate) fn print_list() -> Outcome<()> {
    use std::io::Write;
    let mut stdout = std::io::stdout().lock();
    for Scenario { name, about, subjects, .. } in ALL {
        let subjects: Vec<_> = subjects.iter().map(|subject| subject.name()).collect();
        writeln!(stdout, "{name:30}{about} ({})", subjects.join(", "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_name_means_one_scenario() {
        let names: HashSet<_> = ALL.iter().map(|scenario| scenario.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert_eq!(chosen(&["idle".to_owned()]).expect("it is there")[0].name, "idle");
        assert!(chosen(&["no such".to_owned()]).is_err());
        assert_eq!(chosen(&[]).expect("all").len(), ALL.len());
    }
}
