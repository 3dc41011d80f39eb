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

use super::Limit;
use crate::lua::compile::Program;
use crate::lua::wait::{Answer, Wish};
use crate::modules::kv::Owner;

/// The state that a VM's functions share.
pub(crate) struct Host {
    pub(crate) limits: Arc<ScriptLimits>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) program: Arc<Program>,
    /// Tables that live as long as the VM.
    pub(crate) tables: OnceCell<Tables>,
    pub(crate) script: RefCell<Script>,
    /// The limit that ends the call.
    exceeded: Cell<Option<Limit>>,
    /// Whether the rest of a walk over a table is remembered.
    pub(crate) walking: Cell<bool>,
    /// Set when the function called next is called as a method of a string.
    pub(crate) method: Cell<bool>,
    /// The line of the call of the host's function that is called next, where no frame knows it.
    pub(crate) origin: Cell<Option<u32>>,
    /// Why the last function returned nil, and on which line.
    pub(crate) failure: RefCell<Option<(u32, String)>>,
    pub(crate) wish: RefCell<Option<Wish>>,
    pub(crate) answer: RefCell<Option<Answer>>,
}

/// Tables that live as long as the VM; scripts get copies of what they could change.
pub(crate) struct Tables {
    /// The libraries and functions by global name.
    pub(crate) globals: StashedTable,
    /// The functions that methods of strings are.
    pub(crate) string: StashedTable,
    /// The modules by name.
    pub(crate) modules: StashedTable,
    /// The metatable that guards tables from which keys were removed.
    pub(crate) guard: StashedTable,
    /// The metatable that marks a table as an empty JSON object.
    pub(crate) object: StashedTable,
    /// `json.null`
    pub(crate) null: StashedUserData,
    /// The functions of `r`, and its metatables.
    pub(crate) request: StashedTable,
}

/// What belongs to one call of the script.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) request: Option<Request>,
    pub(crate) response: Option<ScriptResponse>,
    pub(crate) response_modified: bool,
    pub(crate) stop_forwarding: bool,
    pub(crate) config: Arc<BTreeMap<String, String>>,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) checks: Checks,
    pub(crate) logs: Vec<String>,
    pub(crate) log_bytes: usize,
    pub(crate) http_calls: usize,
    pub(crate) kv_calls: usize,
    /// Whose keys the script works on.
    pub(crate) owner: Option<Owner>,
    pub(crate) compute_time: Duration,
    /// The script's own copy of `string`.
    pub(crate) string: Option<StashedTable>,
    /// The modules that the script has loaded, its copies of metatables and what `r` has shown.
    pub(crate) kept: Option<StashedTable>,
}

impl Host {
    pub(crate) fn new(
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
    pub(crate) fn begin(&self, script: Script) {
        self.exceeded.set(None);
        self.walking.set(false);
        self.method.set(false);
        self.origin.set(None);
        self.failure.take();
        self.wish.take();
        self.answer.take();
        self.script.replace(script);
    }

    pub(crate) fn exceed(&self, limit: Limit) {
        // The first one is the cause.
        if self.exceeded.get().is_none() {
            self.exceeded.set(Some(limit));
        }
    }

    pub(crate) fn exceeded(&self) -> Option<Limit> {
        self.exceeded.get()
    }

    /// A table that lives as long as the call.
    pub(crate) fn kept<'gc>(&self, ctx: Context<'gc>) -> Table<'gc> {
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
    pub(crate) fn string_table<'gc>(&self, ctx: Context<'gc>) -> Option<Table<'gc>> {
        match &self.script.borrow().string {
            Some(string) => Some(ctx.fetch(string)),
            None => self.tables.get().map(|tables| ctx.fetch(&tables.string)),
        }
    }

    /// Adds a line to the captured output, as far as there is room.
    pub(crate) fn log(&self, line: &[u8]) {
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
