//! What an expression finds.

use std::rc::Rc;

use super::parser::Expr;
use crate::modules::{Bounds, ModuleError, node::Node};

/// One search, within its bounds of memory and time.
pub(super) struct Search<'b> {
    pub(super) bounds: &'b mut Bounds,
}

impl Search<'_> {
    pub(super) fn eval<'j>(
        &mut self,
        expr: &Expr<'j>,
        value: &Node<'j>,
    ) -> Result<Node<'j>, ModuleError> {
        self.bounds.take(0)?;
        Ok(match expr {
            Expr::Current => value.clone(),
            Expr::Literal(literal) => literal.clone(),
            Expr::Field(name) => value.field(name, self.bounds)?.cloned().unwrap_or(Node::Null),
            Expr::Index(index) => match value {
                Node::List(items) => {
                    let place = absolute(*index, items.len());
                    place.and_then(|place| items.get(place)).cloned().unwrap_or(Node::Null)
                }
                _ => Node::Null,
            },
            Expr::Slice(numbers) => self.slice(*numbers, value)?,
            Expr::Then(first, then) => {
                let first = self.eval(first, value)?;
                self.eval(then, &first)?
            }
            Expr::Each(list, then) => match self.eval(list, value)? {
                Node::List(items) => self.each(items.iter(), then)?,
                _ => Node::Null,
            },
            Expr::EachValue(object, then) => match self.eval(object, value)? {
                Node::Object(fields) => self.each(fields.iter().map(|(_, value)| value), then)?,
                _ => Node::Null,
            },
            Expr::EachWhere { list, condition, then } => match self.eval(list, value)? {
                Node::List(items) => {
                    let mut chosen = Vec::new();
                    for item in items.iter() {
                        if self.eval(condition, item)?.holds() {
                            self.push(&mut chosen, item.clone())?;
                        }
                    }
                    self.each(chosen.iter(), then)?
                }
                _ => Node::Null,
            },
            Expr::Flat(list) => match self.eval(list, value)? {
                Node::List(items) => self.flat(&items)?,
                _ => Node::Null,
            },
            Expr::List(_) | Expr::Object(_) if *value == Node::Null => Node::Null,
            Expr::List(parts) => {
                let mut items = Vec::new();
                for part in parts {
                    let item = self.eval(part, value)?;
                    self.push(&mut items, item)?;
                }
                Node::List(Rc::new(items))
            }
            Expr::Object(parts) => {
                let mut fields = Vec::new();
                for (name, part) in parts {
                    let part = self.eval(part, value)?;
                    self.bounds.take(2 * size_of_val(&part) + 2 * size_of_val(name))?;
                    fields.push((name.clone(), part));
                }
                Node::Object(Rc::new(fields))
            }
            Expr::Or(left, right) => match self.eval(left, value)? {
                left if left.holds() => left,
                _ => self.eval(right, value)?,
            },
            Expr::And(left, right) => match self.eval(left, value)? {
                left if left.holds() => self.eval(right, value)?,
                left => left,
            },
            Expr::Not(inner) => Node::Bool(!self.eval(inner, value)?.holds()),
            Expr::Compared(sign, left, right) => {
                let (left, right) = (self.eval(left, value)?, self.eval(right, value)?);
                self.compared(sign, &left, &right)?
            }
            Expr::Call(function, arguments) => self.call(*function, arguments, value)?,
            // As an argument it is looked at by the function.
            Expr::Reference(_) => Node::Null,
        })
    }

    /// Adds to a list that did not come with the value.
    pub(super) fn push<'j>(
        &mut self,
        items: &mut Vec<Node<'j>>,
        item: Node<'j>,
    ) -> Result<(), ModuleError> {
        self.bounds.take(2 * size_of::<Node<'_>>())?;
        items.push(item);
        Ok(())
    }

    fn each<'a, 'j: 'a>(
        &mut self,
        items: impl Iterator<Item = &'a Node<'j>>,
        then: &Expr<'j>,
    ) -> Result<Node<'j>, ModuleError> {
        let mut found = Vec::new();
        for item in items {
            let item = self.eval(then, item)?;
            if item != Node::Null {
                self.push(&mut found, item)?;
            }
        }
        Ok(Node::List(Rc::new(found)))
    }

    fn flat<'j>(&mut self, items: &[Node<'j>]) -> Result<Node<'j>, ModuleError> {
        let mut flat = Vec::new();
        for item in items {
            match item {
                Node::List(inner) => {
                    for item in inner.iter() {
                        self.push(&mut flat, item.clone())?;
                    }
                }
                item => self.push(&mut flat, item.clone())?,
            }
        }
        Ok(Node::List(Rc::new(flat)))
    }

    fn slice<'j>(
        &mut self,
        [from, to, step]: [Option<i64>; 3],
        value: &Node<'j>,
    ) -> Result<Node<'j>, ModuleError> {
        let Node::List(items) = value else { return Ok(Node::Null) };
        let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let step = step.unwrap_or(1);
        let (lowest, highest) = if step > 0 { (0, length) } else { (-1, length - 1) };
        let place = |number: i64| {
            let number = if number < 0 { number.saturating_add(length) } else { number };
            number.clamp(lowest, highest)
        };
        let mut at = from.map_or(if step > 0 { 0 } else { length - 1 }, place);
        let end = to.map_or(if step > 0 { length } else { -1 }, place);
        let mut chosen = Vec::new();
        while if step > 0 { at < end } else { at > end } {
            if let Some(item) = usize::try_from(at).ok().and_then(|at| items.get(at)) {
                self.push(&mut chosen, item.clone())?;
            }
            at = at.saturating_add(step);
        }
        Ok(Node::List(Rc::new(chosen)))
    }

    fn compared<'j>(
        &mut self,
        sign: &str,
        left: &Node<'_>,
        right: &Node<'_>,
    ) -> Result<Node<'j>, ModuleError> {
        if matches!(sign, "==" | "!=") {
            return Ok(Node::Bool(left.is_same(right, self.bounds)? == (sign == "==")));
        }
        let (Some(left), Some(right)) = (left.as_number(), right.as_number()) else {
            return Ok(Node::Null);
        };
        Ok(Node::Bool(match sign {
            "<" => left < right,
            "<=" => left <= right,
            ">" => left > right,
            _ => left >= right,
        }))
    }
}

/// The place of an index, which counts from the end when it is negative.
fn absolute(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let index = if index < 0 { index.saturating_add(length) } else { index };
    usize::try_from(index).ok()
}
