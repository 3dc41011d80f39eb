//! `gsub`, whose replacement may be a function that waits.

use std::rc::Rc;

use gc_arena::Collect;
use piccolo::{
    BoxSequence, CallbackReturn, Context, Error, Execution, Function, Sequence, SequencePoll,
    Stack, String, Value,
    meta_ops::{self, MetaResult},
};

use super::find::push_values;
use crate::lua::{
    bytes::{
        Budget,
        pattern::{self, GSub, Replaced},
    },
    vm::{
        Limit,
        call::{Call, Outcome, new_string, to_string},
        held::Held,
        host::Host,
    },
};

pub(super) fn gsub<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let (text, pattern) = (call.check_string(1)?, call.check_string(2)?);
    let replacement = call.arg(3);
    let max = call.maybe_int(4)?;
    match replacement {
        Value::String(_) | Value::Integer(_) | Value::Number(_) => {
            let template = call.check_string(3)?;
            let (bytes, pattern) = (text.as_bytes(), pattern.as_bytes());
            let replaced = call.compute(|budget| {
                pattern::gsub(bytes, pattern, template.as_bytes(), max, budget)
            })?;
            let values = results(call.ctx, text, replaced);
            call.done_all(values)
        }
        Value::Table(_) | Value::Function(_) => {
            let state = GSub::new(pattern.as_bytes(), max);
            let budget = call.budget();
            let host = Rc::clone(call.host);
            let substitution = Substitution {
                text,
                pattern,
                replacement,
                asked: false,
                work: Some((state, budget)),
                held: Held::none(call.ctx),
                host,
            };
            Ok(CallbackReturn::Sequence(BoxSequence::new(&call.ctx, substitution)))
        }
        other => {
            let got = if call.stack.len() < 3 { "no value" } else { other.type_name() };
            let reason = format!("string/function/table expected, got {got}");
            Err(call.bad_argument(3, reason))
        }
    }
}

fn results<'gc>(ctx: Context<'gc>, text: String<'gc>, replaced: Replaced) -> [Value<'gc>; 2] {
    let text = replaced.text.map_or(text, |text| new_string(ctx, text));
    [text.into(), Value::Integer(replaced.count)]
}

#[derive(Collect)]
#[collect(no_drop)]
struct Substitution<'gc> {
    text: String<'gc>,
    pattern: String<'gc>,
    replacement: Value<'gc>,
    /// Whether the stack holds what the replacement said of the last match.
    asked: bool,
    /// There until the end.
    #[collect(require_static)]
    work: Option<(GSub, Budget)>,
    /// What `work` has written so far, while functions of the script run.
    #[collect(require_static)]
    held: Held,
    #[collect(require_static)]
    host: Rc<Host>,
}

impl<'gc> Sequence<'gc> for Substitution<'gc> {
    fn poll(
        &mut self,
        ctx: Context<'gc>,
        exec: Execution<'gc, '_>,
        stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        let host = Rc::clone(&self.host);
        let mut call = Call::of(&host, "gsub", ctx, exec, stack);
        let Some((mut state, mut budget)) = self.work.take() else {
            return Ok(SequencePoll::Return);
        };
        let before = budget.steps_used();
        let asked = std::mem::replace(&mut self.asked, false);
        let step = self.step(&mut call, &mut state, &mut budget, asked);
        call.charge(budget.steps_used() - before);
        match step? {
            Some(function) => {
                self.asked = true;
                self.held.set(state.output_bytes());
                if call.room() == 0 {
                    return Err(call.exceed(Limit::Memory));
                }
                self.work = Some((state, budget));
                Ok(SequencePoll::Call { function, is_tail: false })
            }
            None => {
                let replaced = state.finish(self.text.as_bytes(), &mut budget);
                let replaced = replaced.map_err(|error| call.bytes_error(&error))?;
                call.stack.clear();
                call.stack.extend(results(ctx, self.text, replaced));
                Ok(SequencePoll::Return)
            }
        }
    }
}

impl<'gc> Substitution<'gc> {
    /// Goes on until a function must be called, which is returned, or to the end.
    fn step(
        &self,
        call: &mut Call<'gc, '_>,
        state: &mut GSub,
        budget: &mut Budget,
        mut asked: bool,
    ) -> Result<Option<Function<'gc>>, Error<'gc>> {
        let text = self.text.as_bytes();
        loop {
            if asked {
                let value = call.stack.get(0);
                self.replace(call, state, budget, value)?;
            }
            asked = false;
            let found = state.next_match(text, self.pattern.as_bytes(), budget);
            let Some(found) = found.map_err(|error| call.bytes_error(&error))? else {
                return Ok(None);
            };
            let values =
                if matches!(self.replacement, Value::Table(_)) { 1 } else { found.values() };
            call.stack.clear();
            push_values(call, &found, text, values)?;
            match self.replacement {
                Value::Function(function) => return Ok(Some(function)),
                table => {
                    let key = call.stack.get(0);
                    match meta_ops::index(call.ctx, table, key) {
                        Ok(MetaResult::Value(value)) => self.replace(call, state, budget, value)?,
                        Ok(MetaResult::Call(meta)) => {
                            call.stack.clear();
                            call.stack.extend(meta.args);
                            return Ok(Some(meta.function));
                        }
                        Err(_) => return Err(call.index_error(table)),
                    }
                }
            }
        }
    }

    fn replace(
        &self,
        call: &mut Call<'gc, '_>,
        state: &mut GSub,
        budget: &mut Budget,
        value: Value<'gc>,
    ) -> Result<(), Error<'gc>> {
        if matches!(value, Value::Nil | Value::Boolean(false)) {
            return Ok(());
        }
        let Some(replacement) = to_string(call.ctx, value) else {
            let kind = value.type_name();
            return Err(call.fail(format!("invalid replacement value (a {kind})")));
        };
        let replaced = state.replace(self.text.as_bytes(), replacement.as_bytes(), budget);
        replaced.map_err(|error| call.bytes_error(&error))
    }
}
