//! An engine, and the calls that it serves.

mod again;
mod failure;
mod host;
mod http;
mod library;
mod meter;
mod modules;
mod prelude;
mod request;
mod rows;
mod wait;
mod web;

use std::{cell::Cell, collections::HashSet, rc::Rc, sync::Arc};

use rquickjs::{
    Context, Ctx, Exception, Function, Object, Promise, Result as JsResult, Runtime, Value,
    context::{EvalOptions, intrinsic},
    function::{IntoJsFunc, This},
    promise::PromiseState,
};
use webhook_core::function::{FunctionError, Invocation, ScriptOutcome};

use self::{
    again::{Again, Ready},
    failure::Thrown,
    host::Host,
    meter::Meter,
    prelude::Part,
};
use super::{
    call::{Call, Task},
    library::Library,
    source,
    styles::{self, Style},
    worker::Shared,
};
use crate::modules::digits;

/// What the engine needs before the script runs, on top of the script's memory.
const BASE_BYTES: usize = 2 << 20;

/// Memory at which garbage is first looked for: short calls end before.
const GC_BYTES: usize = 2 << 20;

/// How deep calls may nest, in bytes of the thread's stack.
const STACK_BYTES: usize = 512 << 10;

/// What scripts find of the engine; weak references, for instance, are left out.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
    intrinsic::Performance,
);

/// What a small engine has of it.
type SmallIntrinsics = (
    intrinsic::Eval,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::Promise,
    intrinsic::Performance,
);

/// An engine that no script has run in, or none that has left anything behind.
pub(super) struct Vm {
    // These two before the runtime, which must go last.
    again: Option<Again>,
    context: Context,
    runtime: Runtime,
    host: Rc<Host>,
    library: Library,
}

/// All names of the language's library. Where there are none, no engine can be made either.
pub(super) fn library_names() -> Option<&'static HashSet<String>> {
    prelude::library().ok()
}

/// What is in the global object under a name no script sees: it is removed first.
const KEPT: &str = "kept";

impl Vm {
    /// Makes an engine. It fails only when there is no memory.
    pub(super) fn new(shared: &Shared, library: Library) -> Result<Self, FunctionError> {
        let limits = Arc::clone(&shared.limits);
        let meter = Meter::new(Arc::clone(&limits), Arc::clone(&shared.turns));
        let host = Rc::new(Host {
            limits: Arc::clone(&limits),
            clock: Arc::clone(&shared.clock),
            outside: shared.outside.clone(),
            meter,
            gives_bytes: Cell::new(false),
            script: Default::default(),
        });
        let made = || {
            let runtime = Runtime::new()?;
            runtime.set_gc_threshold(GC_BYTES);
            runtime.set_max_stack_size(STACK_BYTES);
            runtime.set_memory_limit(limits.memory_bytes.saturating_add(BASE_BYTES));
            let context = match library {
                Library::Whole => Context::custom::<Intrinsics>(&runtime)?,
                Library::Small | Library::Plain | Library::Bare => {
                    Context::custom::<SmallIntrinsics>(&runtime)?
                }
            };
            let prepared = context.with(|ctx| {
                prepare(&ctx, &host, library).map_err(|_| Thrown::catch(&ctx).to_string())
            });
            Ok::<_, rquickjs::Error>((prepared, context, runtime))
        };
        let failed =
            |reason| FunctionError::Script(format!("the engine cannot be started: {reason}"));
        let (prepared, context, runtime) = made().map_err(|error| failed(error.to_string()))?;
        prepared.map_err(failed)?;
        Ok(Self { again: None, context, runtime, host, library })
    }

