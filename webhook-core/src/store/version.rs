//! What was in force before.

use crate::rule::Rules;

/// How many versions of a function's source, and of an output's rules, are kept with the
/// present one: the newest. Each source, and each tree of rules, is kept once, however many
/// versions have it.
pub const MAX_VERSIONS: usize = 100;

/// The rules that an output had at some moment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RulesVersion {
    /// Which version, from 1 on.
    pub version: u32,
    /// The rules.
    pub rules: Rules,
}

impl RulesVersion {
    /// This version.
    #[must_use]
    pub const fn new(version: u32, rules: Rules) -> Self {
        Self { version, rules }
    }
}
