//! Assignments: all values before any target, and nil stored by a helper.
//!
//! piccolo assigns each value before it evaluates the next, so that `a, b = b, a`
//! loses one. And when nil is stored under a string it leaves a dead key behind
//! that makes the table panic when it grows, so [`Helper::Delete`] does that.

use piccolo::compiler::parser as p;

use super::{
    ast::{self, Expr, Line, Name},
    helper::Helper,
    mentions::Mentions,
    named::known_key,
    rewrite::{Result, Rewriter},
    scope::{Binding, Kind},
};

type Target = p::AssignmentTarget<Name>;

/// A rewritten target, evaluated except for the store.
#[derive(Clone)]
enum Place {
    Variable(Name),
    Field { table: Expr, key: Expr },
}

impl Rewriter {
    pub(super) fn local(
        &mut self,
        statement: p::LocalStatement<Name>,
        out: &mut Vec<Line>,
    ) -> Result<()> {
        let p::LocalStatement { names, values } = statement;
        let risky = values.iter().any(|value| self.is_risky(value));
        self.mark_if(risky, out);
        // A name is visible to piccolo as soon as its own value is evaluated.
        let clash = names.len() > 1
            && values.iter().enumerate().skip(1).any(|(index, value)| {
                let read = Mentions::of_expr(value).read;
                names.iter().take(index).any(|name| read.contains(name))
            });
        let one_each = names.len() == values.len();
        let kinds: Vec<_> = values.iter().map(|value| self.kind_of(value)).collect();
        let mut values = self.value_list(values, names.len())?;
        if clash {
            let held: Vec<_> = (0..names.len()).map(temporary).collect();
            self.push(ast::local(held.clone(), values), out);
            values = held.iter().map(ast::variable).collect();
        }
        for (index, name) in names.iter().enumerate() {
            let kind = kinds.get(index).copied().filter(|_| one_each).unwrap_or(Kind::Any);
            let kind = self.fixed(name, kind);
            self.scopes.declare(name, kind);
        }
        self.push(ast::local(names, values), out);
        Ok(())
    }

    fn kind_of(&self, value: &Expr) -> Kind {
        match ast::as_simple(value) {
            Some(p::SimpleExpression::TableConstructor(_)) => Kind::Table,
            Some(p::SimpleExpression::Function(_)) => Kind::Function,
            _ if self.is_number(value) => Kind::Number,
            _ => Kind::Any,
        }
    }

    pub(super) fn assignment(
        &mut self,
        statement: p::AssignmentStatement<Name>,
        out: &mut Vec<Line>,
    ) -> Result<()> {
        let p::AssignmentStatement { mut targets, mut values } = statement;
        let risky = values.iter().any(|value| self.is_risky(value))
            || targets.iter().any(|target| matches!(target, Target::Field(..)));
        self.mark_if(risky, out);
        let events: Vec<_> = targets.iter().zip(&values).map(|(t, v)| is_event(t, v)).collect();
        if targets.len() == 1 && values.len() == 1 && !events.contains(&true) {
            if let (Some(target), Some(value)) = (targets.pop(), values.pop()) {
                return self.assign_one(target, value, out);
            }
            return Ok(());
        }
        let mut inner = Vec::new();
        let mut places = Vec::new();
        for (index, target) in targets.into_iter().enumerate() {
            places.push(self.hold(target, index, &mut inner)?);
        }
        let held: Vec<_> = (0..places.len()).map(temporary).collect();
        let maybe_nil: Vec<_> = (0..places.len())
            .map(|index| values.get(index).is_none_or(|value| self.may_be_nil(value)))
            .collect();
        let values = self.value_list(values, places.len())?;
        self.push(ast::local(held.clone(), values), &mut inner);
        // As Lua does it, from the last to the first.
        for (index, place) in places.into_iter().enumerate().rev() {
            let nil = maybe_nil.get(index).copied().unwrap_or(true);
            let event = events.get(index).copied().unwrap_or(false).then(|| place.clone());
            self.store(place, &held[index], nil, &mut inner);
            if let Some(place) = event {
                let (table, key) = Self::field_of(place);
                let chain = self.helper(Helper::Chain);
                self.push(ast::call_statement(&chain, vec![table, key]), &mut inner);
            }
        }
        self.push(p::Statement::Do(ast::block(inner, self.line)), out);
        Ok(())
    }

