//! What an engine needs to serve another call of the same source.

use rquickjs::{Ctx, Error, Function, Object, Persistent, Result as JsResult};

use super::prelude::Part;
use crate::js::{keep, library, names, reach::computes_names};

/// A source that is ready to run.
pub(super) struct Ready<'js> {
    /// What the prelude keeps.
    pub(super) kept: Object<'js>,
    pub(super) script: Function<'js>,
    /// Tells whether a call has left nothing behind. There is none where the engine serves one call.
    pub(super) is_clean: Option<Function<'js>>,
}

/// The same between two calls.
pub(super) struct Again {
    kept: Persistent<Object<'static>>,
    script: Persistent<Function<'static>>,
    is_clean: Persistent<Function<'static>>,
}

impl<'js> Ready<'js> {
    /// Looks at the engine before the source runs for the first time.
    pub(super) fn watch(&mut self, ctx: &Ctx<'js>, source: &str) {
        let Some(words) = keep::words_of(source) else { return };
        let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
        // The body of an answer is a stream.
        let streams = has(&names::OF_STREAMS) || words.contains("fetch");
        let given = || {
            let given = Object::new(ctx.clone())?;
            given.set("computes", computes_names(source))?;
            given.set("bytes", has(&library::GIVE_BYTES))?;
            given.set("web", has(&names::OF_WEB))?;
            given.set("streams", streams)?;
            given.set("words", words.iter().copied().collect::<Vec<_>>())?;
            Ok::<_, Error>(given)
        };
        let watched =
            given().and_then(|given| Part::Traces.load(ctx)?.call((given, self.kept.clone())));
        self.is_clean = watched.inspect_err(|_| drop(ctx.catch())).ok();
    }

    /// What the next call needs, if this one has left nothing behind.
    pub(super) fn again(self, ctx: &Ctx<'js>) -> Option<Again> {
        let is_clean = self.is_clean?;
        let clean = is_clean.call::<_, bool>(()).inspect_err(|_| drop(ctx.catch()));
        clean.unwrap_or(false).then(|| Again {
            kept: Persistent::save(ctx, self.kept),
            script: Persistent::save(ctx, self.script),
            is_clean: Persistent::save(ctx, is_clean),
        })
    }
}

impl Again {
    pub(super) fn restore<'js>(self, ctx: &Ctx<'js>) -> JsResult<Ready<'js>> {
        Ok(Ready {
            kept: self.kept.restore(ctx)?,
            script: self.script.restore(ctx)?,
            is_clean: Some(self.is_clean.restore(ctx)?),
        })
    }
}
