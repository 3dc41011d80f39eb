//! The part of a runtime that is written in JavaScript. It is compiled once in a
//! process; engines read what came of it.

use std::{collections::HashSet, sync::OnceLock};

use super::library::{self, Names};
use rquickjs::{
    Context, Ctx, Error, Function, Module, Result, Runtime, WriteOptions,
    loader::{
        Loader as _,
        bundle::{Bundle, ScaBundleData},
    },
};

/// Each is a function that is given what the host has for it and what the parts
/// before it leave for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The last three of these together, which most calls need.
    Base,
    /// The first two of them together.
    Plain,
    /// Makes `r`.
    Request,
    /// Has fields of texts be errors.
    Leaks,
    /// Bounds what the language itself does with lists and texts, and JSON.
    Core,
    /// Bounds what the engine's own functions do in one step.
    Guard,
    /// Bounds what few scripts can come to; before all others but the next.
    Bounds,
    /// Makes what few scripts do with `r`, and the globals beside it.
    Fields,
    /// Bounds the functions of lists that need more than to be paid for.
    Lists,
    /// Bounds the functions of texts that need more than to be paid for.
    Strings,
    /// Bounds patterns.
    Patterns,
    /// Searches and replaces in long texts, piece by piece.
    Texts,
    /// Bounds `Map`, `Set` and what is like them.
    Collections,
    /// Bounds typed arrays and what is like them.
    Binary,
    /// Bounds `Date`.
    Dates,
    /// Has what depends on a language be right or refused.
    Locales,
    /// Runs the styles of other services.
    Styles,
    /// What the adapters of the styles of other services have in common.
    Adapt,
    /// The adapter of a style, by the place of the style.
    Adapter(usize),
    /// Makes `setTimeout`.
    Timers,
    /// Makes `http`, `crypto` and the other modules.
    Modules,
    /// Makes `URL`, `fetch` and other names of the web.
    Web,
    /// Makes `ReadableStream`, `CompressionStream` and what streams are made of.
    Streams,
    /// Makes `crypto.subtle`.
    Subtle,
    /// Finds what a call has left behind.
    Traces,
}

/// What every call but those of bare engines needs is one module, because each costs an engine
/// more than what is in it.
const BASE: &str = concat!(
    "(function ($) { const kept = ",
    include_str!("../prelude/request.js"),
    "($); ",
    include_str!("../prelude/core.js"),
    "($, kept); ",
    include_str!("../prelude/guard.js"),
    "($, kept); return kept; })",
);

/// The same for engines in which little is bounded.
const PLAIN: &str = concat!(
    "(function ($) { const kept = ",
    include_str!("../prelude/request.js"),
    "($); ",
    include_str!("../prelude/core.js"),
    "($, kept); return kept; })",
);

