//! Why coroutines are dead, for `coroutine.close`.

use gc_arena::{Collect, Gc, Rootable, lock::RefLock};
use piccolo::{Context, Singleton, Thread, Value};

/// Coroutines whose errors are remembered: a script may let any number of them fail.
const MAX_FAILED: usize = 64;

#[derive(Clone, Copy, Collect)]
#[collect(no_drop)]
struct Failed<'gc>(Gc<'gc, RefLock<Vec<(Thread<'gc>, Value<'gc>)>>>);

impl<'gc> Singleton<'gc> for Failed<'gc> {
    fn create(ctx: Context<'gc>) -> Self {
        Self(Gc::new(&ctx, RefLock::new(Vec::new())))
    }
}

fn failed<'gc>(ctx: Context<'gc>) -> Gc<'gc, RefLock<Vec<(Thread<'gc>, Value<'gc>)>>> {
    ctx.singleton::<Rootable![Failed<'_>]>().0
}

pub(crate) fn remember<'gc>(ctx: Context<'gc>, thread: Thread<'gc>, error: Value<'gc>) {
    let failed = failed(ctx);
    let mut failed = failed.borrow_mut(&ctx);
    if failed.len() >= MAX_FAILED {
        failed.remove(0);
    }
    failed.push((thread, error));
}

/// The error that ended a coroutine, once.
pub(super) fn take<'gc>(ctx: Context<'gc>, thread: Thread<'gc>) -> Option<Value<'gc>> {
    let failed = failed(ctx);
    let mut failed = failed.borrow_mut(&ctx);
    let index = failed.iter().position(|(known, _)| *known == thread)?;
    Some(failed.remove(index).1)
}

/// Forgets everything: the call has ended.
pub(crate) fn forget(ctx: Context<'_>) {
    failed(ctx).borrow_mut(&ctx).clear();
}
