//! What the functions of one VM share: the call that runs and what the script did so far.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::BTreeMap,
    sync::Arc,
    time::Duration,
};

use piccolo::{Context, StashedTable, StashedUserData, Table};
use webhook_core::{
    Clock,
    function::{ScriptLimits, ScriptResponse},
    model::{Checks, Request},
};

use super::limit::Limit;
use crate::lua::compile::Program;
use crate::lua::wait::{Answer, Wish};
use crate::modules::kv::Owner;

/// The state that a VM's functions share.
pub(in super::super) struct Host {
    pub(in super::super) limits: Arc<ScriptLimits>,
    pub(in super::super) clock: Arc<dyn Clock>,
    pub(in super::super) program: Arc<Program>,
    /// Tables that live as long as the VM.
    pub(in super::super) tables: OnceCell<Tables>,
    pub(in super::super) script: RefCell<Script>,
    /// The limit that ends the call.
    exceeded: Cell<Option<Limit>>,
    /// Whether the rest of a walk over a table is remembered.
    pub(in super::super) walking: Cell<bool>,
    /// Set when the function called next is called as a method of a string.
    pub(in super::super) method: Cell<bool>,
    /// The line of the call of the host's function that is called next, where no frame knows it.
    pub(in super::super) origin: Cell<Option<u32>>,
    /// Why the last function returned nil, and on which line.
    pub(in super::super) failure: RefCell<Option<(u32, String)>>,
    pub(in super::super) wish: RefCell<Option<Wish>>,
    pub(in super::super) answer: RefCell<Option<Answer>>,
}

/// Tables that live as long as the VM; scripts get copies of what they could change.
pub(in super::super) struct Tables {
    /// The libraries and functions by global name.
    pub(in super::super) globals: StashedTable,
    /// The functions that methods of strings are.
    pub(in super::super) string: StashedTable,
    /// The modules by name.
    pub(in super::super) modules: StashedTable,
    /// The metatable that guards tables from which keys were removed.
    pub(in super::super) guard: StashedTable,
    /// The metatable that marks a table as an empty JSON object.
    pub(in super::super) object: StashedTable,
    /// `json.null`
    pub(in super::super) null: StashedUserData,
    /// The functions of `r`, and its metatables.
    pub(in super::super) request: StashedTable,
}

/// What belongs to one call of the script.
#[derive(Default)]
pub(in super::super) struct Script {
    pub(in super::super) request: Option<Request>,
    pub(in super::super) response: Option<ScriptResponse>,
    pub(in super::super) response_modified: bool,
    pub(in super::super) stop_forwarding: bool,
    pub(in super::super) config: Arc<BTreeMap<String, String>>,
    pub(in super::super) metadata: BTreeMap<String, String>,
    pub(in super::super) checks: Checks,
    pub(in super::super) logs: Vec<String>,
    pub(in super::super) log_bytes: usize,
    pub(in super::super) http_calls: usize,
    pub(in super::super) kv_calls: usize,
    /// Whose keys the script works on.
    pub(in super::super) owner: Option<Owner>,
    pub(in super::super) compute_time: Duration,
    /// The script's own copy of `string`.
    pub(in super::super) string: Option<StashedTable>,
    /// The modules that the script has loaded, its copies of metatables and what `r` has shown.
    pub(in super::super) kept: Option<StashedTable>,
}

impl Host {
    pub(in super::super) fn new(
        limits: Arc<ScriptLimits>,
        clock: Arc<dyn Clock>,
        program: Arc<Program>,
    ) -> Self {
        Self {
            limits,
            clock,
            program,
            tables: OnceCell::new(),
            script: RefCell::default(),
            exceeded: Cell::new(None),
            walking: Cell::new(false),
            method: Cell::new(false),
            origin: Cell::new(None),
            failure: RefCell::default(),
            wish: RefCell::default(),
            answer: RefCell::default(),
        }
    }

    /// Takes in a call.
    pub(in super::super) fn begin(&self, script: Script) {
        self.exceeded.set(None);
        self.walking.set(false);
        self.method.set(false);
        self.origin.set(None);
        self.failure.take();
        self.wish.take();
        self.answer.take();
        self.script.replace(script);
    }

    pub(in super::super) fn exceed(&self, limit: Limit) {
        // The first one is the cause.
        if self.exceeded.get().is_none() {
            self.exceeded.set(Some(limit));
        }
    }

    pub(in super::super) fn exceeded(&self) -> Option<Limit> {
        self.exceeded.get()
    }

    /// A table that lives as long as the call.
    pub(in super::super) fn kept<'gc>(&self, ctx: Context<'gc>) -> Table<'gc> {
        let mut script = self.script.borrow_mut();
        match &script.kept {
            Some(kept) => ctx.fetch(kept),
            None => {
                let kept = Table::new(&ctx);
                script.kept = Some(ctx.stash(kept));
                kept
            }
        }
    }

    /// The functions that strings have as methods: the script's own table when it has one.
    pub(in super::super) fn string_table<'gc>(&self, ctx: Context<'gc>) -> Option<Table<'gc>> {
        match &self.script.borrow().string {
            Some(string) => Some(ctx.fetch(string)),
            None => self.tables.get().map(|tables| ctx.fetch(&tables.string)),
        }
    }

    /// Adds a line to the captured output, as far as there is room.
    pub(in super::super) fn log(&self, line: &[u8]) {
        let mut script = self.script.borrow_mut();
        let left = self.limits.log_bytes.saturating_sub(script.log_bytes);
        if left == 0 {
            return;
        }
        let text = String::from_utf8_lossy(line.get(..left).unwrap_or(line)).into_owned();
        // An empty line costs too, or there could be any number of them.
        script.log_bytes += text.len().max(1) + 1;
        script.logs.push(text);
    }
}