const SOURCES: [(Part, &str, &str); 31] = [
    (Part::Base, "base", BASE),
    (Part::Plain, "plain", PLAIN),
    (Part::Core, "core", include_str!("../prelude/core.js")),
    (Part::Request, "request", include_str!("../prelude/request.js")),
    (Part::Leaks, "leaks", include_str!("../prelude/leaks.js")),
    (Part::Guard, "guard", include_str!("../prelude/guard.js")),
    (Part::Bounds, "bounds", include_str!("../prelude/bounds.js")),
    (Part::Fields, "fields", include_str!("../prelude/fields.js")),
    (Part::Lists, "lists", include_str!("../prelude/lists.js")),
    (Part::Strings, "strings", include_str!("../prelude/strings.js")),
    (Part::Patterns, "patterns", include_str!("../prelude/patterns.js")),
    (Part::Texts, "texts", include_str!("../prelude/texts.js")),
    (Part::Collections, "collections", include_str!("../prelude/collections.js")),
    (Part::Binary, "binary", include_str!("../prelude/binary.js")),
    (Part::Dates, "dates", include_str!("../prelude/dates.js")),
    (Part::Locales, "locales", include_str!("../prelude/locales.js")),
    (Part::Styles, "styles", include_str!("../prelude/styles.js")),
    (Part::Adapt, "adapt", include_str!("../prelude/adapt.js")),
    (Part::Adapter(0), "style-segment", include_str!("../prelude/styles/segment.js")),
    (Part::Adapter(1), "style-rudderstack", include_str!("../prelude/styles/rudderstack.js")),
    (Part::Adapter(2), "style-cloudflare", include_str!("../prelude/styles/cloudflare.js")),
    (Part::Adapter(3), "style-zapier", include_str!("../prelude/styles/zapier.js")),
    (Part::Adapter(4), "style-n8n", include_str!("../prelude/styles/n8n.js")),
    (Part::Adapter(5), "style-pipedream", include_str!("../prelude/styles/pipedream.js")),
    (Part::Adapter(6), "style-lambda", include_str!("../prelude/styles/lambda.js")),
    (Part::Timers, "timers", include_str!("../prelude/timers.js")),
    (Part::Modules, "modules", include_str!("../prelude/modules.js")),
    (Part::Web, "web", include_str!("../prelude/web.js")),
    (Part::Streams, "streams", include_str!("../prelude/streams.js")),
    (Part::Subtle, "subtle", include_str!("../prelude/subtle.js")),
    (Part::Traces, "traces", include_str!("../prelude/traces.js")),
];

/// What engines are made from.
struct Compiled {
    parts: ScaBundleData<&'static [u8]>,
    names: Names,
    library: HashSet<String>,
}

/// The names of what is bounded, by [`library::OWNERS`](super::library).
pub(super) fn names() -> Result<&'static Names> {
    compiled().map(|compiled| &compiled.names)
}

/// All names of the language's library.
pub(super) fn library() -> Result<&'static HashSet<String>> {
    compiled().map(|compiled| &compiled.library)
}

impl Part {
    pub(super) fn named(name: &str) -> Option<Self> {
        SOURCES.iter().find(|(_, known, _)| *known == name).map(|(part, ..)| *part)
    }

    /// As it is written.
    pub(super) fn source(self) -> &'static str {
        SOURCES.iter().find(|(part, ..)| *part == self).map_or("", |(.., source)| source)
    }

    fn name(self) -> &'static str {
        SOURCES.iter().find(|(part, ..)| *part == self).map_or("", |(_, name, _)| name)
    }

    /// The function in this context. There is one in each: scripts that import
    /// the part by its name find nothing in it.
    pub(super) fn load<'js>(self, ctx: &Ctx<'js>) -> Result<Function<'js>> {
        let module = Bundle(compiled()?.parts).load(ctx, self.name(), None)?;
        let (module, _) = module.eval()?;
        module.get::<_, Function<'_>>("take")?.call(())
    }
}

fn compiled() -> Result<&'static Compiled> {
    static COMPILED: OnceLock<Compiled> = OnceLock::new();
    if let Some(compiled) = COMPILED.get() {
        return Ok(compiled);
    }
    let compiled = compile()?;
    // Another thread may have been faster; all come to the same.
    Ok(COMPILED.get_or_init(|| compiled))
}

fn compile() -> Result<Compiled> {
    let runtime = Runtime::new()?;
    let context = Context::full(&runtime)?;
    context.with(|ctx| {
        let (names, library) = (library::names(&ctx)?, library::all_names(&ctx)?);
        let parts = SOURCES.iter().map(|(_, name, source)| {
            let module = format!(
                "let part = {source}\nexport const take = () => {{ const own = part; part = undefined; return own; }};"
            );
            let module = Module::declare(ctx.clone(), *name, module)?;
            let stripped = WriteOptions { strip_source: true, strip_debug: true, ..Default::default() };
            Ok::<_, Error>((*name, &*module.write(stripped)?.leak()))
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        Ok(Compiled { parts: Box::leak(parts.into_boxed_slice()), names, library })
    })
}
