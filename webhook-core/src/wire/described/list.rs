//! Lists, and the types of their entries.

use std::time::Duration;

use super::{Choice, Described, Field, Invalid, Shape, Value, bounds, typed};
use crate::wire::id::{Id, InvalidId};

/// An entry of a list: a text, a duration, a name, or an object with fields.
pub trait Entry: Sized + 'static {
    /// How the list is written: each entry in a line, or all separated by commas, or as rows.
    const SHAPE: Shape;

    /// How a form shows it.
    fn text(&self) -> String {
        String::new()
    }

    /// Reads what a person typed.
    ///
    /// # Errors
    /// The reason.
    fn typed(text: &str) -> Result<Self, String> {
        let _ = text;
        Err("cannot be typed".to_owned())
    }

    /// Whether it is within the bounds of the field.
    ///
    /// # Errors
    /// The reason.
    fn check(&self, field: &Field) -> Result<(), String> {
        let _ = field;
        Ok(())
    }

    /// The object that it is.
    fn object(&self) -> Option<&dyn Described> {
        None
    }

    /// The same to be changed.
    fn object_mut(&mut self) -> Option<&mut dyn Described> {
        None
    }

    /// An empty one, if it is an object.
    #[must_use]
    fn blank() -> Option<Self> {
        None
    }

    /// The same as an object.
    #[must_use]
    fn boxed() -> Option<Box<dyn Described>> {
        None
    }
}

impl<T: Choice> Entry for T {
    const SHAPE: Shape = Shape::Texts;

    fn text(&self) -> String {
        self.name().to_owned()
    }

    fn typed(text: &str) -> Result<Self, String> {
        T::of_name(text)
    }
}

impl Entry for String {
    const SHAPE: Shape = Shape::Texts;

    fn text(&self) -> String {
        self.clone()
    }

    fn typed(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl Entry for Duration {
    const SHAPE: Shape = Shape::Durations;

    fn text(&self) -> String {
        typed::duration_text(*self)
    }

    fn typed(text: &str) -> Result<Self, String> {
        typed::duration(text)
    }

    fn check(&self, field: &Field) -> Result<(), String> {
        bounds::duration(*self, field)
    }
}

impl<K: 'static> Entry for Id<K> {
    const SHAPE: Shape = Shape::Texts;

    fn text(&self) -> String {
        self.to_string()
    }

    fn typed(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: InvalidId| error.to_string())
    }
}

impl<T: Entry> Value for Vec<T> {
    fn shape(&self) -> Shape {
        T::SHAPE
    }

    fn text(&self) -> String {
        let separator = if T::SHAPE == Shape::Durations { ", " } else { "\n" };
        self.iter().map(T::text).collect::<Vec<_>>().join(separator)
    }

    fn set_text(&mut self, text: &str) -> Result<(), String> {
        let is_separator = |c: char| c == '\n' || (c == ',' && T::SHAPE == Shape::Durations);
        let each = text.split(is_separator).map(str::trim).filter(|entry| !entry.is_empty());
        *self = each.map(T::typed).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn check(&self, field: &Field) -> Result<(), Invalid> {
        let bytes = self.iter().map(|entry| entry.text().len()).sum();
        bounds::entries(self.len(), bytes, field)?;
        for (at, entry) in self.iter().enumerate() {
            entry.check(field).map_err(|reason| Invalid::new(format!("[{at}]"), reason))?;
        }
        Ok(())
    }

    fn blank(&self) -> Option<Box<dyn Described>> {
        T::boxed()
    }

    fn rows(&self) -> Option<&dyn Rows> {
        (T::SHAPE == Shape::Rows).then_some(self as &dyn Rows)
    }

    fn rows_mut(&mut self) -> Option<&mut dyn Rows> {
        (T::SHAPE == Shape::Rows).then_some(self as &mut dyn Rows)
    }
}

/// A list of objects.
pub trait Rows {
    /// How many there are.
    fn count(&self) -> usize;

    /// One of them.
    fn row(&self, at: usize) -> Option<&dyn Described>;

    /// The same to be changed. Entries up to it that are missing become empty ones.
    fn row_mut(&mut self, at: usize) -> Option<&mut dyn Described>;

    /// Drops each entry that `keep` refuses.
    fn retain(&mut self, keep: &dyn Fn(&dyn Described) -> bool);
}

impl<T: Entry> Rows for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn row(&self, at: usize) -> Option<&dyn Described> {
        self.get(at)?.object()
    }

    fn row_mut(&mut self, at: usize) -> Option<&mut dyn Described> {
        while self.len() <= at {
            self.push(T::blank()?);
        }
        self.get_mut(at)?.object_mut()
    }

    fn retain(&mut self, keep: &dyn Fn(&dyn Described) -> bool) {
        Vec::retain(self, |row| row.object().is_none_or(keep));
    }
}
