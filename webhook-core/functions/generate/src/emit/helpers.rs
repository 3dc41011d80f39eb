//! Choosing the helpers that a written source brings along.

use std::collections::BTreeSet;

/// Name, what it needs, source. In an order in which every function comes after what it needs.
pub(super) type Helper = (&'static str, &'static [&'static str], &'static str);

/// The sources of the helpers and of what they need themselves. `list` comes in one form for each format.
pub(super) fn sources(
    wanted: &BTreeSet<&'static str>,
    groups: &[&'static [Helper]],
    list: &'static str,
) -> String {
    let helpers = || groups.iter().flat_map(|group| group.iter());
    let mut needed = wanted.clone();
    // Every function stands after what it needs, so that one way back through them finds all.
    for (name, needs, _) in helpers().rev() {
        if needed.contains(name) {
            needed.extend(needs.iter().copied());
        }
    }
    let mut sources = Vec::new();
    if needed.contains("list") {
        sources.push(list);
    }
    let used = helpers().filter(|(name, ..)| needed.contains(name));
    sources.extend(used.map(|(_, _, source)| *source));
    sources.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::super::{js, lua, reserved};
    use super::*;

    #[test]
    fn helpers_stand_after_what_they_need_and_are_reserved() {
        for (groups, reserved) in
            [(lua::HELPERS, reserved::LUA), (js::HELPERS, reserved::JAVASCRIPT)]
        {
            let mut seen = BTreeSet::from(["list"]);
            for (name, needs, source) in groups.iter().flat_map(|group| group.iter()) {
                assert!(needs.iter().all(|need| seen.contains(need)), "{name}");
                assert!(source.contains(&format!("function {name}(")), "{name}");
                assert!(reserved.contains(name), "{name}");
                seen.insert(name);
            }
        }
    }
}
