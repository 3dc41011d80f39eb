//! Form fields and query keys by name.

use std::borrow::Cow;

use url::form_urlencoded;

use crate::rule::MAX_VALUES;

pub(crate) use crate::content::form::to_json;

/// The first values of each wanted name, in the order of the names.
pub(crate) type Fields<'a> = Vec<Vec<Cow<'a, str>>>;

/// The first values in `input` of each of `names`, which are sorted.
pub(crate) fn fields<'a>(input: &'a [u8], names: &[Box<str>]) -> Fields<'a> {
    let mut fields: Fields<'a> = names.iter().map(|_| Vec::new()).collect();
    for (name, value) in form_urlencoded::parse(input) {
        let index = names.binary_search_by(|known| (**known).cmp(&name)).ok();
        if let Some(values) = index.and_then(|index| fields.get_mut(index))
            && values.len() < MAX_VALUES
        {
            values.push(value);
        }
    }
    fields
}

/// The values of `name` among `fields`, which were collected for `names`.
pub(crate) fn values<'f>(
    fields: &'f Fields<'_>,
    names: &[Box<str>],
    name: &str,
) -> impl Iterator<Item = &'f Cow<'f, str>> {
    let index = names.binary_search_by(|known| (**known).cmp(name)).ok();
    index.and_then(|index| fields.get(index)).into_iter().flatten()
}
