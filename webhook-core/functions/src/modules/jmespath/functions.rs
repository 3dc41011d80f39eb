//! The functions of expressions.

use std::{borrow::Cow, cmp::Ordering, rc::Rc};

use super::{invalid, parser::Expr, search::Search};
use crate::modules::{ModuleError, node::Node};

/// A function, by its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Function(usize);

/// The names, and how many arguments each takes at least and at most.
const FUNCTIONS: [(&str, usize, usize); 26] = [
    ("abs", 1, 1),
    ("avg", 1, 1),
    ("ceil", 1, 1),
    ("contains", 2, 2),
    ("ends_with", 2, 2),
    ("floor", 1, 1),
    ("join", 2, 2),
    ("keys", 1, 1),
    ("length", 1, 1),
    ("map", 2, 2),
    ("max", 1, 1),
    ("max_by", 2, 2),
    ("merge", 1, usize::MAX),
    ("min", 1, 1),
    ("min_by", 2, 2),
    ("not_null", 1, usize::MAX),
    ("reverse", 1, 1),
    ("sort", 1, 1),
    ("sort_by", 2, 2),
    ("starts_with", 2, 2),
    ("sum", 1, 1),
    ("to_array", 1, 1),
    ("to_number", 1, 1),
    ("to_string", 1, 1),
    ("type", 1, 1),
    ("values", 1, 1),
];

impl Function {
    /// The function called `name`, if it takes that number of arguments.
    pub(super) fn named(name: &str, arguments: usize) -> Result<Self, ModuleError> {
        let Some(place) = FUNCTIONS.iter().position(|(known, ..)| *known == name) else {
            let names: Vec<_> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
            return Err(invalid(format!("no function {name}: there are {}", names.join(", "))));
        };
        let (_, least, most) = FUNCTIONS[place];
        if arguments < least || arguments > most {
            return Err(invalid(format!("{name} takes {least} argument(s), not {arguments}")));
        }
        Ok(Self(place))
    }

    fn name(self) -> &'static str {
        FUNCTIONS[self.0].0
    }

    fn takes(self, wanted: &str, got: &Node<'_>) -> ModuleError {
        invalid(format!("{} takes {wanted}, not {}", self.name(), got.kind()))
    }

    fn number(self, value: &Node<'_>) -> Result<f64, ModuleError> {
        value.as_number().ok_or_else(|| self.takes("numbers", value))
    }

    fn text<'a>(self, value: &'a Node<'_>) -> Result<&'a str, ModuleError> {
        match value {
            Node::Text(text) => Ok(text),
            other => Err(self.takes("strings", other)),
        }
    }

    fn list<'a, 'j>(self, value: &'a Node<'j>) -> Result<&'a [Node<'j>], ModuleError> {
        match value {
            Node::List(items) => Ok(items),
            other => Err(self.takes("an array", other)),
        }
    }

    /// How two values of a list are ordered, which are all numbers or all texts.
    fn order(self, left: &Node<'_>, right: &Node<'_>) -> Result<Ordering, ModuleError> {
        match (left, right) {
            (Node::Text(left), Node::Text(right)) => Ok(left.cmp(right)),
            (Node::Number(_), _) => Ok(self.number(left)?.total_cmp(&self.number(right)?)),
            (Node::Text(_), other) | (other, _) => {
                Err(self.takes("numbers only or strings only", other))
            }
        }
    }
}

