//! The types that fields have: how each is typed, shown and checked.

use std::{collections::BTreeMap, time::Duration};

use http::Method;

use super::{Described, Field, Invalid, Rows, Shape, bounds, typed};
use crate::wire::{Extension, Headers, Secret, Timestamp, extension, id::Id};

/// The value of a field.
pub trait Value {
    /// How it is written.
    fn shape(&self) -> Shape;

    /// What a form shows of it: empty for what is not set.
    fn text(&self) -> String {
        String::new()
    }

    /// Takes what a person typed into a form.
    ///
    /// # Errors
    /// The reason, and what to write instead.
    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        let _ = typed;
        Err("cannot be typed".to_owned())
    }

    /// Whether it is within the bounds of its field.
    ///
    /// # Errors
    /// The reason, and the place below the value: empty, or `[1]` for the second entry.
    fn check(&self, field: &Field) -> Result<(), Invalid> {
        let _ = field;
        Ok(())
    }

    /// The object that it is, if there is one.
    fn object(&self) -> Option<&dyn Described> {
        None
    }

    /// The same to be changed; it is made if there is none.
    fn object_mut(&mut self) -> Option<&mut dyn Described> {
        None
    }

    /// An object as a new one begins, or a new entry of a list of objects.
    fn blank(&self) -> Option<Box<dyn Described>> {
        None
    }

    /// The objects of a list.
    fn rows(&self) -> Option<&dyn Rows> {
        None
    }

    /// The same to be changed.
    fn rows_mut(&mut self) -> Option<&mut dyn Rows> {
        None
    }

    /// Shows each secret that it is or has, with its place below `place`, its own.
    fn secrets(&mut self, place: &str, show: &mut dyn FnMut(&str, &mut Secret)) {
        if let Some(rows) = self.rows_mut() {
            for at in 0..rows.count() {
                if let Some(row) = rows.row_mut(at) {
                    super::secrets(row, &format!("{place}[{at}]."), show);
                }
            }
        } else if self.object().is_some()
            && let Some(object) = self.object_mut()
        {
            super::secrets(object, &format!("{place}."), show);
        }
    }

    /// The value of this name, of a value that has named ones.
    fn entry(&self, name: &str) -> Option<&dyn Value> {
        let _ = name;
        None
    }

    /// The same to be changed; it is made if there is none.
    fn entry_mut(&mut self, name: &str) -> Option<&mut dyn Value> {
        let _ = name;
        None
    }
}

impl Value for String {
    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn text(&self) -> String {
        self.clone()
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        typed.clone_into(self);
        Ok(())
    }

    fn check(&self, field: &Field) -> Result<(), Invalid> {
        Ok(bounds::text(self, field)?)
    }
}

impl Value for Secret {
    fn shape(&self) -> Shape {
        Shape::Secret
    }

    fn text(&self) -> String {
        extension::mask(self.expose())
    }

    /// The mask of the secret keeps it.
    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        if typed != self.text() {
            *self = Self::new(typed);
        }
        Ok(())
    }

    fn check(&self, field: &Field) -> Result<(), Invalid> {
        Ok(bounds::text(self.expose(), field)?)
    }

    fn secrets(&mut self, place: &str, show: &mut dyn FnMut(&str, &mut Secret)) {
        show(place, self);
    }
}

impl Value for bool {
    fn shape(&self) -> Shape {
        Shape::Flag
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        *self = typed == "true";
        Ok(())
    }
}

/// Numbers. A form shows an empty field for 0.
macro_rules! whole {
    ($($number:ty),*) => {$(
        impl Value for $number {
            fn shape(&self) -> Shape {
                Shape::Whole
            }

            fn text(&self) -> String {
                if *self == 0 { String::new() } else { self.to_string() }
            }

            fn set_text(&mut self, typed: &str) -> Result<(), String> {
                let read = if typed.is_empty() { Ok(0) } else { typed.parse() };
                *self = read.map_err(|_| {
                    let (least, most) = (<$number>::MIN, <$number>::MAX);
                    format!("must be a whole number from {least} to {most}, not {typed:?}")
                })?;
                Ok(())
            }

            fn check(&self, field: &Field) -> Result<(), Invalid> {
                Ok(bounds::number(i64::from(*self), "", field)?)
            }
        }
    )*};
}

whole!(u16, i32, u32);

impl Value for f64 {
    fn shape(&self) -> Shape {
        Shape::Decimal
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        let number = typed.parse().ok().filter(|number: &Self| number.is_finite());
        *self = number.ok_or_else(|| format!("must be a number, not {typed:?}"))?;
        Ok(())
    }
}

impl Value for Duration {
    fn shape(&self) -> Shape {
        Shape::Duration
    }

    fn text(&self) -> String {
        typed::duration_text(*self)
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        *self = match typed {
            "" => Self::ZERO,
            never if never.eq_ignore_ascii_case("never") => Self::ZERO,
            typed => typed::duration(typed)?,
        };
        Ok(())
    }

