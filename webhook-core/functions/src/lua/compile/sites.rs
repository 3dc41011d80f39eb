//! What the operands of a line are called, for error messages.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// What an operation does with the value that may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    Index,
    /// The receiver of a method.
    Receiver,
    Call,
    Length,
    /// The operand of an operator, from 0.
    Operand(u8),
}

#[derive(Debug)]
struct Site {
    line: u32,
    what: Use,
    /// `local 'x'`; nothing when the value has no name.
    name: Option<Arc<str>>,
}

/// Lines that the VM's own error does not explain, so that the host does what it would do there.
#[derive(Debug, Default)]
pub(super) struct Ambiguous(HashSet<(u32, Use)>);

impl Ambiguous {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, line: u32, what: Use) -> bool {
        self.0.contains(&(line, what))
    }
}

/// Names of values by the line on which they are used.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    sites: Vec<Site>,
}

impl Sites {
    pub(super) fn add(&mut self, line: u32, what: Use, name: Option<String>) {
        self.sites.push(Site { line, what, name: name.map(Arc::from) });
    }

    /// The lines on which more than one value may be the one that cannot be indexed, or called.
    pub(super) fn ambiguous(&self) -> Ambiguous {
        let mut first: HashMap<(u32, Use), Option<&str>> = HashMap::new();
        let mut lines = HashSet::new();
        for site in self.sites.iter().filter(|site| matches!(site.what, Use::Index | Use::Call)) {
            let (key, name) = ((site.line, site.what), site.name.as_deref());
            if *first.entry(key).or_insert(name) != name {
                lines.insert(key);
            }
        }
        Ambiguous(lines)
    }

    pub(super) fn finish(&mut self) {
        self.sites.sort_by_key(|site| site.line);
    }

    /// The name of the value when the line has no other one that is used so.
    pub(crate) fn name(&self, line: u32, what: Use) -> Option<&str> {
        let start = self.sites.partition_point(|site| site.line < line);
        let sites = self.sites.get(start..)?.iter();
        let mut sites = sites.take_while(|site| site.line == line).filter(|s| s.what == what);
        let first = sites.next()?.name.as_deref()?;
        sites.all(|site| site.name.as_deref() == Some(first)).then_some(first)
    }
}
