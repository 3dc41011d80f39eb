//! Lists of objects in forms, where each object is a row of fields.

use serde_json::{Map, Value};

/// Gives the objects of the list at `name` the names `0`, `1` and so on, which fields can have.
pub(crate) fn numbered(object: &mut Value, name: &str) {
    let Some(Value::Array(list)) = object.get_mut(name).map(Value::take) else { return };
    let rows = list.into_iter().enumerate().map(|(at, row)| (at.to_string(), row));
    object[name] = Value::Object(rows.collect());
}

/// The list again, without the rows in which the text at `needed` is empty.
pub(crate) fn listed(object: &mut Value, name: &str, needed: &str) {
    let Some(Value::Object(rows)) = object.get_mut(name).map(Value::take) else { return };
    let mut rows: Vec<(usize, Value)> = Map::into_iter(rows)
        .filter_map(|(at, row)| Some((at.parse().ok()?, row)))
        .filter(|(_, row)| row.get(needed).and_then(Value::as_str).is_some_and(|it| !it.is_empty()))
        .collect();
    rows.sort_by_key(|(at, _)| *at);
    object[name] = rows.into_iter().map(|(_, row)| row).collect();
}

/// `secrets[1].secret` as fields are called: `secrets.1.secret`.
pub(super) fn numbered_path(path: &str) -> String {
    path.replace('[', ".").replace(']', "")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_become_the_list_that_they_were() {
        let list = json!({"secrets": [{"secret": "a"}, {"secret": "b", "expires_at": 7}]});
        let mut object = list.clone();
        numbered(&mut object, "secrets");
        assert_eq!(object["secrets"]["1"]["expires_at"], 7);
        object["secrets"]["10"] = json!({"secret": "c"});
        object["secrets"]["2"] = json!({"secret": "", "expires_at": 9});
        listed(&mut object, "secrets", "secret");
        let named: Vec<_> = object["secrets"].as_array().into_iter().flatten().collect();
        assert_eq!(named.len(), 3);
        assert_eq!(named[2]["secret"], "c");
        let mut nothing = json!({});
        listed(&mut nothing, "secrets", "secret");
        numbered(&mut nothing, "secrets");
        assert_eq!(nothing, json!({}));
        assert_eq!(numbered_path("signature.secrets[0].secret"), "signature.secrets.0.secret");
    }
}
