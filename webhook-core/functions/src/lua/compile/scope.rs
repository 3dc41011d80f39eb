//! Which variable a name means, and which labels a `goto` can see.

use piccolo::compiler::parser as p;

use super::ast::{Block, Name};

/// What a name means where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    Local,
    Upvalue,
    Global,
}

/// What is known of all values that a variable ever holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    Number,
    Table,
    Function,
}

struct Variable {
    name: Name,
    function: usize,
    kind: Kind,
}

struct Function {
    /// How many parameters come before `...`, when there is one.
    varargs: Option<usize>,
    loops: usize,
    /// The labels of each open block, with the line of those that have come by.
    labels: Vec<Vec<(Name, Option<u32>)>>,
}

/// The variables, functions and blocks that are open.
#[derive(Default)]
pub(super) struct Scopes {
    variables: Vec<Variable>,
    blocks: Vec<usize>,
    functions: Vec<Function>,
}

impl Scopes {
    pub(super) fn open_function(&mut self, varargs: Option<usize>) {
        self.functions.push(Function { varargs, loops: 0, labels: Vec::new() });
        self.blocks.push(self.variables.len());
    }

    pub(super) fn close_function(&mut self) {
        self.functions.pop();
        self.forget();
    }

    pub(super) fn open_block(&mut self, block: &Block) {
        let labels = block.statements.iter().filter_map(|statement| match &statement.inner {
            p::Statement::Label(label) => Some((Name::clone(&label.name), None)),
            _ => None,
        });
        let labels = labels.collect();
        if let Some(function) = self.functions.last_mut() {
            function.labels.push(labels);
        }
        self.blocks.push(self.variables.len());
    }

    pub(super) fn close_block(&mut self) {
        if let Some(function) = self.functions.last_mut() {
            function.labels.pop();
        }
        self.forget();
    }

    fn forget(&mut self) {
        if let Some(bottom) = self.blocks.pop() {
            self.variables.truncate(bottom);
        }
    }

    pub(super) fn open_loop(&mut self) {
        if let Some(function) = self.functions.last_mut() {
            function.loops += 1;
        }
    }

    pub(super) fn close_loop(&mut self) {
        if let Some(function) = self.functions.last_mut() {
            function.loops -= 1;
        }
    }

    pub(super) fn declare(&mut self, name: &Name, kind: Kind) {
        let function = self.functions.len();
        self.variables.push(Variable { name: Name::clone(name), function, kind });
    }

    pub(super) fn binding(&self, name: &Name) -> Binding {
        match self.find(name) {
            Some(variable) if variable.function == self.functions.len() => Binding::Local,
            Some(_) => Binding::Upvalue,
            None => Binding::Global,
        }
    }

    pub(super) fn kind(&self, name: &Name) -> Kind {
        self.find(name).map_or(Kind::Any, |variable| variable.kind)
    }

    fn find(&self, name: &Name) -> Option<&Variable> {
        self.variables.iter().rev().find(|variable| variable.name == *name)
    }

    /// How many parameters come before `...` in this function, when it has one.
    pub(super) fn parameters_before_varargs(&self) -> Option<usize> {
        self.functions.last().and_then(|function| function.varargs)
    }

    pub(super) fn in_loop(&self) -> bool {
        self.functions.last().is_some_and(|function| function.loops > 0)
    }

    pub(super) fn has_label(&self, name: &Name) -> bool {
        let labels = self.functions.last().map(|function| &function.labels);
        labels.is_some_and(|blocks| blocks.iter().flatten().any(|(label, _)| label == name))
    }

    /// Takes note of a label; the line of the one that has the name already, if there is one.
    pub(super) fn declare_label(&mut self, name: &Name, line: u32) -> Option<u32> {
        let blocks = &mut self.functions.last_mut()?.labels;
        let taken = blocks.iter().flatten().find_map(|(l, line)| line.filter(|_| l == name));
        if taken.is_none() {
            let label = blocks.last_mut()?.iter_mut().find(|(label, _)| label == name)?;
            label.1 = Some(line);
        }
        taken
    }
}
