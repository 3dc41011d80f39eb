//! Tables that functions of the host build, within the memory that is left.

use piccolo::{Context, String, Table, Value};

use crate::{
    lua::vm::{
        call::{Call, new_string},
        host::Host,
    },
    modules::{Bounds, ModuleError},
};

/// Builds tables and looks at the memory at each value, and at the time now and then.
pub(super) struct Building<'gc, 'h> {
    pub(super) host: &'h Host,
    pub(super) ctx: Context<'gc>,
    /// How much may be in use, garbage included.
    most_bytes: usize,
    /// The time, which is looked at as well.
    bounds: Bounds,
}

impl<'gc, 'h> Building<'gc, 'h> {
    pub(super) fn begin(call: &Call<'gc, 'h>) -> Self {
        let used = call.ctx.metrics().total_allocation();
        let most_bytes = used.saturating_add(call.room());
        let bounds = Bounds::of_memory(0).until(call.compute_deadline());
        Self { host: call.host, ctx: call.ctx, most_bytes, bounds }
    }

    /// Fails when what was built so far and so many bytes more do not fit.
    pub(super) fn reserve(&mut self, bytes: usize) -> Result<(), ModuleError> {
        let used = self.ctx.metrics().total_allocation();
        if used.saturating_add(bytes) > self.most_bytes {
            return Err(ModuleError::TooLarge);
        }
        // What is in use is counted elsewhere.
        self.bounds.take(0)
    }

    pub(super) fn text(&mut self, bytes: &[u8]) -> Result<String<'gc>, ModuleError> {
        self.reserve(bytes.len())?;
        Ok(String::from_slice(&self.ctx, bytes))
    }

    /// A text that is there already.
    pub(super) fn owned(&mut self, text: std::string::String) -> Result<Value<'gc>, ModuleError> {
        self.reserve(text.len())?;
        Ok(new_string(self.ctx, text.into_bytes()).into())
    }

    pub(super) fn table(&mut self) -> Result<Table<'gc>, ModuleError> {
        self.reserve(0)?;
        Ok(Table::new(&self.ctx))
    }

    /// Stores in a table of the host's own making. Items of a list come in their order.
    pub(super) fn put(
        &mut self,
        table: Table<'gc>,
        key: impl Into<Value<'gc>>,
        value: impl Into<Value<'gc>>,
    ) -> Result<(), ModuleError> {
        let key = key.into();
        // A full list moves to a place that is twice as large.
        let grown = match key {
            Value::Integer(index) => {
                usize::try_from(index).ok().filter(|index| index.is_power_of_two())
            }
            _ => None,
        };
        self.reserve(grown.unwrap_or(0).saturating_mul(2 * size_of::<Value<'gc>>()))?;
        // Only nil and NaN are refused as keys.
        let _ = table.set_value(&self.ctx, key, value.into());
        Ok(())
    }
}