    fn assign_one(&mut self, target: Target, value: Expr, out: &mut Vec<Line>) -> Result<()> {
        let may_be_nil = self.may_be_nil(&value);
        let is_nil = matches!(ast::as_simple(&value), Some(p::SimpleExpression::Nil));
        let global = match &target {
            Target::Name(name) => self.scopes.binding(name) == Binding::Global,
            Target::Field(..) => true,
        };
        let mut inner = Vec::new();
        let simple = is_simple(&target);
        let place = if simple || !may_be_nil || is_nil {
            self.place(target)?
        } else {
            self.hold(target, 0, &mut inner)?
        };
        let value = self.expr(value, false)?;
        if !global || !may_be_nil {
            let target = into_target(place);
            self.push(ast::assign(target, value), out);
            return Ok(());
        }
        if is_nil {
            let (table, key) = Self::field_of(place);
            let delete = self.helper(Helper::Delete);
            self.push(ast::call_statement(&delete, vec![table, key]), out);
            return Ok(());
        }
        let plain = ast::as_suffixed(&value).filter(|value| value.suffixes.is_empty());
        match plain.map(|value| &value.primary) {
            Some(p::PrimaryExpression::Name(name)) if inner.is_empty() => {
                let name = Name::clone(name);
                self.store(place, &name, true, out);
            }
            _ => {
                let held = temporary(0);
                self.push(ast::local(vec![Name::clone(&held)], vec![value]), &mut inner);
                self.store(place, &held, true, &mut inner);
                self.push(p::Statement::Do(ast::block(inner, self.line)), out);
            }
        }
        Ok(())
    }

    /// Stores a variable's value; when it may be nil and the place is in a table, either way.
    fn store(&mut self, place: Place, value: &Name, may_be_nil: bool, out: &mut Vec<Line>) {
        let local = match &place {
            Place::Variable(name) => self.scopes.binding(name) != Binding::Global,
            Place::Field { .. } => false,
        };
        if local || !may_be_nil {
            self.push(ast::assign(into_target(place), ast::variable(value)), out);
            return;
        }
        // if value == nil then delete(table, key) else table[key] = value end
        let (table, key) = Self::field_of(place.clone());
        let delete = self.helper(Helper::Delete);
        let line = self.line;
        let mut absent = Vec::new();
        self.push(ast::call_statement(&delete, vec![table, key]), &mut absent);
        let mut present = Vec::new();
        self.push(ast::assign(into_target(place), ast::variable(value)), &mut present);
        let nil = ast::simple(p::SimpleExpression::Nil);
        let condition = ast::binary(ast::variable(value), p::BinaryOperator::Equal, nil);
        let (absent, present) = (ast::block(absent, line), ast::block(present, line));
        self.push(ast::if_else(condition, absent, Some(present)), out);
    }

    /// A global variable as a field of the environment.
    fn field_of(place: Place) -> (Expr, Expr) {
        match place {
            Place::Variable(name) => (ast::variable(&Name::from(&b"_ENV"[..])), ast::string(&name)),
            Place::Field { table, key } => (table, key),
        }
    }

    fn place(&mut self, target: Target) -> Result<Place> {
        Ok(match target {
            Target::Name(name) => Place::Variable(name),
            Target::Field(table, field) => {
                let table = self.stored_into(table)?;
                let key = match field {
                    p::FieldSuffix::Named(name) => ast::string(&name),
                    p::FieldSuffix::Indexed(key) => self.expr(key, false)?,
                };
                Place::Field { table: ast::suffixed(table), key }
            }
        })
    }

