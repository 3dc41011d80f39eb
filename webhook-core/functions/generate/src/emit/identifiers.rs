//! Names for the variables of the written source.

use std::collections::HashSet;

use super::super::program::{Path, Step};

/// Hands out names that are valid in both languages, each once.
#[derive(Debug)]
pub(super) struct Identifiers {
    taken: HashSet<String>,
}

impl Identifiers {
    pub(super) fn new(reserved: &[&str]) -> Self {
        Self { taken: reserved.iter().map(|name| (*name).to_owned()).collect() }
    }

    /// A name like the wanted one, `otherwise` where nothing of it can be kept.
    pub(super) fn fresh(&mut self, wanted: &str, otherwise: &str) -> String {
        let base = identifier(wanted).unwrap_or_else(|| otherwise.to_owned());
        let mut name = base.clone();
        let mut number = 2usize;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }

    /// The name may be given again: its variable is out of scope.
    pub(super) fn release(&mut self, name: &str) {
        self.taken.remove(name);
    }
}

fn identifier(wanted: &str) -> Option<String> {
    const MAX_LENGTH: usize = 32;
    let mut name = String::new();
    for c in wanted.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && name.ends_with(|c: char| c.is_ascii_lowercase()) {
                name.push('_');
            }
            name.push(c.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    name.truncate(MAX_LENGTH);
    let name = name.trim_end_matches('_');
    name.starts_with(|c: char| c.is_ascii_lowercase()).then(|| name.to_owned())
}

/// What one element of the list at this path is called.
pub(super) fn singular(path: &Path) -> String {
    let name = path.steps.iter().rev().find_map(|step| match step {
        Step::Key(key) => Some(key.as_ref()),
        _ => None,
    });
    let name = name.unwrap_or_default();
    let plural = name.strip_suffix("ies").map(|stem| format!("{stem}y"));
    let plural = plural.or_else(|| {
        ["sses", "xes", "ches", "shes"]
            .iter()
            .any(|end| name.ends_with(end))
            .then(|| name.get(..name.len() - 2).unwrap_or(name).to_owned())
    });
    let plural = plural.or_else(|| {
        name.strip_suffix('s').filter(|stem| !stem.ends_with(['s', 'u', 'i'])).map(str::to_owned)
    });
    // "data" and the like have no singular of their own.
    plural.unwrap_or_else(|| {
        if name.is_empty() || name == "data" { "item".to_owned() } else { format!("{name}_item") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_and_distinct() {
        let mut identifiers = Identifiers::new(&["end", "r"]);
        for (wanted, name) in [
            ("lineItems", "line_items"),
            ("end", "end_2"),
            ("line-items", "line_items_2"),
            ("9é", "x"),
            ("", "x_2"),
        ] {
            assert_eq!(identifiers.fresh(wanted, "x"), name);
        }
    }

    #[test]
    fn elements_are_named_after_their_list() {
        for (list, item) in [
            ("line_items", "line_item"),
            ("entries", "entry"),
            ("addresses", "address"),
            ("status", "status_item"),
            ("data", "item"),
        ] {
            let path = Path { scope: 0, steps: vec![Step::Key(list.into()), Step::Index(0)] };
            assert_eq!(singular(&path), item);
        }
    }
}
