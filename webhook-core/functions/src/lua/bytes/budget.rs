//! What one call may use: steps, bytes of a produced string, number of produced values.

/// The limit that [`BudgetExceeded`] names when a produced string would be too long.
pub const STRING_BYTES: &str = "string bytes";

/// The limit that [`BudgetExceeded`] names when a call would return too many values.
pub const VALUES: &str = "returned values";

/// Bytes that one step pays for when they are only copied, compared or searched for one byte.
const COPIED_BYTES_PER_STEP: usize = 64;

/// Bytes that one step pays for when each of them is looked at.
const SCANNED_BYTES_PER_STEP: usize = 16;

/// A limit was reached; the call that reports it produced nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the limit of {limit} is exceeded")]
pub struct BudgetExceeded {
    /// Which limit: the step limit's name, [`STRING_BYTES`] or [`VALUES`].
    pub limit: &'static str,
}

/// The work and the memory that calls may use together.
///
/// A step is an upper bound for some ten nanoseconds of work: one pattern item tried, one format directive,
/// 16 bytes looked at one by one, 64 bytes copied. Steps only ever go down; the byte and value caps hold for each
/// produced string and each returned list on its own.
#[derive(Debug, Clone)]
pub struct Budget {
    steps_limit: u64,
    steps_left: u64,
    steps_name: &'static str,
    max_string_bytes: usize,
    max_values: usize,
}

impl Default for Budget {
    /// 1 million steps, strings of 8 MiB, 8 192 values.
    fn default() -> Self {
        Self::new(1_000_000, 8 << 20)
    }
}

impl Budget {
    /// A budget of `steps` in which no produced string is longer than `max_string_bytes`; 8 192 values per call.
    #[must_use]
    pub const fn new(steps: u64, max_string_bytes: usize) -> Self {
        Self {
            steps_limit: steps,
            steps_left: steps,
            steps_name: "steps",
            max_string_bytes,
            max_values: 8192,
        }
    }

    /// Caps the number of values that one call returns.
    #[must_use]
    pub const fn with_max_values(mut self, max_values: usize) -> Self {
        self.max_values = max_values;
        self
    }

    /// Sets the name under which [`BudgetExceeded`] reports the step limit, by default `steps`.
    #[must_use]
    pub const fn with_steps_name(mut self, name: &'static str) -> Self {
        self.steps_name = name;
        self
    }

    /// Steps taken so far, for charging to fuel.
    #[must_use]
    pub const fn steps_used(&self) -> u64 {
        self.steps_limit - self.steps_left
    }

    /// Steps that are left.
    #[must_use]
    pub const fn steps_left(&self) -> u64 {
        self.steps_left
    }

    /// The longest string that a call may produce, in bytes.
    #[must_use]
    pub const fn max_string_bytes(&self) -> usize {
        self.max_string_bytes
    }

    /// Takes `steps`. After a failure nothing is left, so that work cannot go on in smaller pieces.
    ///
    /// # Errors
    /// When fewer are left.
    #[inline]
    pub fn charge(&mut self, steps: u64) -> Result<(), BudgetExceeded> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => {
                self.steps_left = 0;
                Err(BudgetExceeded { limit: self.steps_name })
            }
        }
    }

    /// Takes the steps for copying, comparing or searching `len` bytes.
    ///
    /// # Errors
    /// When fewer are left.
    #[inline]
    pub fn charge_copy(&mut self, len: usize) -> Result<(), BudgetExceeded> {
        self.charge(1 + (len / COPIED_BYTES_PER_STEP) as u64)
    }

    /// Takes the steps for looking at `len` bytes one by one.
    ///
    /// # Errors
    /// When fewer are left.
    #[inline]
    pub fn charge_scan(&mut self, len: usize) -> Result<(), BudgetExceeded> {
        self.charge(1 + (len / SCANNED_BYTES_PER_STEP) as u64)
    }

    /// Refuses a string of `len` bytes that would be too long.
    ///
    /// # Errors
    /// When `len` is above the cap.
    #[inline]
    pub fn check_string(&self, len: usize) -> Result<(), BudgetExceeded> {
        if len > self.max_string_bytes {
            Err(BudgetExceeded { limit: STRING_BYTES })
        } else {
            Ok(())
        }
    }

    /// Refuses a list of `count` values that would be too long.
    ///
    /// # Errors
    /// When `count` is above the cap.
    #[inline]
    pub fn check_values(&self, count: usize) -> Result<(), BudgetExceeded> {
        if count > self.max_values { Err(BudgetExceeded { limit: VALUES }) } else { Ok(()) }
    }

    /// Appends `bytes` to `out` when the result stays within the cap, and charges for the copy.
    ///
    /// # Errors
    /// When the string would be too long or too few steps are left.
    pub fn append(&mut self, out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), BudgetExceeded> {
        self.check_string(out.len().saturating_add(bytes.len()))?;
        self.charge_copy(bytes.len())?;
        out.extend_from_slice(bytes);
        Ok(())
    }
}