    /// Does what a call asks for and answers it. Returns the engine where it may serve another call
    /// of the same source, as far as it is to be kept.
    pub(super) fn serve(mut self, task: Task, call: &Arc<Call>, keeps: bool) -> Option<Self> {
        let result = match self.host.meter.begin(call) {
            Ok(()) => {
                let meter = Rc::clone(&self.host.meter);
                self.runtime.set_interrupt_handler(Some(Box::new(move || meter.must_stop())));
                let host = Rc::clone(&self.host);
                self.runtime.set_host_promise_rejection_tracker(Some(Box::new(
                    move |_, _, reason, handled| {
                        host.rejected((!handled).then(|| Thrown::read(&reason).to_string()));
                    },
                )));
                match task {
                    Task::Run(invocation, handle) => self.run(*invocation, handle, keeps),
                    Task::Check(source) => self.check(&source),
                }
            }
            Err(error) => Err(error),
        };
        self.host.meter.pause();
        let logs = self.host.take_logs();
        self.host.end();
        // An engine that is not kept gives its memory back before the caller continues.
        let is_kept = self.again.is_some();
        let kept = is_kept.then_some(self);
        call.answer(result, logs);
        kept
    }

    fn run(
        &mut self,
        invocation: Invocation,
        handle: Option<tokio::runtime::Handle>,
        keeps: bool,
    ) -> Result<Option<ScriptOutcome>, FunctionError> {
        let text = Arc::clone(&invocation.source);
        self.host.begin(invocation, handle);
        let again = self.again.take();
        self.again = self.context.with(|ctx| {
            // A source of another style has the whole library.
            let is_whole = self.library == Library::Whole;
            let style = is_whole.then(|| styles::of(&text)).flatten();
            let ready = match again {
                Some(again) => again.restore(&ctx),
                None => self.ready(&ctx, &text, style, keeps)?,
            };
            let ended = ready.and_then(|ready| {
                let Ready { kept, script, .. } = &ready;
                let declared: Function<'_> = kept.get("declared")?;
                let watched = watched(kept, &text)?;
                let exported = exported(kept, &text, style)?;
                let given = (This(ctx.globals()), declared, watched, exported);
                let promise: Promise<'_> = script.call(given)?;
                self.settle(&ctx);
                while is_whole && self.stopped().is_none() && fire(kept)? {
                    self.settle(&ctx);
                }
                if promise.state() == PromiseState::Rejected {
                    // This one is the call's own error.
                    self.host.rejected(None);
                }
                self.host.log_rejections();
                match promise.result::<Value<'_>>() {
                    Some(returned) => {
                        let returned = returned?;
                        let finish: Function<'_> = kept.get("finish")?;
                        finish.call::<_, ()>((returned,)).map(|()| Some(ready))
                    }
                    None => Ok(None),
                }
            });
            // A limit ends the script whatever it made of it.
            match (self.stopped(), ended) {
                (Some(error), _) => Err(error),
                // Something would run in the next call.
                (None, Ok(Some(_))) if ctx.execute_pending_job() => Ok(None),
                (None, Ok(Some(ready))) => Ok(ready.again(&ctx)),
                (None, Ok(None)) => Err(FunctionError::Script(
                    "function: the script waits for a promise that nothing settles".to_owned(),
                )),
                (None, Err(_)) => {
                    let error = Thrown::catch(&ctx).of(&text).into_error(&self.host.limits);
                    Err(self.stopped().unwrap_or(error))
                }
            }
        })?;
        Ok(self.host.outcome())
    }

    /// Compiles the source. A failure of the prelude comes to light after one of the source.
    fn ready<'js>(
        &self,
        ctx: &Ctx<'js>,
        text: &str,
        style: Option<&Style>,
        keeps: bool,
    ) -> Result<JsResult<Ready<'js>>, FunctionError> {
        let kept = take_kept(ctx).and_then(|kept| {
            self.open(ctx, &kept, text)?;
            Ok(kept)
        });
        let script = compile::<Function<'_>>(ctx, text, &source::wrapped(text, style));
        let script = script.map_err(|error| self.stopped().unwrap_or(error))?;
        Ok(kept.map(|kept| {
            let mut ready = Ready { kept, script, is_clean: None };
            if keeps {
                ready.watch(ctx, text);
            }
            ready
        }))
    }

    /// Bounds what the source can come to, before it runs.
    fn open<'js>(&self, ctx: &Ctx<'js>, kept: &Object<'js>, text: &str) -> JsResult<()> {
        match self.library {
            Library::Bare | Library::Plain => Ok(()),
            Library::Small | Library::Whole => library::open(ctx, kept, text, self.library),
        }
    }

    /// Whether a source compiles; it does not run.
    fn check(&self, text: &str) -> Result<Option<ScriptOutcome>, FunctionError> {
        self.context.with(|ctx| {
            let compiled =
                compile::<Object<'_>>(&ctx, text, &source::enclosed(text)).and_then(|_| {
                    compile::<Function<'_>>(&ctx, text, &source::wrapped(text, styles::of(text)))
                });
            compiled.map(drop).map_err(|error| self.stopped().unwrap_or(error))
        })?;
        Ok(None)
    }

    fn stopped(&self) -> Option<FunctionError> {
        self.host.meter.stopped()
    }

    /// Runs what the script left to be done later.
    fn settle(&self, ctx: &Ctx<'_>) {
        /// Jobs between two looks at the clock: one may be a single call.
        const JOBS: usize = 64;
        for job in 1_usize.. {
            let late = job.is_multiple_of(JOBS) && self.host.meter.is_late();
            if late || self.stopped().is_some() || !ctx.execute_pending_job() {
                break;
            }
        }
    }
}

