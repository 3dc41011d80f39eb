//! What holds for the repository as a whole.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The files that git knows, by their path from the root; none outside of a clone. A
/// developer's own files are nobody's concern.
fn files() -> Option<Vec<String>> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let Some(listed) = listed.ok().filter(|output| output.status.success()) else {
        println!("skipped: this is no clone");
        return None;
    };
    let listed = String::from_utf8(listed.stdout).expect("names in UTF-8");
    let files = listed.split('\0').filter(|file| !file.is_empty() && root().join(file).exists());
    Some(files.map(str::to_owned).collect())
}

/// What the top level consists of.
const TOP_LEVEL: [&str; 19] = [
    ".cargo",
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "benches",
    "clippy.toml",
    "deny.toml",
    "docs",
    "examples",
    "rustfmt.toml",
    "webhook-core",
    "webhook-server",
    "webhook-storage",
];

/// A new crate is nested in the one that it belongs to.
#[test]
fn the_top_level_has_the_three_crates_and_the_customary_files() {
    let Some(files) = files() else { return };
    let top: BTreeSet<_> = files.iter().filter_map(|file| file.split('/').next()).collect();
    let more: Vec<_> = top.iter().filter(|name| !TOP_LEVEL.contains(name)).collect();
    assert!(more.is_empty(), "belongs into one of the folders: {more:?}");
}

/// The workspace's lints forbid `unsafe`, and count in every crate that says so.
#[test]
fn every_crate_has_the_lints_of_the_workspace() {
    let Some(files) = files() else { return };
    let mut checked = 0;
    for manifest in files.iter().filter(|file| file.ends_with("/Cargo.toml")) {
        let text = fs::read_to_string(root().join(manifest)).expect("a manifest");
        // What is a workspace of its own is no member: the fuzzer's targets, and the
        // program that depends on the library as a stranger's would.
        if text.contains("[workspace]") {
            continue;
        }
        assert!(text.contains("[lints]\nworkspace = true"), "{manifest} has lints of its own");
        checked += 1;
    }
    assert!(checked >= 5, "only {checked} manifests were found");
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace");
    assert!(workspace.contains("unsafe_code = \"forbid\""));
}

/// The faults that show what the torture run finds can still be seeded. Building them takes
/// minutes, which is for `benches/seeded-faults/run`.
#[test]
fn every_seeded_fault_applies() {
    let Some(files) = files() else { return };
    let is_seed = |file: &&String| file.starts_with("benches/seeded-faults/");
    let patches = files.iter().filter(is_seed).filter(|file| file.ends_with(".patch"));
    let mut applied = 0;
    for patch in patches {
        let text = fs::read_to_string(root().join(patch)).expect("a patch");
        for line in ["\nOptions: --", "\nSaid: "] {
            assert!(text.contains(line), "{patch} has no line {line:?}");
        }
        let mut apply = Command::new("git");
        apply.args(["apply", "--check", patch]).current_dir(root());
        let apply = apply.output().expect("git runs");
        assert!(apply.status.success(), "{patch}: {}", String::from_utf8_lossy(&apply.stderr));
        applied += 1;
    }
    assert!(applied >= 5, "only {applied} patches were found");
}
