//! Which global names a source uses, so that a call sets up no more than those.

use std::collections::BTreeMap;

use super::ast::Name;

/// How a global name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlobalUse {
    /// Only as `name.field` or `name(…)`: what it holds cannot be changed.
    Read,
    /// In any way: a table must be the script's own copy.
    Bare,
}

/// The global names of a source.
#[derive(Debug, Default)]
pub(crate) struct Globals {
    names: BTreeMap<Name, GlobalUse>,
    dynamic: bool,
}

impl Globals {
    pub(super) fn read(&mut self, name: &Name) {
        self.dynamic |= matches!(&**name, b"_G" | b"_ENV");
        self.names.entry(Name::clone(name)).or_insert(GlobalUse::Read);
    }

    pub(super) fn bare(&mut self, name: &Name) {
        self.dynamic |= matches!(&**name, b"_G" | b"_ENV");
        self.names.insert(Name::clone(name), GlobalUse::Bare);
    }

    /// How `name` is used, `None` when it is not.
    ///
    /// A source that mentions `_G` or `_ENV` may use every name in any way.
    pub(crate) fn usage(&self, name: &[u8]) -> Option<GlobalUse> {
        if self.dynamic {
            return Some(GlobalUse::Bare);
        }
        self.names.get(name).copied()
    }
}