/// Compiles a source that is in brackets, which makes a function or an object of it.
fn compile<'js, T: rquickjs::FromJs<'js>>(
    ctx: &Ctx<'js>,
    text: &str,
    bracketed: &str,
) -> Result<T, FunctionError> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(source::CHUNK.to_owned());
    ctx.eval_with_options(bracketed, options).map_err(|_| {
        let thrown = Thrown::catch(ctx);
        source::compile_error(text, thrown.line(), &thrown.message)
    })
}

/// Runs the prelude, which leaves the function that ends a call in the global object.
fn prepare<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, library: Library) -> JsResult<()> {
    let natives = Object::new(ctx.clone())?;
    add(&natives, "takesPayload", |function: String| source::takes_payload(&function))?;
    request::install(host, &natives)?;
    let own = Rc::clone(host);
    let later = move |ctx: Ctx<'js>, name: String, natives: Object<'js>| match Part::named(&name) {
        Some(part) => {
            own.gives_bytes.set(own.gives_bytes.get() || part == Part::Binary);
            install(&own, &natives, part)?;
            part.load(&ctx)
        }
        None => Err(Exception::throw_message(&ctx, "no such part")),
    };
    add(&natives, "part", later)?;
    let part = match library {
        Library::Bare => Part::Request,
        Library::Plain => Part::Plain,
        Library::Small | Library::Whole => Part::Base,
    };
    install(host, &natives, part)?;
    let kept: Object<'_> = part.load(ctx)?.call((natives,))?;
    ctx.globals().set(KEPT, kept)
}

/// Adds what a part of the prelude needs of the host, which most calls do not.
fn install<'js>(host: &Rc<Host>, natives: &Object<'js>, part: Part) -> JsResult<()> {
    match part {
        Part::Core | Part::Plain => add(natives, "keepsDigits", keeps_digits),
        Part::Base | Part::Guard => {
            if part == Part::Base {
                add(natives, "keepsDigits", keeps_digits)?;
            }
            natives.set("stringBytes", host.limits.string_bytes as f64)?;
            let own = Rc::clone(host);
            add(natives, "onlyDeclares", move || own.script.borrow().only_declares())
        }
        Part::Fields => request::install_fields(host, natives),
        Part::Patterns => {
            let meter = Rc::clone(&host.meter);
            add(natives, "beginPattern", move || meter.begin_pattern())?;
            let meter = Rc::clone(&host.meter);
            add(natives, "endPattern", move || meter.end_pattern())
        }
        Part::Styles => modules::install(host, natives),
        Part::Timers => http::install(host, natives),
        Part::Modules => {
            natives.set("httpCalls", host.limits.http_calls as f64)?;
            http::install(host, natives)?;
            modules::install(host, natives)
        }
        _ => Ok(()),
    }
}

