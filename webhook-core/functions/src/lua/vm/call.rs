//! What a function of the host sees of the call it serves.

use std::{borrow::Cow, rc::Rc, time::Instant};

use piccolo::{
    BoxSequence, Callback, CallbackReturn, Context, Error, Execution, Function, Stack, String,
    Table, Value, error::LuaError,
};

use super::{Limit, host::Host};
use crate::lua::{
    CHUNK,
    bytes::{self, Arg, Budget, number::Number},
    stdlib::metamethod,
};

/// What a message shows of the name that a metatable gives.
const MAX_NAME_CHARS: usize = 64;

/// What a function of the host ends with.
pub(crate) type Outcome<'gc> = Result<CallbackReturn<'gc>, Error<'gc>>;

/// A function of the host.
pub(crate) type Native = for<'gc, 'a> fn(Call<'gc, 'a>) -> Outcome<'gc>;

/// One call of a function of the host.
pub(crate) struct Call<'gc, 'a> {
    pub(crate) host: &'a Rc<Host>,
    /// The function's name, for messages.
    pub(crate) name: &'static str,
    /// Whether it was called as a method of a string, which then is no argument in messages.
    pub(crate) method: bool,
    /// The line of the call, where the frame that called is gone or is not the script's.
    pub(crate) origin: Option<u32>,
    pub(crate) ctx: Context<'gc>,
    pub(crate) exec: Execution<'gc, 'a>,
    pub(crate) stack: Stack<'gc, 'a>,
}

/// Makes a function of the host into a value.
pub(crate) fn native<'gc>(
    ctx: Context<'gc>,
    host: &Rc<Host>,
    name: &'static str,
    function: Native,
) -> Callback<'gc> {
    let host = Rc::clone(host);
    Callback::from_fn(&ctx, move |ctx, exec, stack| {
        let method = host.method.take();
        let origin = host.origin.take();
        function(Call { host: &host, name, method, origin, ctx, exec, stack })
    })
}

/// Fills a table with functions.
pub(crate) fn library<'gc>(
    ctx: Context<'gc>,
    host: &Rc<Host>,
    functions: &[(&'static str, Native)],
) -> Table<'gc> {
    let table = Table::new(&ctx);
    for (name, function) in functions {
        set_field(ctx, table, name, native(ctx, host, name, *function));
    }
    table
}

/// Stores under a name in a table that the script has not seen yet.
pub(crate) fn set_field<'gc>(
    ctx: Context<'gc>,
    table: Table<'gc>,
    name: &'static str,
    value: impl Into<Value<'gc>>,
) {
    let key = ctx.intern_static(name.as_bytes());
    // Only nil and NaN are refused as keys.
    let _ = table.set_value(&ctx, key.into(), value.into());
}

impl<'gc, 'a> Call<'gc, 'a> {
    /// A call that the host makes without a line of the script.
    pub(crate) fn of(
        host: &'a Rc<Host>,
        name: &'static str,
        ctx: Context<'gc>,
        exec: Execution<'gc, 'a>,
        stack: Stack<'gc, 'a>,
    ) -> Self {
        Self { host, name, method: false, origin: None, ctx, exec, stack }
    }
}

