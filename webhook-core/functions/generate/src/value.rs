//! The value tree that samples, programs and the evaluator share.
//!
//! A tree of its own rather than `serde_json::Value`, for two reasons: a copy of a subtree costs nothing (the search
//! hands the elements of lists around all the time), and integers and floats are told apart as a script tells them.

use std::sync::Arc;

/// One value as a script sees it. Cloning is O(1).
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Arc<str>),
    List(Arc<[Value]>),
    Object(Arc<Object>),
}

/// Fields in the order of the sample; a repeated name keeps its first place and its last value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object {
    fields: Vec<(Arc<str>, Value)>,
    /// Indices of `fields`, ordered by name.
    by_name: Vec<u32>,
}

impl Object {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        let found = self.position(name).ok()?;
        let index = *self.by_name.get(found)?;
        self.fields.get(index as usize).map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Value)> {
        self.fields.iter().map(|(name, value)| (name, value))
    }

    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.by_name.binary_search_by(|&index| {
            self.fields.get(index as usize).map_or("", |(field, _)| field.as_ref()).cmp(name)
        })
    }
}

impl FromIterator<(Arc<str>, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Value)>>(fields: I) -> Self {
        let mut seen = std::collections::HashMap::new();
        let mut kept: Vec<(Arc<str>, Value)> = Vec::new();
        for (name, value) in fields {
            match seen.get(&name).and_then(|&index: &usize| kept.get_mut(index)) {
                Some(field) => field.1 = value,
                None => {
                    seen.insert(name.clone(), kept.len());
                    kept.push((name, value));
                }
            }
        }
        let mut by_name: Vec<u32> =
            (0..kept.len()).filter_map(|index| u32::try_from(index).ok()).collect();
        by_name.sort_by(|&a, &b| {
            let name = |index: u32| kept.get(index as usize).map(|(name, _)| name);
            name(a).cmp(&name(b))
        });
        Self { fields: kept, by_name }
    }
}

impl Value {
    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        Self::Text(Arc::from(text.as_ref()))
    }

    pub(crate) fn list(items: impl IntoIterator<Item = Value>) -> Self {
        Self::List(items.into_iter().collect())
    }

    pub(crate) fn object(fields: impl IntoIterator<Item = (Arc<str>, Value)>) -> Self {
        Self::Object(Arc::new(fields.into_iter().collect()))
    }

    /// The number, as an integer where it is one.
    pub(crate) fn number(number: f64) -> Self {
        // Beyond 2^53 a float does not name one integer.
        if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
            Self::Int(number as i64)
        } else {
            Self::Float(number)
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn is_scalar(&self) -> bool {
        !matches!(self, Self::List(_) | Self::Object(_))
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Equal as JSON documents are: object fields in any order, `1` equal to `1.0`.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::List(a), Self::List(b)) => {
                Arc::ptr_eq(a, b)
                    || (a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same(b)))
            }
            (Self::Object(a), Self::Object(b)) => {
                Arc::ptr_eq(a, b)
                    || (a.len() == b.len()
                        && a.iter().all(|(name, value)| b.get(name).is_some_and(|b| value.same(b))))
            }
            (a, b) => matches!((a.as_number(), b.as_number()), (Some(a), Some(b)) if a == b),
        }
    }

    /// The text that a script writes for a scalar; `None` for null, lists and objects.
    ///
    /// Floats have at most 14 significant digits, as Lua's `tostring` gives them, and no exponent.
    pub(crate) fn to_text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.to_string()),
            Self::Int(number) => Some(number.to_string()),
            Self::Bool(value) => Some(value.to_string()),
            Self::Float(number) => Some(float_text(*number)),
            Self::Null | Self::List(_) | Self::Object(_) => None,
        }
    }

    /// Number of values in the tree, itself included.
    pub(crate) fn count_nodes(&self) -> usize {
        1 + match self {
            Self::List(items) => items.iter().map(Value::count_nodes).sum(),
            Self::Object(object) => object.iter().map(|(_, value)| value.count_nodes()).sum(),
            _ => 0usize,
        }
    }
}

fn float_text(number: f64) -> String {
    if number.fract() == 0.0 {
        return format!("{number:.0}");
    }
    let digits_before =
        if number.abs() >= 1.0 { number.abs().log10().floor() as usize + 1 } else { 1 };
    let text = format!("{number:.*}", 14usize.saturating_sub(digits_before));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A key under which equal scalars meet, whatever their Rust type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ScalarKey {
    Null,
    Bool(bool),
    Int(i64),
    Float(u64),
    Text(Arc<str>),
}

impl ScalarKey {
    /// `None` for lists and objects.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(number) => Self::Int(*number),
            Value::Float(number) => match Value::number(*number) {
                Value::Int(number) => Self::Int(number),
                _ => Self::Float(number.to_bits()),
            },
            Value::Text(text) => Self::Text(text.clone()),
            Value::List(_) | Value::Object(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_ignores_number_type_and_field_order() {
        let a = Value::object([("x".into(), Value::Int(1)), ("y".into(), Value::Null)]);
        let b = Value::object([("y".into(), Value::Null), ("x".into(), Value::Float(1.0))]);
        assert!(a.same(&b));
        assert!(!a.same(&Value::object([("x".into(), Value::Int(1))])));
        assert!(!Value::text("1").same(&Value::Int(1)));
    }

    #[test]
    fn repeated_names_keep_the_last_value() {
        let value = Value::object([
            ("a".into(), Value::Int(1)),
            ("b".into(), Value::Null),
            ("a".into(), Value::Int(2)),
        ]);
        let object = value.as_object().expect("an object");
        assert_eq!(object.len(), 2);
        assert!(object.get("a").is_some_and(|value| value.same(&Value::Int(2))));
    }

    #[test]
    fn floats_read_as_people_write_them() {
        for (number, text) in [
            (19.9, "19.9"),
            (0.1 + 0.2, "0.3"),
            (-2.5, "-2.5"),
            (3.0, "3"),
            (0.05, "0.05"),
            (1234.56, "1234.56"),
        ] {
            assert_eq!(Value::Float(number).to_text().as_deref(), Some(text));
        }
    }
}
