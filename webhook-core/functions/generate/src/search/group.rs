//! Objects whose field names are data: the elements of a list counted or added up by the text in one of their fields.

use serde_json::Map as Object;

use super::super::convert::Convert;
use super::super::json::{Json, is_scalar, number, to_text};
use super::super::program::Expr;
use super::{Case, Found, Outcome, Search, cheaper, cost};

const MAX_FIELDS: usize = 16;

impl<'a> Search<'a> {
    pub(super) fn grouped(&self, case: &Case<'_, 'a>, want: &Object<String, Json>) -> Outcome {
        if want.is_empty() || !want.values().all(Json::is_number) {
            return Ok(None);
        }
        let mut best = None;
        for pool in &case.pools {
            for (index, node) in pool.nodes.iter().enumerate() {
                let Some(items) = node.value.as_array() else { continue };
                let Some(first) = items.first().and_then(Json::as_object) else { continue };
                self.charge(items.len())?;
                if items.len() < want.len().max(2) {
                    continue;
                }
                let place = self.place(pool, node, case);
                for convert in conversions(first, want) {
                    self.charge(items.len())?;
                    let cost = place + cost::convert(&convert);
                    let expr = Expr::Path(pool.path(index)).convert_all(&[convert]);
                    if self.holds(&expr, case.examples)? {
                        best = cheaper(best, Some(Found::new(expr, cost)));
                    }
                }
            }
        }
        Ok(best)
    }
}

/// The ways to count or add up elements such as `first` by a field whose text is a wanted name.
fn conversions(first: &Object<String, Json>, want: &Object<String, Json>) -> Vec<Convert> {
    let names_one = |value: &Json| to_text(value).is_some_and(|text| want.contains_key(&text));
    let keys = first.iter().filter(|(_, value)| is_scalar(value) && names_one(value));
    let sums: Vec<&String> =
        first.iter().filter(|(_, value)| number(value).is_some()).map(|(name, _)| name).collect();
    let mut out = Vec::new();
    for (key, _) in keys.take(MAX_FIELDS) {
        out.push(Convert::CountBy(key.clone()));
        out.extend(
            sums.iter()
                .take(MAX_FIELDS)
                .map(|value| Convert::SumBy { key: key.clone(), value: (*value).clone() }),
        );
    }
    out
}
