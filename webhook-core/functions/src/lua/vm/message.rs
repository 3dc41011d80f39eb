//! Errors of the VM in Lua's words, with the line.

use gc_arena::{Collect, Rootable};
use piccolo::{
    Context, Error, Executor, InvalidTableKey, RuntimeError, Singleton, StashedExecutor, String,
    TypeError, VMError, Value,
    closure::{UpValue, UpValueState},
    error::LuaError,
};

use super::{
    call::{Call, type_name},
    host::Host,
};
use crate::{
    foreign,
    lua::{CHUNK, compile::Use, stdlib::metamethod},
};

/// The hidden variable that holds the line of the statement that runs.
#[derive(Clone, Copy, Collect)]
#[collect(no_drop)]
pub(crate) struct LineVariable<'gc>(pub(crate) UpValue<'gc>);

impl<'gc> Singleton<'gc> for LineVariable<'gc> {
    fn create(ctx: Context<'gc>) -> Self {
        Self(UpValue::new(&ctx, UpValueState::Closed(Value::Integer(0))))
    }
}

/// The hidden variable of a VM.
pub(crate) fn line_variable<'gc>(ctx: Context<'gc>) -> UpValue<'gc> {
    ctx.singleton::<Rootable![LineVariable<'_>]>().0
}

/// The line of the last statement that took note of it.
pub(crate) fn line(ctx: Context<'_>) -> u32 {
    match line_variable(ctx).get() {
        UpValueState::Closed(Value::Integer(line)) => u32::try_from(line).unwrap_or(0),
        _ => 0,
    }
}

/// What `pcall` gives for an error.
pub(crate) fn error_value<'gc>(host: &Host, ctx: Context<'gc>, error: &Error<'gc>) -> Value<'gc> {
    match error {
        Error::Lua(LuaError(value)) => *value,
        Error::Runtime(error) => {
            let line = line(ctx);
            let text = format!("{CHUNK}:{line}: {}", runtime_text(host, error, line));
            String::from_slice(&ctx, text).into()
        }
    }
}

/// What the log shows of an error that nothing caught.
pub(crate) fn error_text<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    error: &Error<'gc>,
) -> std::string::String {
    match error_value(host, ctx, error) {
        Value::String(text) => text.to_str_lossy().into_owned(),
        value @ (Value::Integer(_) | Value::Number(_)) => super::call::to_string(ctx, value)
            .map_or_else(Default::default, |text| text.to_str_lossy().into_owned()),
        value => format!("(error object is a {} value)", value.type_name()),
    }
}

/// A call of the function `__tostring` of a value that was thrown, if it has one.
pub(crate) fn teller<'gc>(ctx: Context<'gc>, error: &Error<'gc>) -> Option<StashedExecutor> {
    let Error::Lua(LuaError(value)) = error else { return None };
    match metamethod(ctx, *value, "__tostring")? {
        Value::Function(function) => Some(ctx.stash(Executor::start(ctx, function, *value))),
        _ => None,
    }
}

fn runtime_text(host: &Host, error: &RuntimeError, line: u32) -> std::string::String {
    let type_error = error.downcast::<TypeError>().or_else(|| match error.downcast::<VMError>() {
        Some(VMError::BadType(error)) => Some(error),
        _ => None,
    });
    if let Some(TypeError { expected, found }) = type_error {
        return match *expected {
            "table" => used_text(host, line, "index", Use::Index, found),
            "function" => used_text(host, line, "call", Use::Call, found),
            "string or table" => used_text(host, line, "get length of", Use::Length, found),
            expected => format!("{expected} expected, got {found}"),
        };
    }
    match error.downcast::<InvalidTableKey>() {
        Some(error) => super::guard::key_error(error).to_owned(),
        None => error.to_string(),
    }
}

/// What to write here for a name of other places that is nil, such as `global 'Buffer'`.
pub(crate) fn what_to_write(name: &str, found: &str) -> std::string::String {
    let own = name.split('\'').nth(1).and_then(foreign::in_lua).filter(|_| found == "nil");
    own.map_or_else(std::string::String::new, |here| format!("; {here}"))
}

/// `attempt to index a nil value (local 'x')`
pub(crate) fn used_text(
    host: &Host,
    line: u32,
    verb: &str,
    what: Use,
    found: &str,
) -> std::string::String {
    match host.program.sites.name(line, what) {
        Some(name) => {
            let here = what_to_write(name, found);
            format!("attempt to {verb} a {found} value ({name}){here}")
        }
        None => format!("attempt to {verb} a {found} value"),
    }
}

impl<'gc> Call<'gc, '_> {
    /// The line of the statement that called the host; 0 when none did.
    pub(crate) fn line(&self) -> u32 {
        self.origin.unwrap_or_else(|| self.frame_line())
    }

    fn frame_line(&self) -> u32 {
        self.exec.upper_lua_frame().map_or(0, |frame| {
            u32::try_from(frame.current_line.0).unwrap_or(u32::MAX).saturating_add(1)
        })
    }

    /// A value that cannot be used so.
    pub(crate) fn use_error(&self, verb: &str, what: Use, value: Value<'gc>) -> Error<'gc> {
        let (found, cause) = (type_name(self.ctx, value), self.cause(value));
        let text = used_text(self.host, self.line(), verb, what, &found);
        self.fail(format!("{text}{cause}"))
    }

    pub(crate) fn receiver_error(&self, value: Value<'gc>) -> Error<'gc> {
        self.use_error("index", Use::Receiver, value)
    }

    pub(crate) fn index_error(&self, value: Value<'gc>) -> Error<'gc> {
        self.use_error("index", Use::Index, value)
    }
}