impl<'gc> Call<'gc, '_> {
    /// Argument `index`, from 1; nil when there is none.
    pub(crate) fn arg(&self, index: usize) -> Value<'gc> {
        self.stack.get(index.saturating_sub(1))
    }

    /// Returns these values.
    pub(crate) fn done(mut self, value: impl Into<Value<'gc>>) -> Outcome<'gc> {
        self.stack.clear();
        self.stack.push_back(value.into());
        Ok(CallbackReturn::Return)
    }

    /// Returns these values.
    pub(crate) fn done_all(mut self, values: impl IntoIterator<Item = Value<'gc>>) -> Outcome<'gc> {
        self.stack.clear();
        self.stack.extend(values);
        Ok(CallbackReturn::Return)
    }

    /// Returns a text whose length was looked at before.
    pub(crate) fn done_text(self, text: Vec<u8>) -> Outcome<'gc> {
        let text = new_string(self.ctx, text);
        self.done(text)
    }

    /// Returns a text, unless it is too long.
    pub(crate) fn done_string(mut self, text: Vec<u8>) -> Outcome<'gc> {
        let text = self.string(text)?;
        self.done(text)
    }

    /// Returns the text that a computation over bytes makes.
    pub(crate) fn done_computed(
        mut self,
        compute: impl FnOnce(&mut Budget) -> Result<Vec<u8>, bytes::Error>,
    ) -> Outcome<'gc> {
        let text = self.compute(compute)?;
        self.done_text(text)
    }

    /// Ends this call with a call of a function; `then` handles its results.
    pub(crate) fn hand_over(
        mut self,
        function: Function<'gc>,
        arguments: impl IntoIterator<Item = Value<'gc>>,
        then: Option<BoxSequence<'gc>>,
    ) -> Outcome<'gc> {
        self.stack.clear();
        self.stack.extend(arguments);
        Ok(CallbackReturn::Call { function, then })
    }

    /// Returns nil and why.
    pub(crate) fn done_failed(self, reason: &str) -> Outcome<'gc> {
        self.host.failure.replace(Some((self.line(), reason.to_owned())));
        let reason = String::from_slice(&self.ctx, reason.as_bytes());
        self.done_all([Value::Nil, reason.into()])
    }

    /// An error of the script, with the line of the call.
    pub(crate) fn fail(&self, message: impl AsRef<str>) -> Error<'gc> {
        match self.origin {
            Some(line) => at_line(self.ctx, line, message.as_ref()),
            None => positioned(self.ctx, &self.exec, message.as_ref()),
        }
    }

    /// Why the function that has just given nil on this line has failed, for the
    /// message of the one that got it.
    pub(crate) fn cause(&self, value: Value<'gc>) -> std::string::String {
        match &*self.host.failure.borrow() {
            Some((line, reason)) if value.is_nil() && *line == self.line() => format!(": {reason}"),
            _ => Default::default(),
        }
    }

    pub(crate) fn bad_argument(&self, index: usize, reason: impl AsRef<str>) -> Error<'gc> {
        let reason = reason.as_ref();
        let name = self.name;
        let index = match (self.method, index) {
            (true, 1) => return self.fail(format!("calling '{name}' on bad self ({reason})")),
            (true, index) => index - 1,
            (false, index) => index,
        };
        self.fail(format!("bad argument #{index} to '{name}' ({reason})"))
    }

    pub(crate) fn expected(&self, index: usize, wanted: &str) -> Error<'gc> {
        let (got, cause) = (self.type_at(index), self.cause(self.arg(index)));
        self.bad_argument(index, format!("{wanted} expected, got {got}{cause}"))
    }

    fn type_at(&self, index: usize) -> Cow<'static, str> {
        if index > self.stack.len() {
            return Cow::Borrowed("no value");
        }
        type_name(self.ctx, self.arg(index))
    }

    /// Fails when there are fewer arguments.
    pub(crate) fn check_any(&self, index: usize) -> Result<Value<'gc>, Error<'gc>> {
        if index > self.stack.len() {
            return Err(self.bad_argument(index, "value expected"));
        }
        Ok(self.arg(index))
    }

    pub(crate) fn check_table(&self, index: usize) -> Result<Table<'gc>, Error<'gc>> {
        match self.arg(index) {
            Value::Table(table) => Ok(table),
            _ => Err(self.expected(index, "table")),
        }
    }

    /// A string, or a number as text.
    pub(crate) fn check_string(&self, index: usize) -> Result<String<'gc>, Error<'gc>> {
        to_string(self.ctx, self.arg(index)).ok_or_else(|| self.expected(index, "string"))
    }

    /// Text, for modules whose input is text; other bytes are replaced.
    pub(crate) fn check_text(&self, index: usize) -> Result<std::string::String, Error<'gc>> {
        Ok(self.check_string(index)?.to_str_lossy().into_owned())
    }

    pub(crate) fn opt_string(&self, index: usize) -> Result<Option<String<'gc>>, Error<'gc>> {
        if self.arg(index).is_nil() { Ok(None) } else { self.check_string(index).map(Some) }
    }

    pub(crate) fn check_number(&self, index: usize) -> Result<Number, Error<'gc>> {
        to_number(self.arg(index)).ok_or_else(|| self.expected(index, "number"))
    }

    pub(crate) fn check_float(&self, index: usize) -> Result<f64, Error<'gc>> {
        self.check_number(index).map(Number::to_float)
    }

    pub(crate) fn check_int(&self, index: usize) -> Result<i64, Error<'gc>> {
        self.check_number(index)?
            .to_integer()
            .ok_or_else(|| self.bad_argument(index, "number has no integer representation"))
    }

    /// An integer, unless there is nil.
    pub(crate) fn maybe_int(&self, index: usize) -> Result<Option<i64>, Error<'gc>> {
        if self.arg(index).is_nil() { Ok(None) } else { self.check_int(index).map(Some) }
    }

    pub(crate) fn opt_int(&self, index: usize, default: i64) -> Result<i64, Error<'gc>> {
        Ok(self.maybe_int(index)?.unwrap_or(default))
    }

    /// Takes fuel for work that is not VM instructions.
    pub(crate) fn charge(&mut self, units: u64) {
        self.exec.fuel().consume(i32::try_from(units).unwrap_or(i32::MAX));
    }

    /// Takes fuel for looking at so many bytes.
    pub(crate) fn charge_bytes(&mut self, bytes: usize) {
        self.charge(bytes as u64 / 32);
    }

    /// Ends the whole call of the script; no `pcall` stops that.
    pub(crate) fn exceed(&mut self, limit: Limit) -> Error<'gc> {
        self.host.exceed(limit);
        self.exec.fuel().interrupt();
        self.fail(limit.name())
    }

    /// The memory that a function of the host may still take, in bytes.
    ///
    /// Nothing is collected while it runs, so what is in use counts garbage, too:
    /// up to the limit when the slice began. Twice the limit is therefore the
    /// least that proves that the script's own memory does not do.
    pub(crate) fn room(&self) -> usize {
        let limit = self.host.limits.memory_bytes;
        let used = self.ctx.metrics().total_allocation();
        limit.saturating_mul(2).saturating_sub(used).min(limit)
    }

    /// When the script will have computed for as long as it may, but for what
    /// the slice has computed before this call.
    pub(crate) fn compute_deadline(&self) -> Instant {
        let used = self.host.script.borrow().compute_time;
        Instant::now() + self.host.limits.compute_time.saturating_sub(used)
    }

    /// What one computation over bytes may use.
    pub(crate) fn budget(&self) -> Budget {
        let limits = &self.host.limits;
        Budget::new(limits.pattern_steps, limits.string_bytes)
            .with_max_values(limits.unpacked_values)
            .with_steps_name(Limit::PatternSteps.name())
    }

    /// The result of such a computation, whose steps are paid for.
    pub(crate) fn compute<T>(
        &mut self,
        compute: impl FnOnce(&mut Budget) -> Result<T, bytes::Error>,
    ) -> Result<T, Error<'gc>> {
        let mut budget = self.budget();
        let result = compute(&mut budget);
        self.charge(budget.steps_used());
        result.map_err(|error| self.bytes_error(&error))
    }

    pub(crate) fn bytes_error(&mut self, error: &bytes::Error) -> Error<'gc> {
        match error {
            bytes::Error::Budget(exceeded) => {
                let limit = match exceeded.limit {
                    bytes::STRING_BYTES => Limit::StringBytes,
                    bytes::VALUES => Limit::UnpackedValues,
                    _ => Limit::PatternSteps,
                };
                self.exceed(limit)
            }
            bytes::Error::Argument { index, message, .. } => self.bad_argument(*index, message),
            error => self.fail(error.to_string()),
        }
    }

    /// A string made of these bytes, unless it is too long.
    pub(crate) fn string(&mut self, bytes: Vec<u8>) -> Result<Value<'gc>, Error<'gc>> {
        if bytes.len() > self.host.limits.string_bytes {
            return Err(self.exceed(Limit::StringBytes));
        }
        self.charge_bytes(bytes.len());
        Ok(new_string(self.ctx, bytes).into())
    }
}