impl Search<'_> {
    pub(super) fn call<'j>(
        &mut self,
        function: Function,
        arguments: &[Expr<'j>],
        value: &Node<'j>,
    ) -> Result<Node<'j>, ModuleError> {
        let mut given = Vec::new();
        for argument in arguments {
            given.push(self.eval(argument, value)?);
        }
        let first = given.first().cloned().unwrap_or(Node::Null);
        let second = given.get(1).cloned().unwrap_or(Node::Null);
        match function.name() {
            "abs" => Node::number(function.number(&first)?.abs()),
            "ceil" => Node::number(function.number(&first)?.ceil()),
            "floor" => Node::number(function.number(&first)?.floor()),
            "sum" | "avg" => {
                let items = function.list(&first)?;
                let mut sum = 0.0;
                for item in items {
                    sum += function.number(item)?;
                }
                match function.name() {
                    "sum" => Node::number(sum),
                    _ if items.is_empty() => Ok(Node::Null),
                    _ => Node::number(sum / items.len() as f64),
                }
            }
            "contains" => match &first {
                Node::Text(text) => Ok(Node::Bool(text.contains(function.text(&second)?))),
                list => {
                    for item in function.list(list)? {
                        if item.is_same(&second, self.bounds)? {
                            return Ok(Node::Bool(true));
                        }
                    }
                    Ok(Node::Bool(false))
                }
            },
            "starts_with" => {
                Ok(Node::Bool(function.text(&first)?.starts_with(function.text(&second)?)))
            }
            "ends_with" => {
                Ok(Node::Bool(function.text(&first)?.ends_with(function.text(&second)?)))
            }
            "join" => self.join(function, &first, &second),
            "keys" | "values" => self.parts(function, &first),
            "length" => {
                let length = match &first {
                    Node::Text(text) => text.chars().count(),
                    Node::List(items) => items.len(),
                    Node::Object(fields) => fields.len(),
                    other => return Err(function.takes("a string, an array or an object", other)),
                };
                Node::number(length as f64)
            }
            "map" => {
                let then = referred(function, arguments, 0)?;
                let mut found = Vec::new();
                for item in function.list(&second)? {
                    let item = self.eval(then, item)?;
                    self.push(&mut found, item)?;
                }
                Ok(Node::List(Rc::new(found)))
            }
            "max" | "min" => self.extreme(function, function.list(&first)?, None),
            "max_by" | "min_by" => {
                let by = referred(function, arguments, 1)?;
                self.extreme(function, function.list(&first)?, Some(by))
            }
            "sort" => self.sort(function, function.list(&first)?, None),
            "sort_by" => {
                let by = referred(function, arguments, 1)?;
                self.sort(function, function.list(&first)?, Some(by))
            }
            "merge" => self.merge(function, &given),
            "not_null" => Ok(given.into_iter().find(|v| *v != Node::Null).unwrap_or(Node::Null)),
            "reverse" => match &first {
                Node::Text(text) => {
                    self.bounds.take(text.len())?;
                    Ok(Node::text(text.chars().rev().collect()))
                }
                list => {
                    let mut items = Vec::new();
                    for item in function.list(list)?.iter().rev() {
                        self.push(&mut items, item.clone())?;
                    }
                    Ok(Node::List(Rc::new(items)))
                }
            },
            "to_array" => Ok(match first {
                list @ Node::List(_) => list,
                other => Node::List(Rc::new(vec![other])),
            }),
            "to_number" => Ok(match first {
                number @ Node::Number(_) => number,
                Node::Text(text) if serde_json::from_str::<serde_json::Number>(&text).is_ok() => {
                    Node::Number(Cow::Owned(text.trim().to_owned()))
                }
                _ => Node::Null,
            }),
            "to_string" => match first {
                text @ Node::Text(_) => Ok(text),
                other => {
                    let mut room = *self.bounds;
                    let json = other.to_json(room.bytes(), &mut room)?;
                    self.bounds.take(json.len())?;
                    Ok(Node::text(String::from_utf8_lossy(&json).into_owned()))
                }
            },
            _ => Ok(Node::Text(Cow::Borrowed(first.kind()))),
        }
    }

    fn join<'j>(
        &mut self,
        function: Function,
        glue: &Node<'j>,
        list: &Node<'j>,
    ) -> Result<Node<'j>, ModuleError> {
        let (glue, mut text) = (function.text(glue)?, String::new());
        for (index, item) in function.list(list)?.iter().enumerate() {
            let item = function.text(item)?;
            let glue = if index > 0 { glue } else { "" };
            self.bounds.take(2 * (glue.len() + item.len()))?;
            text.push_str(glue);
            text.push_str(item);
        }
        Ok(Node::text(text))
    }

    fn parts<'j>(
        &mut self,
        function: Function,
        object: &Node<'j>,
    ) -> Result<Node<'j>, ModuleError> {
        let Node::Object(fields) = object else { return Err(function.takes("an object", object)) };
        let mut parts = Vec::new();
        for (key, value) in fields.iter() {
            let is_key = function.name() == "keys";
            self.bounds.take(if is_key { key.len() } else { 0 })?;
            let part = if is_key { Node::Text(key.clone()) } else { value.clone() };
            self.push(&mut parts, part)?;
        }
        Ok(Node::List(Rc::new(parts)))
    }

    fn merge<'j>(
        &mut self,
        function: Function,
        objects: &[Node<'j>],
    ) -> Result<Node<'j>, ModuleError> {
        let mut merged: Vec<(Cow<'j, str>, Node<'j>)> = Vec::new();
        for object in objects {
            let Node::Object(fields) = object else {
                return Err(function.takes("objects", object));
            };
            for (key, value) in fields.iter() {
                let mut place = None;
                for (index, (known, _)) in merged.iter().enumerate() {
                    self.bounds.take(0)?;
                    if known == key {
                        place = Some(index);
                        break;
                    }
                }
                match place {
                    Some(place) => merged[place].1 = value.clone(),
                    None => {
                        self.bounds.take(key.len() + 2 * size_of::<(Cow<'_, str>, Node<'_>)>())?;
                        merged.push((key.clone(), value.clone()));
                    }
                }
            }
        }
        Ok(Node::Object(Rc::new(merged)))
    }

    /// The items, each behind the value that orders it.
    fn keyed<'j>(
        &mut self,
        items: &[Node<'j>],
        by: Option<&Expr<'j>>,
    ) -> Result<Vec<(Node<'j>, Node<'j>)>, ModuleError> {
        let mut keyed = Vec::new();
        for item in items {
            let key = match by {
                Some(by) => self.eval(by, item)?,
                None => item.clone(),
            };
            self.bounds.take(4 * size_of::<Node<'_>>())?;
            keyed.push((key, item.clone()));
        }
        Ok(keyed)
    }

    fn extreme<'j>(
        &mut self,
        function: Function,
        items: &[Node<'j>],
        by: Option<&Expr<'j>>,
    ) -> Result<Node<'j>, ModuleError> {
        let wanted = match function.name().starts_with("max") {
            true => Ordering::Greater,
            false => Ordering::Less,
        };
        let mut best: Option<(Node<'j>, Node<'j>)> = None;
        for (key, item) in self.keyed(items, by)? {
            self.bounds.take(0)?;
            let better = match &best {
                Some((other, _)) => function.order(&key, other)? == wanted,
                None => function.order(&key, &key)? == Ordering::Equal,
            };
            if better {
                best = Some((key, item));
            }
        }
        Ok(best.map_or(Node::Null, |(_, item)| item))
    }

    fn sort<'j>(
        &mut self,
        function: Function,
        items: &[Node<'j>],
        by: Option<&Expr<'j>>,
    ) -> Result<Node<'j>, ModuleError> {
        let mut keyed = self.keyed(items, by)?;
        if let [(first, _), rest @ ..] = &*keyed {
            // Each kind is looked at first, so that sorting cannot fail.
            function.order(first, first)?;
            for (key, _) in rest {
                function.order(first, key)?;
            }
        }
        self.bounds.check_time()?;
        keyed.sort_by(|(left, _), (right, _)| {
            function.order(left, right).unwrap_or(Ordering::Equal)
        });
        self.bounds.check_time()?;
        Ok(Node::List(Rc::new(keyed.into_iter().map(|(_, item)| item).collect())))
    }
}

/// The expression that is an argument: `&price`.
fn referred<'a, 'j>(
    function: Function,
    arguments: &'a [Expr<'j>],
    place: usize,
) -> Result<&'a Expr<'j>, ModuleError> {
    match arguments.get(place) {
        Some(Expr::Reference(inner)) => Ok(inner),
        _ => Err(invalid(format!(
            "argument {} of {} is an expression with & before it",
            place + 1,
            function.name()
        ))),
    }
}
