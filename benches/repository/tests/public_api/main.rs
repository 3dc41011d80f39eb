//! What a crate offers is in its `public-api.txt`, so that a change of it is seen in
//! review. Read from the source by syn: rustdoc's JSON needs a nightly compiler.
//!
//! What macros make is not in it, nor what a derived trait asks for; types stand as
//! the source writes them.

mod floors;
mod list;
mod render;
mod source;

use std::{fs, path::Path};

/// The crates that other programs depend on, by name and folder.
const CRATES: [(&str, &str); 9] = [
    ("webhook_core", "webhook-core"),
    ("webhook_dashboard", "webhook-server/dashboard"),
    ("webhook_functions", "webhook-core/functions"),
    ("webhook_generate", "webhook-core/functions/generate"),
    ("webhook_manifest", "webhook-server/manifest"),
    ("webhook_otel", "webhook-server/otel"),
    ("webhook_stripe", "webhook-core/stripe"),
    ("webhook_signatures", "webhook-core/signatures"),
    ("webhook_storage", "webhook-storage"),
];

#[test]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
fn what_the_crates_offer_is_written_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut changed = Vec::new();
    for (name, folder) in CRATES {
        let offered = list::of(name, &root.join(folder).join("src/lib.rs"));
        let path = root.join(folder).join("public-api.txt");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &offered).expect("the list is writable");
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        let is_in = |line: &&str, text: &str| text.lines().any(|other| other == *line);
        let added = offered.lines().filter(|line| !is_in(line, &written));
        let removed = written.lines().filter(|line| !is_in(line, &offered));
        changed.extend(removed.map(|line| format!("{folder}: -{line}")));
        changed.extend(added.map(|line| format!("{folder}: +{line}")));
        if changed.is_empty() && written != offered {
            changed.push(format!("{folder}: the order"));
        }
    }
    assert!(
        changed.is_empty(),
        "public-api.txt is not what the crate offers. If that is meant:\n    \
         UPDATE_DOCS=1 cargo test -p repository --test public_api\n{}",
        changed.join("\n")
    );
}

/// The most items of webhook-core that an embedder without management has to know.
const MOST_ITEMS: usize = 400;

#[test]
fn a_relay_without_management_has_few_items() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../webhook-core/src/lib.rs");
    let items = list::count_without("admin", "webhook_core", &root);
    // A list that misses a module would be short as well.
    assert!(items > MOST_ITEMS / 2, "only {items} items are found");
    assert!(items <= MOST_ITEMS, "{items} items without the feature admin, at most {MOST_ITEMS}");
}

/// A crate in files, and what the list says of it.
#[test]
fn the_list_has_what_is_reached_from_outside_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        (
            "lib.rs",
            "mod hidden; pub mod open;
             #[cfg(test)] pub mod tests { pub struct NotHere; }
             #[cfg(all(test, unix))] pub use hidden::Unreached;
             #[cfg(feature = \"more\")] pub use hidden::more;
             pub use hidden::{Thing, Same as Renamed}; pub use open::*; pub use http::Method;
             pub(crate) fn inner() {}
             #[macro_export] macro_rules! shout { () => {} }",
        ),
        (
            "hidden.rs",
            "use std::fmt; use crate::open::Open;
             /// Said elsewhere.
             #[derive(Clone)] #[non_exhaustive] pub struct Thing { pub seen: u8, unseen: u8 }
             pub struct Same(pub u8, u8);
             pub struct Unreached;
             impl Thing { pub fn new(seen: u8) -> Self { Self { seen, unseen: 0 } } fn inner(&self) {} }
             impl fmt::Debug for Thing { fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) } }
             impl Open for Thing { fn must(&self) {} }
             trait Sealed {} impl Sealed for Thing {}
             pub mod more { pub async fn run<T: Send>(what: T) -> Result<(), u8> { Ok(()) } }",
        ),
        (
            "open.rs",
            "/// A trait.
             pub trait Open: Send { const N: usize = 1; fn must(&self); fn may(&self) -> u8 { 1 } }
             pub enum Choice { One, Two(u8), Three { name: String } }
             pub const LIMIT: usize = 1 + 1; pub type Pair = (u8, u8);",
        ),
    ] {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let root = folder.path().join("lib.rs");
    let list = list::of("sample", &root);
    let items = list.lines().filter(|line| !line.starts_with(' ')).count();
    assert_eq!(list::count_without("more", "sample", &root), items - 2, "more and more::run");
    assert_eq!(list, include_str!("sample.txt"), "{list}");
}
