//! What goes on after a function of the script was called from the host.

use gc_arena::Collect;
use piccolo::{
    BoxSequence, CallbackReturn, Context, Error, Execution, Function, Sequence, SequencePoll,
    Stack, Value,
};

use crate::lua::vm::call::{Call, Outcome};

/// Cuts the results of a metamethod to one value.
#[derive(Collect)]
#[collect(require_static)]
pub(super) enum One {
    /// As it is.
    Value,
    /// True or false.
    Truth,
    /// The opposite of it.
    Untruth,
}

impl<'gc> Sequence<'gc> for One {
    fn poll(
        &mut self,
        _: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        let value = stack.get(0);
        stack.clear();
        stack.push_back(match self {
            Self::Value => value,
            Self::Truth => Value::Boolean(value.to_bool()),
            Self::Untruth => Value::Boolean(!value.to_bool()),
        });
        Ok(SequencePoll::Return)
    }
}

/// Calls a metamethod for one value.
pub(super) fn call_one<'gc>(
    mut call: Call<'gc, '_>,
    function: Function<'gc>,
    arguments: [Value<'gc>; 2],
    then: One,
) -> Outcome<'gc> {
    call.stack.clear();
    call.stack.extend(arguments);
    let then = Some(BoxSequence::new(&call.ctx, then));
    Ok(CallbackReturn::Call { function, then })
}

/// A metamethod of a value, when it has one.
pub(in super::super) fn metamethod<'gc>(
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