/// A string that owns its bytes.
pub(crate) fn new_string(ctx: Context<'_>, bytes: Vec<u8>) -> String<'_> {
    if bytes.len() <= 256 {
        String::from_slice(&ctx, bytes)
    } else {
        String::from_buffer(&ctx, bytes.into_boxed_slice())
    }
}

/// An error of the script at the line that runs in the function which called the host, as Lua's
/// `luaL_error` puts it.
pub(crate) fn positioned<'gc>(
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    message: &str,
) -> Error<'gc> {
    let text = match exec.upper_lua_frame() {
        Some(frame) => format!("{CHUNK}:{}: {message}", frame.current_line),
        None => message.to_owned(),
    };
    Error::Lua(LuaError(String::from_slice(&ctx, text).into()))
}

/// An error of the script at a line.
pub(crate) fn at_line<'gc>(ctx: Context<'gc>, line: u32, message: &str) -> Error<'gc> {
    let text = format!("{CHUNK}:{line}: {message}");
    Error::Lua(LuaError(String::from_slice(&ctx, text).into()))
}

/// A string, or a number as text.
pub(crate) fn to_string<'gc>(ctx: Context<'gc>, value: Value<'gc>) -> Option<String<'gc>> {
    let number = match value {
        Value::String(string) => return Some(string),
        Value::Integer(value) => Number::Int(value),
        Value::Number(value) => Number::Float(value),
        _ => return None,
    };
    Some(String::from_slice(&ctx, bytes::number::to_text(number)))
}

/// A number, or a string that reads as one.
pub(crate) fn to_number(value: Value<'_>) -> Option<Number> {
    match value {
        Value::Integer(value) => Some(Number::Int(value)),
        Value::Number(value) => Some(Number::Float(value)),
        Value::String(text) => {
            // Longer texts are no numbers that anyone writes.
            let mut budget = Budget::new(1_000, 0);
            Arg::Bytes(text.as_bytes()).to_number(&mut budget).ok().flatten()
        }
        _ => None,
    }
}

/// What a value is, by the name that its metatable gives to its kind.
pub(crate) fn type_name<'gc>(ctx: Context<'gc>, value: Value<'gc>) -> Cow<'static, str> {
    match metamethod(ctx, value, "__name") {
        Some(Value::String(name)) => {
            Cow::Owned(name.to_str_lossy().chars().take(MAX_NAME_CHARS).collect())
        }
        _ => Cow::Borrowed(value.type_name()),
    }
}

pub(crate) fn number_value<'gc>(number: Number) -> Value<'gc> {
    match number {
        Number::Int(value) => Value::Integer(value),
        Number::Float(value) => Value::Number(value),
    }
}
