//! What a part of a server is called.

use std::fmt;

/// A part of a server by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// A function.
    Function(String),
    /// A variable of a function, by the function's name and its key.
    Variable(String, String),
    /// A reserved domain.
    Domain(String),
    /// A bucket.
    Bucket(String),
    /// An output, by its bucket's name and its own.
    Output(String, String),
    /// An input, by its bucket's name and its own.
    Input(String, String),
    /// A cron.
    Cron(String),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(name) => write!(f, "function {name}"),
            Self::Variable(function, key) => write!(f, "variable {function}/{key}"),
            Self::Domain(name) => write!(f, "domain {name}"),
            Self::Bucket(name) => write!(f, "bucket {name}"),
            Self::Output(bucket, name) => write!(f, "output {bucket}/{name}"),
            Self::Input(bucket, name) => write!(f, "input {bucket}/{name}"),
            Self::Cron(name) => write!(f, "cron {name}"),
        }
    }
}
