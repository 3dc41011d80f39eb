//! The scripts, which are those of the runtimes' own tests.

use std::{fs, path::Path};

/// A script and how it may end.
pub(crate) struct Script {
    pub(crate) name: String,
    pub(crate) source: String,
    /// What its first line says.
    pub(crate) ends: String,
    separator: &'static str,
}

/// All scripts of a language; the first line of each begins with `prefix`.
pub(crate) fn of(extension: &str, prefix: &str, separator: &'static str) -> Vec<Script> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../webhook-core/functions/tests");
    let entries = fs::read_dir(tests.join(extension).join("hostile")).expect("the scripts");
    let mut scripts: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let source = fs::read_to_string(&path).expect("a script");
            let first = source.lines().next().unwrap_or_default();
            let ends = first.strip_prefix(prefix).expect("each says how it ends").to_owned();
            // One that names nothing of the webhook would not be saved.
            let source = if name.ends_with(".js") { source + "\n// r" } else { source };
            Script { name, source, ends, separator }
        })
        .collect();
    scripts.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(scripts.len() > 150, "only {}", scripts.len());
    scripts
}

impl Script {
    /// How it says that it ends well.
    pub(crate) fn well(&self) -> &'static str {
        if self.separator == "|" { "ok" } else { "well" }
    }

    pub(crate) fn may_end(&self, came: &str) -> bool {
        // What it asks is not there.
        let sends = self.source.contains("http.");
        // On a slow machine time is the first limit to be reached; which one
        // it should be is tested beside the runtimes.
        let is_limited = ["fuel", "memory"].iter().any(|limit| self.ends.contains(limit));
        let in_time = is_limited && came.contains("compute time");
        sends || in_time || self.ends.split(self.separator).any(|end| came.contains(end))
    }

    /// Whether it is after the memory.
    pub(crate) fn is_greedy(&self) -> bool {
        ["bomb_", "memory_", "json_"].iter().any(|prefix| self.name.starts_with(prefix))
    }
}
