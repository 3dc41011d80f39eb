//! Fields by their places in an object: `throttle.rate`, `signing.secrets.0.secret`.

use super::{Described, Field, Shape, Value};
use crate::wire::Error;

/// How many rows a list can get by [`set`].
const MAX_ROWS: usize = 1_000;

/// The value at a place, and its field.
fn find<'a>(object: &'a dyn Described, place: &str) -> Option<(&'static Field, &'a dyn Value)> {
    let (name, rest) = place.split_once('.').map_or((place, None), |(a, b)| (a, Some(b)));
    let (field, value) = object.fields().into_iter().find(|(field, _)| field.name == name)?;
    let Some(rest) = rest else { return Some((field, value)) };
    if let Some(named) = value.entry(rest) {
        return Some((field, named));
    }
    match value.rows() {
        None => find(value.object()?, rest),
        Some(rows) => {
            let (at, rest) = rest.split_once('.')?;
            find(rows.row(at.parse().ok()?)?, rest)
        }
    }
}

/// What a form shows of the field at `place`. None where there is no such field, or no object to
/// have it.
#[must_use]
pub fn get(object: &dyn Described, place: &str) -> Option<String> {
    find(object, place).map(|(_, value)| value.text())
}

/// Puts what a person typed into the field at `place`. Objects on the way to it are made. An empty
/// number or duration stands for the default.
///
/// # Errors
/// [`Invalid`](crate::ErrorKind::Invalid) names the place of what cannot be read.
pub fn set(object: &mut dyn Described, place: &str, typed: &str) -> Result<(), Error> {
    let missing = || Error::invalid(place, "there is no such field");
    let mut names = place.split('.');
    let mut object = object;
    let mut name = names.next().ok_or_else(missing)?;
    loop {
        let at = object.fields().iter().position(|(field, _)| field.name == name);
        let at = at.ok_or_else(missing)?;
        let default = object.unset().fields().get(at).map(|(_, value)| value.text());
        let value = object.values().into_iter().nth(at).ok_or_else(missing)?;
        let typed_into = |value: &mut dyn Value| {
            let is_number =
                matches!(value.shape(), Shape::Whole | Shape::Decimal | Shape::Duration);
            let default = default.filter(|_| typed.is_empty() && is_number);
            let typed = default.as_deref().unwrap_or(typed);
            value.set_text(typed).map_err(|reason| Error::invalid(place, reason))
        };
        let Some(next) = names.next() else { return typed_into(value) };
        if value.shape() == Shape::Pairs {
            return typed_into(value.entry_mut(next).ok_or_else(missing)?);
        }
        if value.shape() == Shape::Rows {
            let rows = value.rows_mut().ok_or_else(missing)?;
            let row = next.parse().ok().filter(|at| *at < MAX_ROWS).and_then(|at| rows.row_mut(at));
            (object, name) = (row.ok_or_else(missing)?, names.next().ok_or_else(missing)?);
        } else {
            (object, name) = (value.object_mut().ok_or_else(missing)?, next);
        }
    }
}

/// Drops the rows of a list of objects whose first field is empty.
pub fn drop_empty_rows(object: &mut dyn Described) {
    for value in object.values() {
        if let Some(rows) = value.rows_mut() {
            let first = |row: &dyn Described| row.fields().first().map(|(_, it)| it.text());
            rows.retain(&|row| first(row).is_none_or(|text| !text.is_empty()));
        } else if value.object().is_some()
            && let Some(object) = value.object_mut()
        {
            drop_empty_rows(object);
        }
    }
}

/// Every field below an object, with its place and a value. The fields of a missing object
/// have the values of a new one. A list of objects has one row, `0`.
pub fn blank(
    object: &dyn Described,
    place: &str,
    show: &mut dyn FnMut(&str, &'static Field, &dyn Value),
) {
    for (field, value) in object.fields() {
        let here = format!("{place}{}", field.name);
        show(&here, field, value);
        let row = if value.shape() == Shape::Rows { ".0." } else { "." };
        if let Some(object) = value.blank() {
            blank(&*object, &format!("{here}{row}"), show);
        }
    }
}
