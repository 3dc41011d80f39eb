//! Enums of names, and values that can be absent.

use super::{Shape, Value};

/// An enum of names.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every value.
    const VALUES: &'static [Self];
    /// Its name on the wire, and what it is called in a form, in the same order.
    const NAMES: &'static [(&'static str, &'static str)];

    /// The name on the wire.
    #[must_use]
    fn name(self) -> &'static str {
        let at = Self::VALUES.iter().position(|value| *value == self);
        at.and_then(|at| Self::NAMES.get(at)).map_or("", |(name, _)| name)
    }

    /// What it is called in a form.
    #[must_use]
    fn label(self) -> &'static str {
        let at = Self::VALUES.iter().position(|value| *value == self);
        at.and_then(|at| Self::NAMES.get(at)).map_or("", |(_, label)| label)
    }

    /// The value of this name.
    ///
    /// # Errors
    /// The names that there are.
    fn of_name(name: &str) -> Result<Self, String> {
        let at = Self::NAMES.iter().position(|(known, _)| *known == name);
        at.and_then(|at| Self::VALUES.get(at)).copied().ok_or_else(|| {
            let known: Vec<_> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            format!("must be one of {}, not {name:?}", known.join(", "))
        })
    }
}

impl<T: Choice> Value for T {
    fn shape(&self) -> Shape {
        Shape::Choice(T::NAMES)
    }

    fn text(&self) -> String {
        self.name().to_owned()
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        *self = T::of_name(typed)?;
        Ok(())
    }
}

impl<T: Choice> Optional for T {
    const SHAPE: Shape = Shape::Choice(T::NAMES);

    fn text(&self) -> String {
        self.name().to_owned()
    }

    fn typed(text: &str) -> Result<Self, String> {
        T::of_name(text)
    }
}

/// A value that can be absent: a name, or an object that is written as JSON.
pub trait Optional: Sized {
    /// How it is written.
    const SHAPE: Shape;

    /// What a form shows of it.
    fn text(&self) -> String;

    /// Reads what a person typed.
    ///
    /// # Errors
    /// The reason.
    fn typed(text: &str) -> Result<Self, String>;
}

impl<T: Optional> Value for Option<T> {
    fn shape(&self) -> Shape {
        T::SHAPE
    }

    fn text(&self) -> String {
        self.as_ref().map_or_else(String::new, T::text)
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        *self = if typed.is_empty() { None } else { Some(T::typed(typed)?) };
        Ok(())
    }
}
