//! The floors of the house: a folder imports only from folders below it.
//!
//! Every reference counts: imports, re-exports, and paths inside code and macros. A name that
//! one folder passes on from another leads to the folder that has the item. Modules and items
//! for tests alone do not count.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;

use crate::source::{ModuleId, Source, Target, is_test_item};

/// The folders of each crate, from the ground up: the root of the crate, a folder, and the floors
/// inside of it. A folder imports only from the folders before it.
const FLOORS: &[(&str, &str, &[&str])] = &[
    ("webhook-core/src/lib.rs", "", CORE),
    ("webhook-core/src/lib.rs", "relay", RELAY),
    ("webhook-server/src/main.rs", "", SERVER),
    ("webhook-storage/src/lib.rs", "", STORAGE),
];

const CORE: &[&str] = &[
    "wire",
    "encoding",
    "lock",
    "clock",
    "guard",
    "xml",
    "content",
    "rule",
    "credentials",
    "cluster",
    "forward",
    "destination",
    "model",
    "retry",
    "cron",
    "function",
    "store",
    "relay",
    "billing",
    "plan",
    "admin",
    "webhooks",
    "",
];

/// The last four implement the relay, which is made in its own file.
const RELAY: &[&str] = &[
    "byte_semaphore",
    "cache",
    "detach",
    "headers",
    "watch",
    "parts",
    "cluster",
    "functions",
    "held",
    "loops",
    "waiters",
    "clients",
    "deliver",
    "intake",
    "sources",
    "erase",
    "",
    "changes",
    "management",
    "run",
    "take_part",
];

const STORAGE: &[&str] = &[
    "locked",
    "codec",
    "secret",
    "objects",
    "options",
    "s3",
    "fault",
    "tx",
    "entity",
    "database",
    "tally",
    "fold",
    "listing",
    "writer",
    "documents",
    "migration",
    "members",
    "days",
    "storage",
    "first_key",
    "store",
    "",
];

const SERVER: &[&str] = &[
    "config",
    "failure",
    "print",
    "telemetry",
    "state",
    "api",
    "openapi",
    "pages",
    "socket",
    "router",
    "dashboard",
    "listen",
    "service",
    "agent",
    "manifest",
    "mcp",
    "cli",
];

/// Folders whose parts have no circle: the root of the crate, and the module. The folder's own
/// file is no part: it has what the parts implement together.
const WITHOUT_CIRCLES: &[(&str, &str)] = &[
    ("webhook-core/src/lib.rs", ""),
    ("webhook-core/src/lib.rs", "admin"),
    ("webhook-core/src/lib.rs", "destination"),
    ("webhook-core/src/lib.rs", "forward"),
    ("webhook-core/src/lib.rs", "model"),
    ("webhook-core/src/lib.rs", "relay"),
    ("webhook-core/src/lib.rs", "relay::intake"),
    ("webhook-core/src/lib.rs", "relay::sources"),
    ("webhook-core/functions/src/lib.rs", ""),
    ("webhook-core/stripe/src/lib.rs", ""),
    ("webhook-server/src/main.rs", ""),
    ("webhook-server/src/main.rs", "api"),
    ("webhook-server/src/main.rs", "cli"),
    ("webhook-server/src/main.rs", "listen"),
    ("webhook-server/src/main.rs", "pages"),
    ("webhook-server/src/main.rs", "service"),
    ("webhook-server/src/main.rs", "socket"),
    ("webhook-server/src/main.rs", "state"),
    ("webhook-server/manifest/src/lib.rs", ""),
    ("webhook-server/otel/src/lib.rs", ""),
    ("webhook-storage/src/lib.rs", ""),
    ("benches/src/lib.rs", ""),
];

/// What the parts of a folder refer to: part by part, each with one place where it says so.
type References = BTreeMap<String, BTreeMap<String, String>>;

/// A module, a module that it refers to, and the place that says so.
type Edge = (String, String, String);

/// All references within a crate.
fn edges(root: &str) -> Vec<Edge> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(root);
    let source = Source::read(&path);
    let names: Vec<_> = (0..source.modules.len()).map(|id| source.path_of(id)).collect();
    let mut found = Vec::new();
    for (id, module) in source.modules.iter().enumerate() {
        let mut paths: Vec<Vec<String>> =
            module.imports.iter().map(|import| import.path.clone()).collect();
        for item in module.items.iter().filter(|item| !is_test_item(item)) {
            inline_paths(item.to_token_stream(), &mut paths);
        }
        for path in paths {
            let place = format!("{}: {}", names[id], path.join("::"));
            let to = targets(&source, &path, id).into_iter().filter(|to| *to != id);
            found.extend(to.map(|to| (names[id].clone(), names[to].clone(), place.clone())));
        }
    }
    found
}

