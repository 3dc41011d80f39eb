//! Waiting for what happens outside of the VM, without holding its thread.

use std::rc::Rc;

use gc_arena::Collect;
use piccolo::{
    BoxSequence, CallbackReturn, Context, Error, Execution, Sequence, SequencePoll, Stack,
};

use crate::lua::{
    vm::{
        call::{Call, Outcome},
        host::Host,
    },
    wait::{Answer, Wish},
};

/// What is done with an answer.
pub(super) type Then = for<'gc, 'a> fn(Call<'gc, 'a>, Answer) -> Outcome<'gc>;

/// Ends the slice; the script goes on with `then` when the wish is fulfilled.
pub(super) fn wait<'gc>(mut call: Call<'gc, '_>, wish: Wish, then: Then) -> Outcome<'gc> {
    call.host.wish.replace(Some(wish));
    call.exec.fuel().interrupt();
    call.stack.clear();
    let waiting = Waiting { host: Rc::clone(call.host), name: call.name, then };
    Ok(CallbackReturn::Sequence(BoxSequence::new(&call.ctx, waiting)))
}

#[derive(Collect)]
#[collect(require_static)]
struct Waiting {
    host: Rc<Host>,
    name: &'static str,
    then: Then,
}

impl<'gc> Sequence<'gc> for Waiting {
    fn poll(
        &mut self,
        ctx: Context<'gc>,
        mut exec: Execution<'gc, '_>,
        stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        let Some(answer) = self.host.answer.take() else {
            exec.fuel().interrupt();
            return Ok(SequencePoll::Pending);
        };
        let call = Call::of(&self.host, self.name, ctx, exec, stack);
        // What becomes of an answer is plain values.
        (self.then)(call, answer).map(|_| SequencePoll::Return)
    }
}
