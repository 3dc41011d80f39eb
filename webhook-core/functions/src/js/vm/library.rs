//! The functions of the engine that are bounded: made where a script can come to them, and
//! taken away where it cannot.

use std::{collections::HashSet, sync::OnceLock};

use rquickjs::{Array, Ctx, Error, Exception, Function, Object, Result, atom::PredefinedAtom};

use super::prelude::{self, Part};
use crate::{
    js::{
        library::Library,
        names,
        reach::{Reach, has_patterns},
        source::{mentioned, words},
        styles,
    },
    list::list_of,
};

/// What has functions to be bounded.
struct Owner {
    /// Its name in the global object, and whether it is the prototype there.
    name: &'static str,
    prototype: bool,
    which: Which,
}

enum Which {
    /// All functions but those that are left as they are, or are bounded for every script.
    AllBut(&'static [&'static str]),
    Only(&'static [&'static str]),
}

const fn owner(name: &'static str, prototype: bool, which: Which) -> Owner {
    Owner { name, prototype, which }
}

/// In the order of `OWNERS` in the prelude.
const OWNERS: [Owner; 11] = [
    owner("Array", true, Which::AllBut(&OF_LISTS)),
    owner("String", true, Which::AllBut(&OF_TEXTS)),
    owner("Array", false, Which::Only(&["from"])),
    owner("String", false, Which::AllBut(&[])),
    owner("Number", false, Which::AllBut(&["isFinite", "isInteger", "isNaN", "isSafeInteger"])),
    owner("RegExp", false, Which::AllBut(&[])),
    owner("Symbol", false, Which::AllBut(&[])),
    owner("Object", false, Which::AllBut(&OF_OBJECTS)),
    owner("JSON", false, Which::AllBut(&["parse", "stringify"])),
    owner("Promise", false, Which::AllBut(&[])),
    owner("Number", true, Which::Only(&["toLocaleString"])),
];

const OF_LISTS: [&str; 7] = ["at", "keys", "values", "entries", "join", "toString", ITERATOR];
/// `concat` is bounded for every script that may have templates.
const OF_TEXTS: [&str; 8] =
    ["at", "charAt", "charCodeAt", "codePointAt", "concat", "toString", "valueOf", ITERATOR];
const OF_OBJECTS: [&str; 8] = list_of(
    "is getPrototypeOf setPrototypeOf isExtensible hasOwn create defineProperty \
    getOwnPropertyDescriptor",
);

/// What the engine itself looks for in lists and texts.
const ITERATOR: &str = "Symbol(Symbol.iterator)";

/// Constructors that are bounded; their owner is behind all others.
const CONSTRUCTORS: [&str; 3] = ["RegExp", "String", "Number"];

/// What patterns consist of.
const OF_PATTERNS: [&str; 3] = ["exec", "compile", "test"];
const SYMBOLS_OF_PATTERNS: [PredefinedAtom; 5] = [
    PredefinedAtom::SymbolMatch,
    PredefinedAtom::SymbolMatchAll,
    PredefinedAtom::SymbolReplace,
    PredefinedAtom::SymbolSearch,
    PredefinedAtom::SymbolSplit,
];

/// The names of the functions of each owner.
pub(super) type Names = Vec<Vec<String>>;

/// Asks an engine that no script has seen for the names of functions. Getters are none.
pub(super) fn names(ctx: &Ctx<'_>) -> Result<Names> {
    const NAMES: &str = "(owner) => Reflect.ownKeys(owner).filter((key) => key !== 'constructor' && \
        typeof Reflect.getOwnPropertyDescriptor(owner, key).value === 'function').map(String)";
    let list: Function<'_> = ctx.eval(NAMES)?;
    let of = |owner: &Owner| {
        let mut names: Vec<String> = list.call((object(ctx, owner)?,))?;
        names.retain(|name| match owner.which {
            Which::AllBut(except) => !except.contains(&name.as_str()),
            Which::Only(only) => only.contains(&name.as_str()),
        });
        // A later engine may have more of them, which would have to be known here.
        if names.iter().any(|name| name.starts_with("Symbol(")) {
            return Err(Exception::throw_message(ctx, "a function without a name of its own"));
        }
        Ok(names)
    };
    OWNERS.iter().map(of).collect()
}

/// Asks such an engine for all names of the library, with those that are made late.
pub(super) fn all_names(ctx: &Ctx<'_>) -> Result<HashSet<String>> {
    const NAMES: &str = "(() => { const all = [], seen = new Set(); const add = (value) => { \
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return; \
        seen.add(value); const keys = Reflect.ownKeys(value); for (let i = 0; i < keys.length; i++) { \
        if (typeof keys[i] === 'string') all.push(keys[i]); \
        const { value: held, get, set } = Reflect.getOwnPropertyDescriptor(value, keys[i]); add(held); add(get); add(set); } \
        add(Reflect.getPrototypeOf(value)); }; add(globalThis); add(function* () {}); add(async function () {}); \
        add(async function* () {}); add([].values()); add(''[Symbol.iterator]()); return all; })()";
    let names: Vec<String> = ctx.eval(NAMES)?;
    Ok(names.into_iter().chain(names::late().map(str::to_owned)).collect())
}

fn object<'js>(ctx: &Ctx<'js>, owner: &Owner) -> Result<Object<'js>> {
    let object: Object<'_> = ctx.globals().get(owner.name)?;
    if owner.prototype { object.get(PredefinedAtom::Prototype) } else { Ok(object) }
}