fn references(edges: &[Edge], folder: &str) -> References {
    let part = |name: &str| {
        let below = match folder {
            "" => Some(name),
            _ if name == folder => Some(""),
            _ => name.strip_prefix(folder).and_then(|rest| rest.strip_prefix("::")),
        };
        below.map(|below| below.split("::").next().unwrap_or_default().to_owned())
    };
    let mut found = References::new();
    for (from, to, place) in edges {
        if let (Some(from), Some(to)) = (part(from), part(to))
            && from != to
        {
            found.entry(from).or_default().entry(to).or_insert_with(|| place.clone());
        }
    }
    found
}

/// The modules that have what a path leads to. Its end may be a variant or a method.
fn targets(source: &Source, path: &[String], from: ModuleId) -> Vec<ModuleId> {
    for end in (1..=path.len()).rev() {
        let targets = source.resolve(&path[..end], from);
        if !targets.is_empty() {
            let module = |target| match target {
                Target::Module(id) | Target::Item(id, _) => Some(id),
                Target::Foreign => None,
            };
            return targets.into_iter().filter_map(module).collect();
        }
    }
    Vec::new()
}

/// Paths in code that begin at the crate or next to the module.
fn inline_paths(tokens: TokenStream, paths: &mut Vec<Vec<String>>) {
    let mut tokens = tokens.into_iter().peekable();
    let is_colon = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(it)) if it.as_char() == ':');
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) if is_visibility(&group) => {}
            TokenTree::Group(group) => inline_paths(group.stream(), paths),
            TokenTree::Ident(ident) if ["crate", "super", "self"].iter().any(|it| ident == it) => {
                let mut path = vec![ident.to_string()];
                while is_colon(tokens.peek()) {
                    tokens.next();
                    tokens.next();
                    match tokens.peek() {
                        Some(TokenTree::Ident(ident)) => path.push(ident.to_string()),
                        _ => break,
                    }
                    tokens.next();
                }
                if path.len() > 1 {
                    paths.push(path);
                }
            }
            _ => {}
        }
    }
}

/// Whether the group is of `pub(in path)`, which names a folder around the item.
fn is_visibility(group: &Group) -> bool {
    let first = group.stream().into_iter().next();
    matches!(first, Some(TokenTree::Ident(ident)) if ident == "in")
}

#[test]
fn no_folder_imports_from_above() {
    let wrong: Vec<_> =
        FLOORS.iter().flat_map(|(root, folder, floors)| violations(root, folder, floors)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The imports inside a folder that lead upward, and its parts without a floor.
fn violations(root: &str, folder: &str, floors: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    let references = references(&edges(root), folder);
    let unknown = floors.iter().filter(|floor| {
        let is_used = references.values().any(|to| to.contains_key(**floor));
        !is_used && !references.contains_key(**floor)
    });
    wrong.extend(unknown.map(|floor| format!("{root}: no reference of {floor} is found")));
    for (from, to) in references {
        let floor = |name: &str| floors.iter().position(|floor| *floor == name);
        let Some(here) = floor(&from) else {
            wrong.push(format!("{root}: {from} is on no floor"));
            continue;
        };
        let upward = to.iter().filter(|(name, _)| floor(name).is_none_or(|there| there > here));
        let say = |(name, place)| format!("{root}: {from} imports from {name} ({place})");
        wrong.extend(upward.map(say));
    }
    wrong
}

#[test]
fn no_part_depends_on_itself() {
    let mut known = BTreeMap::new();
    for (root, folder) in WITHOUT_CIRCLES {
        let mut references = references(known.entry(root).or_insert_with(|| edges(root)), folder);
        references.remove("");
        references.values_mut().for_each(|to| drop(to.remove("")));
        for part in references.keys() {
            let circle = circle(&references, part);
            assert!(circle.is_empty(), "{root} {folder}: {}", circle.join(", "));
        }
    }
}

/// The references of a circle through this part; none when there is no circle.
fn circle(references: &References, part: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![(part, Vec::new())];
    while let Some((at, way)) = open.pop() {
        for (to, place) in references.get(at).into_iter().flatten() {
            let mut way = way.clone();
            way.push(place.clone());
            if to == part {
                return way;
            }
            if seen.insert(to) {
                open.push((to, way));
            }
        }
    }
    Vec::new()
}

#[test]
fn a_circle_is_found() {
    let references = |pairs: &[(&str, &str)]| {
        let mut found = References::new();
        for (from, to) in pairs {
            let place = format!("{from} to {to}");
            found.entry((*from).to_owned()).or_default().insert((*to).to_owned(), place);
        }
        found
    };
    let tree = references(&[("a", "b"), ("a", "c"), ("b", "c")]);
    assert!(circle(&tree, "a").is_empty());
    let round = references(&[("a", "b"), ("b", "c"), ("c", "a")]);
    assert_eq!(circle(&round, "a"), ["a to b", "b to c", "c to a"]);
    let code = "pub(in crate::a) fn f() { let x: crate::model::Log = g!(super::h::i(self::j)); self.x(); }";
    let mut paths = Vec::new();
    inline_paths(code.parse().expect("Rust"), &mut paths);
    let paths: Vec<_> = paths.iter().map(|path| path.join("::")).collect();
    assert_eq!(paths, ["crate::model::Log", "super::h::i", "self::j"]);
}
