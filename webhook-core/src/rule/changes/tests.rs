use http::{HeaderValue, Method};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn request(body: &Value) -> Request {
    Request {
        method: Method::POST,
        extra_path: "/a".to_owned(),
        raw_query: "b=c".to_owned(),
        headers: HeaderMap::new(),
        body: body.to_string().into(),
    }
}

fn told(changes: &RequestChanges) -> Vec<(RequestPart, &str, Option<&str>, Option<&str>)> {
    let each = changes.list.iter();
    each.map(|change| (change.part, &*change.name, change.from.as_deref(), change.to.as_deref()))
        .collect()
}

#[test]
fn each_part_that_differs_is_told_and_nothing_else() {
    let before = request(&json!({"order": {"id": 7, "lines": [1, 2]}, "old": true}));
    let mut after = request(&json!({"order": {"id": 8, "lines": [1, 3]}, "new": "x"}));
    after.method = Method::PUT;
    after.headers.insert("x-source", HeaderValue::from_static("shop"));
    let changes = RequestChanges::between(&before, &after);
    assert_eq!(
        told(&changes),
        [
            (RequestPart::Method, "", Some("POST"), Some("PUT")),
            (RequestPart::Header, "x-source", None, Some("shop")),
            (RequestPart::Body, "order.id", Some("7"), Some("8")),
            (RequestPart::Body, "order.lines[1]", Some("2"), Some("3")),
            (RequestPart::Body, "old", Some("true"), None),
            (RequestPart::Body, "new", None, Some("\"x\"")),
        ]
    );
    assert!(!changes.cut && RequestChanges::between(&before, &before).list.is_empty());
}

#[test]
fn secrets_are_not_told() {
    let before = request(&json!({"user": {"password": "hunter2"}}));
    let mut after = request(&json!({"user": {"password": "hunter3"}, "more": {"token": "abc"}}));
    after.headers.insert("authorization", HeaderValue::from_static("Bearer abc"));
    after.raw_query = "api_key=hunter4".to_owned();
    let changes = format!("{:?}", RequestChanges::between(&before, &after).list);
    for secret in ["hunter", "abc"] {
        assert!(!changes.contains(secret), "{changes}");
    }
    assert!(changes.contains("user.password") && changes.contains("authorization"), "{changes}");
    let silent = RequestChanges::between(&before, &after).without_values();
    assert!(silent.list.iter().all(|change| change.from.is_none() && change.to.is_none()));
}

#[test]
fn there_are_bounds() {
    let many = |n: u32| json!((0..500).map(|index| index * n).collect::<Vec<_>>());
    let changes = RequestChanges::between(&request(&many(1)), &request(&many(2)));
    assert_eq!((changes.list.len(), changes.cut), (MAX_CHANGES, true));
    let long = json!({"text": "é".repeat(4_000)});
    let changes = RequestChanges::between(&request(&json!({"text": ""})), &request(&long));
    assert!(changes.cut && changes.list[0].to.as_ref().is_some_and(|to| to.len() <= 1_024));
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), any::<i8>().prop_map(Value::from)];
    leaf.prop_recursive(3, 20, 4, |inner| {
        let key = prop::sample::select(vec!["a", "b", "c", "d"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4).prop_map(|fields| json!(fields)),
        ]
    })
}

/// Puts what a change says where it says it.
fn apply(target: &mut Value, name: &str, to: Option<&str>) {
    let pointer =
        name.replace('[', ".").replace(']', "").split('.').fold(String::new(), |pointer, part| {
            if part.is_empty() { pointer } else { format!("{pointer}/{part}") }
        });
    let new = to.map(|to| serde_json::from_str::<Value>(to).expect("JSON"));
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        *target = new.expect("the whole is there");
        return;
    };
    match (target.pointer_mut(parent).expect("its parent is there"), new) {
        (Value::Object(fields), Some(new)) => drop(fields.insert(last.to_owned(), new)),
        (Value::Object(fields), None) => drop(fields.remove(last)),
        (Value::Array(items), Some(new)) => match items.get_mut(last.parse::<usize>().expect(last))
        {
            Some(item) => *item = new,
            None => items.push(new),
        },
        (Value::Array(items), None) => items.truncate(items.len() - 1),
        (other, _) => panic!("{name} is in {other}"),
    }
}

proptest! {
    #[test]
    fn the_changes_make_of_one_document_the_other(from in document(), to in document()) {
        let changes = RequestChanges::between(&request(&from), &request(&to));
        prop_assume!(!changes.cut);
        let mut made = from;
        for change in &changes.list {
            let whole = change.name.is_empty();
            let to = change.to.as_deref().or(whole.then_some("null"));
            apply(&mut made, &change.name, to);
        }
        prop_assert_eq!(made, to);
    }
}