/// Whether all numbers of a JSON text keep their digits. A value that is no text is no JSON either.
fn keeps_digits(text: rquickjs::String<'_>) -> bool {
    let text = text.to_string().unwrap_or_default();
    digits::numbers(text.as_bytes()).all(digits::is_plain_in_js)
}

/// Adds a function of the host to what the prelude is given.
fn add<'js, P>(
    natives: &Object<'js>,
    name: &str,
    function: impl IntoJsFunc<'js, P> + 'js,
) -> JsResult<()> {
    natives.set(name, Function::new(natives.ctx().clone(), function)?)
}

/// The function that looks at objects before a source deletes their fields.
fn watched<'js>(kept: &Object<'js>, source: &str) -> JsResult<Option<Function<'js>>> {
    if !source::deletes(source) {
        return Ok(None);
    }
    kept.get::<_, Function<'_>>("leaks")?.call(()).map(Some)
}

/// Where a source leaves what it exports, with the adapter of its style made.
fn exported<'js>(
    kept: &Object<'js>,
    source: &str,
    style: Option<&Style>,
) -> JsResult<Option<Object<'js>>> {
    if style.is_none() && !source::exports(source) {
        return Ok(None);
    }
    let exported = Object::new(kept.ctx().clone())?;
    if let Some(style) = style {
        let adapt: Function<'_> = kept.get("adapt")?;
        adapt.call::<_, ()>((style.name, exported.clone()))?;
    }
    Ok(Some(exported))
}

/// Calls the function of the next timer, if there is one.
fn fire(kept: &Object<'_>) -> JsResult<bool> {
    match kept.get::<_, Option<Function<'_>>>("fire")? {
        Some(fire) => fire.call(()),
        None => Ok(false),
    }
}

fn take_kept<'js>(ctx: &Ctx<'js>) -> JsResult<Object<'js>> {
    let kept = ctx.globals().get(KEPT)?;
    ctx.globals().remove(KEPT)?;
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::js::library::needs_whole;

    /// The names of the global object, and those in what they name, each behind its owner.
    fn names<I: rquickjs::context::Intrinsic>() -> BTreeSet<String> {
        const NAMES: &str = "Object.getOwnPropertyNames(globalThis).flatMap((name) => { \
            const of = (value, path) => (value === globalThis || Object(value) !== value ? [] : \
            Reflect.ownKeys(value).map((key) => path + '.' + String(key))); const value = globalThis[name]; \
            return [name, ...of(value, name), ...of(value?.prototype, name + '.prototype')]; })";
        let runtime = Runtime::new().expect("memory");
        let context = Context::custom::<I>(&runtime).expect("memory");
        let names = context.with(|ctx| ctx.eval::<Vec<String>, _>(NAMES));
        names.expect("names").into_iter().collect()
    }

    #[test]
    fn a_source_that_names_what_a_small_engine_has_not_gets_a_whole_one() {
        let (whole, small) = (names::<Intrinsics>(), names::<SmallIntrinsics>());
        let missing: Vec<_> = whole.difference(&small).collect();
        assert!(missing.len() > 300 && small.len() > 300 && small.is_subset(&whole));
        for name in missing {
            let global = name.split('.').next().unwrap_or_default();
            assert!(needs_whole(global), "{name}");
        }
        // What nothing bounds in a plain or bare engine is what such a source cannot name.
        let known = library_names().expect("they are known");
        let unknown: Vec<_> = small
            .iter()
            .filter(|name| !name.contains("Symbol("))
            .flat_map(|name| name.split('.'))
            .filter(|name| !known.contains(*name))
            .collect();
        assert_eq!(unknown, Vec::<&str>::new());
    }
}
