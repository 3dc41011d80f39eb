//! `table.sort`: a merge sort that can stop at each comparison, because the
//! comparison may be a function of the script.

use std::{cmp::Ordering, rc::Rc};

use allocator_api2::vec::Vec as GcVec;
use gc_arena::{Collect, allocator_api::MetricsAlloc};
use piccolo::{
    BoxSequence, CallbackReturn, Context, Error, Execution, Function, Sequence, SequencePoll,
    Stack, Table, Value,
};

use super::{
    compare::{not_comparable, order},
    sequence::binary_metamethod,
};
use crate::lua::vm::{
    Limit,
    call::{Call, Outcome, positioned},
    guard,
    host::Host,
};

pub(super) fn sort<'gc>(mut call: Call<'gc, '_>) -> Outcome<'gc> {
    let table = call.check_table(1)?;
    let less = match call.arg(2) {
        Value::Nil => None,
        Value::Function(function) => Some(function),
        _ => return Err(call.expected(2, "function")),
    };
    let length = table.length();
    let count = usize::try_from(length).unwrap_or(0);
    call.charge(count as u64);
    // The copy, and as much again to merge into.
    if count.saturating_mul(2 * size_of::<Value<'gc>>()) > call.room() {
        return Err(call.exceed(Limit::Memory));
    }
    let mut values = copies(call.ctx, count);
    values.extend((1..=length).map(|index| table.get_value(Value::Integer(index))));
    if less.is_none() && is_plain(&values) {
        call.charge(count as u64 * u64::from(usize::BITS - count.leading_zeros()) / 4);
        values.sort_by(|left, right| order(*left, *right).flatten().unwrap_or(Ordering::Equal));
        store(call.host, call.ctx, table, &values);
        return call.done_all([]);
    }
    call.stack.clear();
    let scratch = copies(call.ctx, count);
    let host = Rc::clone(call.host);
    let merge = Merge { values, scratch, width: 1, left: 0, right: 1, start: 0, asked: false };
    let sorting = Sorting { table, less, merge, host };
    Ok(CallbackReturn::Sequence(BoxSequence::new(&call.ctx, sorting)))
}

/// Room for so many values, which counts as the script's memory.
fn copies<'gc>(ctx: Context<'gc>, count: usize) -> Copies<'gc> {
    GcVec::with_capacity_in(count, MetricsAlloc::new(&ctx))
}

/// Whether all values are numbers, or all are strings that are compared in no time.
fn is_plain(values: &[Value<'_>]) -> bool {
    let numbers = values.iter().all(|value| match value {
        Value::Integer(_) => true,
        Value::Number(value) => !value.is_nan(),
        _ => false,
    });
    /// Longer strings are compared one by one, so that each comparison is paid for.
    const SHORT_BYTES: usize = 256;
    let short = |value: &Value<'_>| matches!(value, Value::String(text) if text.as_bytes().len() <= SHORT_BYTES);
    numbers || values.iter().all(short)
}

fn store<'gc>(host: &Host, ctx: Context<'gc>, table: Table<'gc>, values: &[Value<'gc>]) {
    for (index, value) in (1..).zip(values) {
        // Integers are never refused as keys.
        let _ = guard::raw_set(host, ctx, table, Value::Integer(index), *value);
    }
}

/// Values beside the table.
type Copies<'gc> = GcVec<Value<'gc>, MetricsAlloc<'gc>>;

/// A bottom-up merge sort between two comparisons.
#[derive(Collect)]
#[collect(no_drop)]
struct Merge<'gc> {
    values: Copies<'gc>,
    scratch: Copies<'gc>,
    /// The length of the runs that are being merged.
    width: usize,
    /// Where the two runs begin that are being merged, and how far they are used up.
    start: usize,
    left: usize,
    right: usize,
    /// Whether the answer to `right < left` is awaited.
    asked: bool,
}

/// What a merge needs next.
enum Need<'gc> {
    /// Whether the first is less than the second.
    Less(Value<'gc>, Value<'gc>),
    Done,
}

impl<'gc> Merge<'gc> {
    fn left_end(&self) -> usize {
        (self.start + self.width).min(self.values.len())
    }

    fn right_end(&self) -> usize {
        (self.start + 2 * self.width).min(self.values.len())
    }

    fn value(&self, index: usize) -> Value<'gc> {
        self.values.get(index).copied().unwrap_or_default()
    }

    /// Goes on with the answer to the last question.
    fn go_on(&mut self, answer: bool) -> Need<'gc> {
        if std::mem::replace(&mut self.asked, false) {
            let taken = if answer { &mut self.right } else { &mut self.left };
            let index = *taken;
            *taken += 1;
            self.scratch.push(self.value(index));
        }
        loop {
            let (left_end, right_end) = (self.left_end(), self.right_end());
            if self.left < left_end && self.right < right_end {
                self.asked = true;
                return Need::Less(self.value(self.right), self.value(self.left));
            }
            // One run is used up; the rest of the other follows.
            self.scratch.extend_from_slice(self.values.get(self.left..left_end).unwrap_or(&[]));
            self.scratch.extend_from_slice(self.values.get(self.right..right_end).unwrap_or(&[]));
            self.start = right_end;
            if self.start >= self.values.len() {
                std::mem::swap(&mut self.values, &mut self.scratch);
                self.scratch.clear();
                self.width *= 2;
                self.start = 0;
                if self.width >= self.values.len() {
                    return Need::Done;
                }
            }
            self.left = self.start;
            self.right = self.left_end();
        }
    }
}

/// How many bytes a comparison may look at.
fn compared(left: Value<'_>, right: Value<'_>) -> i32 {
    match (left, right) {
        (Value::String(left), Value::String(right)) => {
            let shorter = left.as_bytes().len().min(right.as_bytes().len());
            i32::try_from(shorter).unwrap_or(i32::MAX)
        }
        _ => 0,
    }
}

#[derive(Collect)]
#[collect(no_drop)]
struct Sorting<'gc> {
    table: Table<'gc>,
    less: Option<Function<'gc>>,
    merge: Merge<'gc>,
    #[collect(require_static)]
    host: Rc<Host>,
}

impl<'gc> Sequence<'gc> for Sorting<'gc> {
    fn poll(
        &mut self,
        ctx: Context<'gc>,
        mut exec: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Error<'gc>> {
        let mut answer = stack.get(0).to_bool();
        stack.clear();
        loop {
            let (left, right) = match self.merge.go_on(answer) {
                Need::Less(left, right) => (left, right),
                Need::Done => {
                    store(&self.host, ctx, self.table, &self.merge.values);
                    return Ok(SequencePoll::Return);
                }
            };
            exec.fuel().consume(4 + compared(left, right) / 32);
            let function = match self.less {
                Some(function) => function,
                None => match order(left, right) {
                    Some(ordering) => {
                        answer = ordering == Some(Ordering::Less);
                        if exec.fuel().should_continue() {
                            continue;
                        }
                        // The answer is handed to the next poll.
                        stack.push_back(Value::Boolean(answer));
                        return Ok(SequencePoll::Pending);
                    }
                    None => binary_metamethod(ctx, left, right, "__lt")
                        .ok_or_else(|| positioned(ctx, &exec, &not_comparable(ctx, left, right)))?,
                },
            };
            stack.extend([left, right]);
            return Ok(SequencePoll::Call { function, is_tail: false });
        }
    }
}
