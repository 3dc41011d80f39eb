//! The helper functions that a written source brings along: only those that it calls.

use std::collections::BTreeSet;

pub(super) const LUA: &str = include_str!("helpers.lua");
pub(super) const JAVASCRIPT: &str = include_str!("helpers.js");

/// The helpers of a file, in its order: each with its name and its source. In Lua each one stands after those that it
/// calls.
fn helpers(file: &'static str) -> Vec<(&'static str, &'static str)> {
    let named = |source: &'static str| {
        let line = source.lines().find(|line| !line.starts_with(['-', '/']))?;
        let (_, rest) = line.split_once("function ")?;
        Some((rest.split_once('(')?.0, source.trim_end()))
    };
    file.split("\n\n").filter_map(named).collect()
}

/// Whether the source calls the function.
fn uses(source: &str, name: &str) -> bool {
    source.match_indices(name).any(|(at, _)| {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '"');
        let before = source.get(..at).unwrap_or_default().ends_with(word);
        !before && source.get(at + name.len()..).unwrap_or_default().starts_with('(')
    })
}

/// The sources of the helpers that `main` calls, and of those that they call.
pub(super) fn sources(main: &str, file: &'static str) -> String {
    let helpers = helpers(file);
    let mut needed: BTreeSet<usize> = BTreeSet::new();
    let mut waiting = vec![main];
    while let Some(source) = waiting.pop() {
        for (index, (name, helper)) in helpers.iter().enumerate() {
            if uses(source, name) && needed.insert(index) {
                waiting.push(helper);
            }
        }
    }
    let sources: Vec<&str> =
        needed.iter().filter_map(|&index| helpers.get(index)).map(|(_, source)| *source).collect();
    sources.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helper_brings_along_those_that_it_calls() {
        let lua = sources("out = sum(body)", LUA);
        for name in ["sum", "list", "get", "to_number", "tidy", "whole"] {
            assert!(lua.contains(&format!("function {name}(")), "{name}");
        }
        assert!(!lua.contains("function sorted("));
        assert!(sources("nothing here", JAVASCRIPT).is_empty());
    }

    #[test]
    fn in_lua_each_helper_stands_after_those_that_it_calls() {
        let all = helpers(LUA);
        for (index, (name, _)) in all.iter().enumerate() {
            let early = all.iter().take(index).find(|(_, source)| uses(source, name));
            assert!(early.is_none(), "{name} is called by {early:?}");
        }
        let names = |file| helpers(file).into_iter().map(|(name, _)| name).collect::<BTreeSet<_>>();
        let only_lua: Vec<_> = names(LUA).difference(&names(JAVASCRIPT)).copied().collect();
        assert_eq!(only_lua, ["or_null", "whole"]);
    }
}