/// What a source cannot come to, once that is known.
#[derive(Debug, Default)]
struct Unreached {
    functions: Vec<(usize, &'static str)>,
    constructors: Vec<&'static str>,
    patterns: bool,
}

/// Makes what the source can come to, by the guard, and takes the rest away.
pub(super) fn open<'js>(
    ctx: &Ctx<'js>,
    kept: &Object<'js>,
    source: &str,
    library: Library,
) -> Result<()> {
    let (reach, parts) = reach(source);
    let has = |name: &str| reach.has(name) || parts.iter().any(|part| part.words.contains(name));
    let has_patterns = library == Library::Whole
        && (has_patterns(source)
            || parts.iter().any(|part| part.patterns)
            || ["RegExp", "match", "matchAll", "search"].into_iter().any(&has));
    let list = Array::new(ctx.clone())?;
    list.set(0, has_patterns)?;
    let mut length = 1;
    let mut add = |owner: usize, name: &str| {
        list.set(length, owner)?;
        list.set(length + 1, name)?;
        length += 2;
        Ok::<_, Error>(())
    };
    let patterns = library == Library::Whole && !has_patterns;
    let mut unreached = Unreached { patterns, ..Unreached::default() };
    for (owner, names) in prelude::names()?.iter().enumerate() {
        if library != Library::Whole && owner == PATTERNS {
            continue;
        }
        for name in names {
            if has(name) {
                add(owner, name)?;
            } else {
                unreached.functions.push((owner, name));
            }
        }
    }
    for name in CONSTRUCTORS {
        if library != Library::Whole && name == "RegExp" {
            continue;
        }
        if has(name) { add(OWNERS.len(), name)? } else { unreached.constructors.push(name) }
    }
    let names = mentioned(source, names::late(), |name| names::means_module(source, name));
    kept.get::<_, Function<'_>>("open")?.call::<_, ()>((names, list))?;
    unreached.forget(ctx)
}

/// The place of patterns, which a small engine does not have.
const PATTERNS: usize = 5;

impl Unreached {
    fn forget(self, ctx: &Ctx<'_>) -> Result<()> {
        let mut known: Option<(usize, Object<'_>)> = None;
        for (place, name) in self.functions {
            let object = match known.take() {
                Some((same, object)) if same == place => object,
                _ => match OWNERS.get(place) {
                    Some(owner) => object(ctx, owner)?,
                    None => continue,
                },
            };
            object.remove(name)?;
            known = Some((place, object));
        }
        if self.patterns {
            let patterns = object(ctx, &owner("RegExp", true, Which::Only(&[])))?;
            OF_PATTERNS.into_iter().try_for_each(|name| patterns.remove(name))?;
            SYMBOLS_OF_PATTERNS.into_iter().try_for_each(|symbol| patterns.remove(symbol))?;
        }
        for name in self.constructors {
            object(ctx, &owner(name, true, Which::Only(&[])))?
                .remove(PredefinedAtom::Constructor)?;
            ctx.globals().remove(name)?;
        }
        Ok(())
    }
}

/// A part of the prelude that needs functions of the engine itself.
struct Needing {
    /// The names that lead a script to it.
    ways: &'static [&'static str],
    words: HashSet<&'static str>,
    patterns: bool,
}

/// What a source names, with the parts that it leads to.
fn reach(source: &str) -> (Reach<'_>, Vec<&'static Needing>) {
    static PARTS: OnceLock<Vec<Needing>> = OnceLock::new();
    let parts = PARTS.get_or_init(|| {
        let needing = |(ways, parts): (_, &[Part])| Needing {
            ways,
            words: parts
                .iter()
                .flat_map(|part| words(part.source()))
                .map(|(_, word)| word)
                .collect(),
            patterns: parts.iter().any(|part| has_patterns(part.source())),
        };
        LATER.into_iter().map(needing).collect()
    });
    let reach = Reach::of(source);
    let reached = parts.iter().filter(|part| part.ways.iter().any(|way| reach.has(way)));
    let reached = reached.collect();
    (reach, reached)
}

/// What a source of a style that has an adapter needs.
const ADAPTING: [Part; 12] = [
    Part::Styles,
    Part::Adapt,
    Part::Modules,
    Part::Web,
    Part::Streams,
    Part::Adapter(0),
    Part::Adapter(1),
    Part::Adapter(2),
    Part::Adapter(3),
    Part::Adapter(4),
    Part::Adapter(5),
    Part::Adapter(6),
];

/// The parts that look for functions when they are made, by the names that lead to them.
const LATER: [(&[&str], &[Part]); 9] = [
    (&names::MODULES, &[Part::Modules]),
    (&names::OF_ID, &[Part::Modules]),
    (&names::OF_TEMPLATE, &[Part::Modules]),
    (&["crypto"], &[Part::Subtle]),
    (&names::OF_WEB, &[Part::Modules, Part::Web, Part::Streams]),
    (&names::OF_STREAMS, &[Part::Modules, Part::Web, Part::Streams]),
    (&["transform", "handler", "addHandler"], &[Part::Styles]),
    (&styles::SIGNS, &ADAPTING),
    (&["Intl", "localeCompare", "toLocaleLowerCase", "toLocaleUpperCase"], &[Part::Locales]),
];
