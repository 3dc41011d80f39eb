//! Form fields and query keys.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Serialize, Serializer};
use url::form_urlencoded;

/// `{"name":"value","repeated":["a","b"]}`, names sorted.
pub(crate) fn to_json(input: &[u8]) -> Option<String> {
    let mut fields = BTreeMap::<Cow<'_, str>, Values<Cow<'_, str>>>::new();
    for (name, value) in form_urlencoded::parse(input) {
        fields.entry(name).or_default().0.push(value);
    }
    serde_json::to_string(&fields).ok()
}

/// The values of one name: a value that is alone is no list.
pub(super) struct Values<T>(pub(super) Vec<T>);

impl<T> Default for Values<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Serialize> Serialize for Values<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [value] => value.serialize(serializer),
            values => values.serialize(serializer),
        }
    }
}