    /// Evaluates the table and the key into variables.
    fn hold(&mut self, target: Target, index: usize, out: &mut Vec<Line>) -> Result<Place> {
        Ok(match self.place(target)? {
            Place::Field { table, key } => {
                let names = [format!("@table{index}"), format!("@key{index}")];
                let [held_table, held_key] = names.map(|name| Name::from(name.as_bytes()));
                self.push(ast::local(vec![Name::clone(&held_table)], vec![table]), out);
                let constant = matches!(ast::as_simple(&key), Some(simple) if is_constant(simple));
                let key = if constant {
                    key
                } else {
                    self.push(ast::local(vec![Name::clone(&held_key)], vec![key]), out);
                    ast::variable(&held_key)
                };
                Place::Field { table: ast::variable(&held_table), key }
            }
            variable @ Place::Variable(_) => variable,
        })
    }

    /// Whether storing the value may store nil.
    fn may_be_nil(&self, value: &Expr) -> bool {
        match value.tail.last() {
            Some((p::BinaryOperator::Or, right)) => self.may_be_nil(right),
            Some((p::BinaryOperator::And, _)) => true,
            Some(_) => value
                .tail
                .iter()
                .any(|(op, _)| matches!(op, p::BinaryOperator::Or | p::BinaryOperator::And)),
            None => match &*value.head {
                p::HeadExpression::UnaryOperator(..) => false,
                p::HeadExpression::Simple(p::SimpleExpression::Suffixed(suffixed)) => {
                    match &suffixed.primary {
                        p::PrimaryExpression::GroupedExpression(inner)
                            if suffixed.suffixes.is_empty() =>
                        {
                            self.may_be_nil(inner)
                        }
                        _ => true,
                    }
                }
                p::HeadExpression::Simple(simple) => {
                    matches!(simple, p::SimpleExpression::Nil | p::SimpleExpression::VarArgs)
                }
            },
        }
    }
}

fn temporary(index: usize) -> Name {
    Name::from(format!("@value{index}").as_bytes())
}

pub(super) fn is_constant(simple: &p::SimpleExpression<Name>) -> bool {
    matches!(
        simple,
        p::SimpleExpression::String(_)
            | p::SimpleExpression::Integer(_)
            | p::SimpleExpression::Float(_)
            | p::SimpleExpression::True
            | p::SimpleExpression::False
    )
}

/// Whether the target is a field that metatables have for tables to look further in, and the value may be a table.
fn is_event(target: &Target, value: &Expr) -> bool {
    let Target::Field(_, field) = target else { return false };
    let function = matches!(ast::as_simple(value), Some(p::SimpleExpression::Function(_)));
    !function && known_key(field).is_some_and(|name| matches!(&**name, b"__index" | b"__newindex"))
}

/// Whether evaluating the target twice is as good as once.
fn is_simple(target: &Target) -> bool {
    match target {
        Target::Name(_) => true,
        Target::Field(table, field) => {
            let plain = |s: &ast::Suffixed| {
                s.suffixes.is_empty() && matches!(s.primary, p::PrimaryExpression::Name(_))
            };
            plain(table)
                && match field {
                    p::FieldSuffix::Named(_) => true,
                    p::FieldSuffix::Indexed(key) => {
                        ast::as_suffixed(key).is_some_and(plain)
                            || ast::as_simple(key).is_some_and(is_constant)
                    }
                }
        }
    }
}

fn into_target(place: Place) -> Target {
    match place {
        Place::Variable(name) => Target::Name(name),
        Place::Field { table, key } => {
            let table = match ast::as_suffixed(&table) {
                Some(suffixed) => suffixed.clone(),
                None => ast::grouped(table),
            };
            Target::Field(table, p::FieldSuffix::Indexed(key))
        }
    }
}
