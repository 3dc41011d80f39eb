//! What the operands of a line are called, for error messages.

use std::sync::Arc;

/// What an operation does with the value that may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Use {
    Index,
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

/// Names of values by the line on which they are used.
#[derive(Debug, Default)]
pub(in super::super) struct Sites {
    sites: Vec<Site>,
}

impl Sites {
    pub(super) fn add(&mut self, line: u32, what: Use, name: Option<String>) {
        self.sites.push(Site { line, what, name: name.map(Arc::from) });
    }

    pub(super) fn finish(&mut self) {
        self.sites.sort_by_key(|site| site.line);
    }

    /// The name of the value when the line has no other one that is used so.
    pub(in super::super) fn name(&self, line: u32, what: Use) -> Option<&str> {
        let start = self.sites.partition_point(|site| site.line < line);
        let sites = self.sites.get(start..)?.iter();
        let mut sites = sites.take_while(|site| site.line == line).filter(|s| s.what == what);
        let first = sites.next()?.name.as_deref()?;
        sites.all(|site| site.name.as_deref() == Some(first)).then_some(first)
    }
}