    fn check(&self, field: &Field) -> Result<(), Invalid> {
        Ok(bounds::duration(*self, field)?)
    }
}

/// Whole seconds, on the wire and in a form.
impl Value for Option<Duration> {
    fn shape(&self) -> Shape {
        Shape::Whole
    }

    fn text(&self) -> String {
        self.map_or_else(String::new, |it| it.as_secs().to_string())
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        let mut seconds = 0_u32;
        seconds.set_text(typed)?;
        *self = Some(Duration::from_secs(seconds.into())).filter(|it| !it.is_zero());
        Ok(())
    }

    fn check(&self, field: &Field) -> Result<(), Invalid> {
        let Some(duration) = self else { return Ok(()) };
        if duration.subsec_nanos() > 0 {
            return Err(Invalid::here("must be whole seconds"));
        }
        let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        Ok(bounds::number(seconds, " seconds", field)?)
    }
}

impl Value for Timestamp {
    fn shape(&self) -> Shape {
        Shape::Moment
    }

    fn text(&self) -> String {
        typed::moment_text(*self)
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        *self = if typed.is_empty() { Self::default() } else { moment(typed)? };
        Ok(())
    }

    fn check(&self, _: &Field) -> Result<(), Invalid> {
        Invalid::when(*self < Self::default(), "", "must not be negative")
    }
}

fn moment(typed: &str) -> Result<Timestamp, String> {
    typed::moment(typed).map(|(start, _)| start).ok_or_else(|| typed::NO_MOMENT.to_owned())
}

impl Value for Option<Timestamp> {
    fn shape(&self) -> Shape {
        Shape::Moment
    }

    fn text(&self) -> String {
        self.map_or_else(String::new, typed::moment_text)
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        *self = if typed.is_empty() { None } else { Some(moment(typed)?) };
        Ok(())
    }
}

impl Value for Headers {
    fn shape(&self) -> Shape {
        Shape::Headers
    }

    fn text(&self) -> String {
        typed::headers_text(self)
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        *self = typed::headers(typed)?;
        Ok(())
    }

    fn check(&self, field: &Field) -> Result<(), Invalid> {
        let bytes = self.0.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        Ok(bounds::entries(self.0.len(), bytes, field)?)
    }
}

impl<K> Value for Option<Id<K>> {
    fn shape(&self) -> Shape {
        Shape::Reference
    }

    fn text(&self) -> String {
        self.map_or_else(String::new, |id| id.to_string())
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        let id = (!typed.is_empty()).then(|| typed.parse()).transpose();
        *self = id.map_err(|error: crate::wire::id::InvalidId| error.to_string())?;
        Ok(())
    }
}

impl Value for Method {
    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        let upper = if typed.is_empty() { "POST".to_owned() } else { typed.to_ascii_uppercase() };
        *self = upper.parse().map_err(|_| format!("{typed:?} is not a method"))?;
        Ok(())
    }
}

impl Value for BTreeMap<String, String> {
    fn shape(&self) -> Shape {
        Shape::Pairs
    }

    fn text(&self) -> String {
        self.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n")
    }

    fn set_text(&mut self, typed: &str) -> Result<(), String> {
        *self = typed::pairs(typed)?.into_iter().collect();
        Ok(())
    }

    fn check(&self, field: &Field) -> Result<(), Invalid> {
        let bytes = self.iter().map(|(name, value)| name.len() + value.len()).sum();
        bounds::entries(self.len(), bytes, field)?;
        match self.keys().find(|key| key.is_empty() || key.chars().any(char::is_control)) {
            Some(key) => Err(Invalid::here(format!("{key:?} cannot be a name"))),
            None => Ok(()),
        }
    }
}

/// Secrets by their names.
impl Value for BTreeMap<String, Secret> {
    fn shape(&self) -> Shape {
        Shape::Pairs
    }

    fn entry(&self, name: &str) -> Option<&dyn Value> {
        self.get(name).map(|secret| secret as &dyn Value)
    }

    fn entry_mut(&mut self, name: &str) -> Option<&mut dyn Value> {
        Some(self.entry(name.to_owned()).or_default())
    }

    fn secrets(&mut self, place: &str, show: &mut dyn FnMut(&str, &mut Secret)) {
        self.iter_mut().for_each(|(name, secret)| show(&format!("{place}.{name}"), secret));
    }
}

impl<T: Described + Default + 'static> Value for Extension<T> {
    fn shape(&self) -> Shape {
        Shape::Object
    }

    fn object(&self) -> Option<&dyn Described> {
        self.set().map(|object| object as &dyn Described)
    }

    fn object_mut(&mut self) -> Option<&mut dyn Described> {
        if self.is_unset() {
            *self = Self::Set(T::default());
        }
        match self {
            Self::Set(object) => Some(object),
            _ => None,
        }
    }

    fn blank(&self) -> Option<Box<dyn Described>> {
        Some(Box::new(T::default()))
    }
}
