//! All fields of an object: their bounds and their secrets.

use super::{Described, Invalid};
use crate::wire::Secret;

/// Whether each field is within its bounds, and the fields of each object fit together. `place`
/// is the place of the object, and ends with a dot unless it is empty.
///
/// # Errors
/// The first field that is wrong, by its place.
pub fn check(object: &dyn Described, place: &str) -> Result<(), Invalid> {
    for (field, value) in object.fields() {
        let here = format!("{place}{}", field.name);
        value.check(field).map_err(|invalid| invalid.below(&here))?;
        if let Some(object) = value.object() {
            check(object, &format!("{here}."))?;
        }
        let rows = value.rows();
        let count = rows.map_or(0, |rows| rows.count());
        for (at, row) in (0..count).filter_map(|at| Some((at, rows?.row(at)?))) {
            check(row, &format!("{here}[{at}]."))?;
        }
    }
    object.rules().map_err(|invalid| invalid.below(place))
}

/// Shows each secret in an object, with its place: `secrets[0].secret`.
pub fn secrets(object: &mut dyn Described, place: &str, show: &mut dyn FnMut(&str, &mut Secret)) {
    let names: Vec<_> = object.fields().iter().map(|(field, _)| field.name).collect();
    for (name, value) in names.into_iter().zip(object.values()) {
        value.secrets(&format!("{place}{name}"), show);
    }
}
