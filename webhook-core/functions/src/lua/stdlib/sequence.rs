//! What goes on after a function of the script was called from the host.

use gc_arena::Collect;
use piccolo::{
    BoxSequence, Context, Error, Execution, Function, Sequence, SequencePoll, Stack, Value,
};

use crate::lua::vm::call::{Call, Outcome};

/// Changes what a function of the script has returned, which is on the stack.
#[derive(Collect)]
#[collect(require_static)]
pub(super) struct Results<F: 'static>(pub(super) F);

impl<'gc, F: Fn(&mut Stack<'gc, '_>) + 'static> Sequence<'gc> for Results<F> {
    fn poll(
        &mut self,
        _: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        (self.0)(&mut stack);
        Ok(SequencePoll::Return)
    }
}

/// Calls a metamethod for one value; `made` makes the result from it.
pub(super) fn call_one<'gc>(
    call: Call<'gc, '_>,
    function: Function<'gc>,
    arguments: [Value<'gc>; 2],
    made: for<'v> fn(Value<'v>) -> Value<'v>,
) -> Outcome<'gc> {
    let then = Results(move |stack: &mut Stack<'gc, '_>| {
        let value = made(stack.get(0));
        stack.clear();
        stack.push_back(value);
    });
    let then = Some(BoxSequence::new(&call.ctx, then));
    call.hand_over(function, arguments, then)
}

/// A metamethod of a value, when it has one.
pub(crate) fn metamethod<'gc>(
    ctx: Context<'gc>,
    value: Value<'gc>,
    event: &'static str,
) -> Option<Value<'gc>> {
    let metatable = match value {
        Value::Table(table) => table.metatable(),
        Value::UserData(data) => data.metatable(),
        _ => None,
    }?;
    let method = metatable.get(ctx, ctx.intern_static(event.as_bytes()));
    (!method.is_nil()).then_some(method)
}

/// The metamethod of the first operand that has one, ready to be called.
pub(super) fn binary_metamethod<'gc>(
    ctx: Context<'gc>,
    left: Value<'gc>,
    right: Value<'gc>,
    event: &'static str,
) -> Option<Function<'gc>> {
    let method = metamethod(ctx, left, event).or_else(|| metamethod(ctx, right, event))?;
    piccolo::meta_ops::call(ctx, method).ok()
}
