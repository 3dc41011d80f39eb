//! The goldens' notation, see `goldens/generate.lua`.

use super::super::{Arg, Budget, Error};

/// A value in a golden.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    /// The float's bits, so that a NaN equals itself and -0.0 differs from 0.0.
    Float(u64),
    Bytes(Vec<u8>),
}

impl Value {
    pub(super) fn arg(&self) -> Arg<'_> {
        match self {
            Self::Nil => Arg::Nil,
            Self::Bool(value) => Arg::Bool(*value),
            Self::Int(value) => Arg::Int(*value),
            Self::Float(bits) => Arg::Float(f64::from_bits(*bits)),
            Self::Bytes(bytes) => Arg::Bytes(bytes),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            other => panic!("the golden has {other:?} where a string belongs"),
        }
    }

    pub(super) fn int(&self) -> i64 {
        match self {
            Self::Int(value) => *value,
            other => panic!("the golden has {other:?} where an integer belongs"),
        }
    }
}

/// One line of a golden: a function, its arguments, and what it returns or fails with.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) function: String,
    pub(super) arguments: Vec<Value>,
    pub(super) expected: Result<Vec<Value>, String>,
}

impl Case {
    fn read(line: &str) -> Self {
        let mut parts = line.split('\t');
        let function = parts.next().expect("a line has a first part").to_owned();
        let arguments = parts.by_ref().take_while(|part| *part != "=>").map(value).collect();
        let results: Vec<&str> = parts.collect();
        let expected = match results.first().and_then(|first| first.strip_prefix('!')) {
            Some(message) => Err(String::from_utf8_lossy(&unescape(message)).into_owned()),
            None => Ok(results.into_iter().map(value).collect()),
        };
        Self { function, arguments, expected }
    }

    pub(super) fn argument(&self, index: usize) -> Option<&Value> {
        self.arguments.get(index).filter(|value| **value != Value::Nil)
    }

    pub(super) fn bytes(&self, index: usize) -> &[u8] {
        self.arguments.get(index).map(Value::bytes).expect("the case has this argument")
    }

    pub(super) fn int_or(&self, index: usize, default: i64) -> i64 {
        self.argument(index).map_or(default, Value::int)
    }

    pub(super) fn flag(&self, index: usize) -> bool {
        self.argument(index) == Some(&Value::Bool(true))
    }

    pub(super) fn args_from(&self, index: usize) -> Vec<Arg<'_>> {
        self.arguments.iter().skip(index).map(Value::arg).collect()
    }
}

fn value(text: &str) -> Value {
    let (kind, rest) = text.split_at(1);
    match kind {
        "n" => Value::Nil,
        "T" => Value::Bool(true),
        "F" => Value::Bool(false),
        "i" => Value::Int(rest.parse().expect("an integer")),
        "d" => Value::Float(u64::from_str_radix(rest, 16).expect("sixteen digits")),
        "s" => Value::Bytes(unescape(rest)),
        _ => panic!("no value is written {text}"),
    }
}

fn unescape(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).expect("two digits"));
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}

/// Runs every case of `text` and fails with the first differences; answers how many cases there are.
pub(super) fn check(
    text: &str,
    run: impl Fn(&Case, &mut Budget) -> Result<Vec<Value>, Error>,
) -> usize {
    let mut failures = Vec::new();
    for line in text.lines() {
        let case = Case::read(line);
        let got =
            run(&case, &mut Budget::new(50_000_000, 8 << 20)).map_err(|error| error.to_string());
        if got != case.expected {
            failures.push(format!("{line}\n    got {}", show(&got)));
        }
    }
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures[..failures.len().min(25)].join("\n")
    );
    text.lines().count()
}

fn show(got: &Result<Vec<Value>, String>) -> String {
    match got {
        Err(message) => format!("!{message}"),
        Ok(values) => values
            .iter()
            .map(|value| match value {
                Value::Bytes(bytes) => format!("s{} ", bytes.escape_ascii()),
                other => format!("{other:x?} "),
            })
            .collect(),
    }
}
