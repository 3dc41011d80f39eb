//! A Lua value as this library sees it.

use super::number::{self, Number};
use crate::lua::bytes::{Budget, Error};

/// One argument of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arg<'a> {
    /// `nil`
    Nil,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Bytes(&'a [u8]),
    /// A table, function, userdata or thread.
    Other {
        /// What Lua's `type` says.
        type_name: &'a str,
        /// What Lua's `tostring` says, metamethods included; the caller finds it out before the call.
        text: &'a [u8],
    },
}

impl<'a> From<Number> for Arg<'a> {
    fn from(number: Number) -> Self {
        match number {
            Number::Int(value) => Self::Int(value),
            Number::Float(value) => Self::Float(value),
        }
    }
}

impl<'a> Arg<'a> {
    /// What Lua's `type` says.
    #[must_use]
    pub const fn type_name(&self) -> &'a str {
        match self {
            Self::Nil => "nil",
            Self::Bool(_) => "boolean",
            Self::Int(_) | Self::Float(_) => "number",
            Self::Bytes(_) => "string",
            Self::Other { type_name, .. } => type_name,
        }
    }

    /// The number this is or, being a string, reads as.
    ///
    /// # Errors
    /// When the budget does not suffice for reading the string.
    pub fn to_number(&self, budget: &mut Budget) -> Result<Option<Number>, Error> {
        match self {
            Self::Int(value) => Ok(Some(Number::Int(*value))),
            Self::Float(value) => Ok(Some(Number::Float(*value))),
            Self::Bytes(text) => number::parse(text, budget),
            Self::Nil | Self::Bool(_) | Self::Other { .. } => Ok(None),
        }
    }

    /// The number that argument `index` of `function` must be.
    ///
    /// # Errors
    /// `number expected, got …`, or the budget.
    pub fn check_number(
        &self,
        function: &'static str,
        index: usize,
        budget: &mut Budget,
    ) -> Result<Number, Error> {
        self.to_number(budget)?.ok_or_else(|| self.expected("number", function, index))
    }

    /// The integer that argument `index` of `function` must be; a float with an integral value is one.
    ///
    /// # Errors
    /// `number expected, got …`, `number has no integer representation`, or the budget.
    pub fn check_integer(
        &self,
        function: &'static str,
        index: usize,
        budget: &mut Budget,
    ) -> Result<i64, Error> {
        self.check_number(function, index, budget)?
            .to_integer()
            .ok_or_else(|| Error::argument(function, index, "number has no integer representation"))
    }

    /// The string that argument `index` of `function` must be; a number is written into `scratch`.
    ///
    /// # Errors
    /// `string expected, got …`.
    pub fn check_bytes<'s>(
        &'s self,
        function: &'static str,
        index: usize,
        scratch: &'s mut Vec<u8>,
    ) -> Result<&'s [u8], Error> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Int(value) => {
                number::write(Number::Int(*value), scratch);
                Ok(scratch)
            }
            Self::Float(value) => {
                number::write(Number::Float(*value), scratch);
                Ok(scratch)
            }
            Self::Nil | Self::Bool(_) | Self::Other { .. } => {
                Err(self.expected("string", function, index))
            }
        }
    }

    pub(super) fn expected(&self, wanted: &str, function: &'static str, index: usize) -> Error {
        Error::argument(function, index, format!("{wanted} expected, got {}", self.type_name()))
    }
}
