//! Samples with one thing changed, which tell functions apart that agree on the sample itself.

use jiff::ToSpan;

use super::diff::{member, show};
use super::json::{Json, is_scalar, number};
use super::moments;

/// A payload with one change.
#[derive(Debug)]
pub(crate) struct Mutated {
    pub(crate) payload: Json,
    /// What a reader must change in the sample, such as `order.total 13 instead of 12`.
    pub(crate) change: String,
}

/// Changed payloads that are tried for one sample.
const MAX_MUTATED: usize = 600;

/// The payload with each scalar changed by itself, and each list reversed, shortened and lengthened.
pub(crate) fn mutated(payload: &Json) -> Vec<Mutated> {
    let mut out = Vec::new();
    visit(payload, "", &mut |changed, change| {
        out.push(Mutated { payload: changed, change });
        out.len() < MAX_MUTATED
    });
    out
}

/// The payload with every scalar changed.
pub(crate) fn all_changed(payload: &Json) -> Json {
    match payload {
        Json::Array(items) => items.iter().map(all_changed).collect(),
        Json::Object(object) => {
            object.iter().map(|(name, value)| (name.clone(), all_changed(value))).collect()
        }
        scalar => others(scalar).into_iter().next().unwrap_or_else(|| scalar.clone()),
    }
}

/// Calls `give` with each changed value until it answers false; `place` is where the value is.
fn visit(value: &Json, place: &str, give: &mut dyn FnMut(Json, String) -> bool) -> bool {
    match value {
        Json::Object(object) => object.iter().all(|(name, inner)| {
            visit(inner, &member(place, name), &mut |changed, change| {
                let mut object = object.clone();
                object.insert(name.clone(), changed);
                give(Json::Object(object), change)
            })
        }),
        Json::Array(items) => {
            let whole = if place.is_empty() { "the list" } else { place };
            let fewer = items.iter().skip(1).cloned().collect();
            let more = items.iter().chain(items.first()).cloned().collect();
            let reversed = items.iter().rev().cloned().collect();
            let lists: [(Vec<Json>, &str); 3] = [
                (reversed, "its elements in the reverse order"),
                (more, "one element more"),
                (fewer, "one element fewer"),
            ];
            let elements = items.iter().enumerate().all(|(index, inner)| {
                visit(inner, &format!("{place}[{index}]"), &mut |changed, change| {
                    let mut items = items.clone();
                    if let Some(item) = items.get_mut(index) {
                        *item = changed;
                    }
                    give(Json::Array(items), change)
                })
            });
            elements
                && lists
                    .into_iter()
                    .filter(|(list, _)| list != items)
                    .all(|(list, how)| give(Json::Array(list), format!("{whole} with {how}")))
        }
        scalar => others(scalar).into_iter().all(|other| {
            let place = if place.is_empty() { "the payload" } else { place };
            let change = format!("{place} {} instead of {}", show(&other), show(scalar));
            give(other, change)
        }),
    }
}

/// Other scalars of the same kind.
fn others(scalar: &Json) -> Vec<Json> {
    debug_assert!(is_scalar(scalar));
    if let Some(moment) = another_moment(scalar) {
        return vec![moment];
    }
    match scalar {
        Json::Bool(flag) => vec![Json::Bool(!flag)],
        Json::Number(whole) if !whole.is_f64() => {
            let whole = whole.as_i64().unwrap_or_default();
            vec![Json::from(whole.saturating_add(1)), Json::from(whole.saturating_sub(1))]
        }
        Json::Number(_) => {
            let number = number(scalar).unwrap_or_default();
            vec![Json::from(number + 1.25), Json::from(number - 1.25)]
        }
        Json::String(text) => {
            let last = text.rfind(|c: char| !c.is_alphanumeric()).map_or(0, |at| {
                at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
            });
            let (before, word) = text.split_at(last);
            let mut out = vec![format!("{before}{}", rotated(word)), rotated(text)];
            out.dedup();
            out.into_iter().filter(|other| other != text).map(Json::String).collect()
        }
        _ => Vec::new(),
    }
}

/// The text with each letter and digit replaced by the next one.
fn rotated(text: &str) -> String {
    let next = |c: char| match c {
        'z' => 'a',
        'Z' => 'A',
        '9' => '0',
        c if c.is_ascii_alphanumeric() => char::from(c as u8 + 1),
        c => c,
    };
    text.chars().map(next).collect()
}

/// A moment with another year, month, day, hour and minute, written in the same form.
fn another_moment(scalar: &Json) -> Option<Json> {
    let form = moments::forms(scalar).into_iter().next()?;
    let later = moments::read(scalar, form)?.checked_add((400 * 24 + 5).hours().minutes(7)).ok()?;
    moments::write(later, form).filter(|other| other != scalar)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_change_is_told() {
        let changes = |payload: Json| -> Vec<String> {
            mutated(&payload).into_iter().map(|mutated| mutated.change).collect()
        };
        assert_eq!(changes(json!({"paid": true})), ["paid false instead of true"]);
        assert_eq!(
            changes(json!({"a": {"n": 12}})),
            ["a.n 13 instead of 12", "a.n 11 instead of 12"]
        );
        assert_eq!(
            changes(json!({"ref": "refs/heads/main"})),
            [
                r#"ref "refs/heads/nbjo" instead of "refs/heads/main""#,
                r#"ref "sfgt/ifbet/nbjo" instead of "refs/heads/main""#
            ]
        );
        assert_eq!(
            changes(json!({"at": "2024-05-01"})),
            [r#"at "2025-06-05" instead of "2024-05-01""#]
        );
        let lists = changes(json!({"ids": [7, 9]}));
        assert!(lists.contains(&"ids with one element more".to_owned()), "{lists:?}");
        assert!(lists.contains(&"ids with its elements in the reverse order".to_owned()));
    }

    #[test]
    fn everything_can_be_changed_together() {
        let payload = json!({"a": ["x", 1, null], "b": {"c": false}});
        assert_eq!(all_changed(&payload), json!({"a": ["y", 2, null], "b": {"c": true}}));
    }
}
