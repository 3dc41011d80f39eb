//! What the result of a module may weigh, and how long it may take.

use std::time::Instant;

use serde_json::Value;

use super::ModuleError;

/// Levels of lists and objects inside one another.
pub(crate) const MAX_DEPTH: usize = 100;

/// The memory that is left for a tree, which is charged while the tree is built.
///
/// Charges are what trees take, with the room that lists keep to grow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    bytes: usize,
    /// When the script must have ended.
    until: Option<Instant>,
    /// How often something was taken.
    taken: u32,
}

/// How many things are taken between two looks at the clock.
const TAKEN_PER_LOOK: u32 = 1_024;

/// A value in its place in a list or an object, which keeps as much room again.
const VALUE_BYTES: usize = 2 * size_of::<Value>();

/// What an allocation takes beside what it holds.
const ALLOCATION_BYTES: usize = 16;

/// An object with its first field, which makes room for four.
const OBJECT_BYTES: usize = 4 * (size_of::<Value>() + size_of::<String>() + 2 * size_of::<usize>());

/// A field, its value not included.
const FIELD_BYTES: usize = size_of::<String>() + 2 * size_of::<usize>() + ALLOCATION_BYTES;

impl Bounds {
    /// Room for so many bytes.
    pub(crate) const fn of_memory(bytes: usize) -> Self {
        Self { bytes, until: None, taken: 0 }
    }

    /// The same, but nothing is taken much after `until`.
    pub(crate) const fn until(self, until: Instant) -> Self {
        Self { until: Some(until), ..self }
    }

    /// Fails when the time is over.
    pub(crate) fn check_time(&self) -> Result<(), ModuleError> {
        match self.until {
            Some(until) if Instant::now() >= until => Err(ModuleError::TooSlow),
            _ => Ok(()),
        }
    }

    /// How many bytes are left.
    pub(crate) const fn bytes(self) -> usize {
        self.bytes
    }

    /// Takes bytes.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), ModuleError> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or(ModuleError::TooLarge)?;
        self.taken = self.taken.wrapping_add(1);
        if self.taken.is_multiple_of(TAKEN_PER_LOOK) { self.check_time() } else { Ok(()) }
    }

    /// Gives back what [`take`](Self::take) took for something that is gone.
    #[cfg(feature = "lua")]
    pub(crate) fn give(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Takes a plain value, or the list or object around others.
    pub(crate) fn value(&mut self) -> Result<(), ModuleError> {
        self.take(VALUE_BYTES)
    }

    /// Takes a text of so many bytes.
    pub(crate) fn text(&mut self, bytes: usize) -> Result<(), ModuleError> {
        self.take(bytes.saturating_add(VALUE_BYTES + ALLOCATION_BYTES))
    }

    /// Takes what a list has room for when its first item comes.
    pub(crate) fn list(&mut self) -> Result<(), ModuleError> {
        self.take(2 * size_of::<Value>() + ALLOCATION_BYTES)
    }

    /// Takes a field with a key of so many bytes, but not its value.
    pub(crate) fn field(&mut self, first: bool, key_bytes: usize) -> Result<(), ModuleError> {
        let object = if first { OBJECT_BYTES } else { 0 };
        self.take(key_bytes.saturating_add(FIELD_BYTES + object))
    }
}
