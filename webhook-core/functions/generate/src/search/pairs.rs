//! Objects whose field names are data: one field for each element of a list.

use std::rc::Rc;
use std::sync::Arc;

use super::super::convert::Convert;
use super::super::eval::Scope;
use super::super::names::{Names, words};
use super::super::numbers::number;
use super::super::program::{Expr, FromPairs, Path};
use super::super::value::Value;
use super::pool::{Node, Pool};
use super::{Context, Example, Exhausted, Found, Outcome, Search, cheaper, cost};

/// An example, and its scopes with one element of the list as the last.
type Pass<'e> = (&'e Example, Rc<[Scope]>);

/// Lists that are tried for one object.
const MAX_LISTS: usize = 16;

impl Search<'_> {
    pub(super) fn keyed(
        &self,
        examples: &[Example],
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Outcome {
        let Some(want) =
            seed.want.as_ref().and_then(Value::as_object).filter(|want| want.len() > 0)
        else {
            return Ok(None);
        };
        let mut best = None;
        let mut tried = 0;
        for pool in pools {
            self.charge(pool.nodes.len() / 16)?;
            for (index, node) in pool.nodes.iter().enumerate() {
                let Value::List(items) = &node.value else { continue };
                let pairs = items.len() == want.len()
                    && items.iter().all(|item| matches!(item, Value::Object(_)));
                if !pairs || tried >= MAX_LISTS {
                    continue;
                }
                tried += 1;
                best = cheaper(best, self.keyed_by(examples, seed, pool, index, node, context)?);
            }
        }
        Ok(cheaper(best, self.counted_by(examples, seed, pools, context)?))
    }

    /// How many elements of a list have each text in a field, or the sum of another field for each.
    fn counted_by(
        &self,
        examples: &[Example],
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Outcome {
        const MAX_FIELDS: usize = 16;
        let Some(want) = seed.want.as_ref().and_then(Value::as_object) else { return Ok(None) };
        if !want.iter().all(|(_, value)| value.as_number().is_some()) {
            return Ok(None);
        }
        let mut best = None;
        for pool in pools {
            for (index, node) in pool.nodes.iter().enumerate() {
                let Value::List(items) = &node.value else { continue };
                let Some(first) = items.first().and_then(Value::as_object) else { continue };
                self.charge(items.len())?;
                if items.len() < want.len().max(2) {
                    continue;
                }
                let place = self.place(pool, node, seed.scopes.len(), context);
                let names_one =
                    |value: &Value| value.to_text().is_some_and(|text| want.get(&text).is_some());
                let keys = first.iter().filter(|(_, value)| value.is_scalar() && names_one(value));
                for (key, _) in keys.take(MAX_FIELDS) {
                    let sums = first.iter().filter(|(_, value)| number(value).is_some());
                    let sums = sums.take(MAX_FIELDS).map(|(value, _)| Convert::SumBy {
                        key: key.clone(),
                        value: value.clone(),
                    });
                    for convert in [Convert::CountBy(key.clone())].into_iter().chain(sums) {
                        self.charge(items.len())?;
                        let cost = place + cost::convert(&convert);
                        let expr = Expr::Path(pool.path(index)).convert(convert);
                        if self.holds(&expr, examples)? {
                            best = cheaper(best, Some(Found { expr, cost }));
                        }
                    }
                }
            }
        }
        Ok(best)
    }

    fn keyed_by(
        &self,
        examples: &[Example],
        seed: &Example,
        pool: &Pool,
        index: usize,
        node: &Node,
        context: &Context,
    ) -> Outcome {
        let list = pool.path(index);
        let Some(passes) = self.passes(examples, &list)? else { return Ok(None) };
        let Some(first) = passes.iter().find(|(example, _)| std::ptr::eq(*example, seed)) else {
            return Ok(None);
        };
        let depth = first.1.len();
        let inner = self.pools(&Example { scopes: first.1.clone(), want: None })?;
        let Some(own) = inner.last() else { return Ok(None) };
        let place = self.place(pool, node, seed.scopes.len(), context);
        let mut keys: Vec<(f64, Expr)> = Vec::new();
        for entry in &own.entries {
            self.charge(1)?;
            let Some(want) = seed.want.as_ref().and_then(Value::as_object) else { continue };
            let named = entry.value.as_text().is_some_and(|text| want.get(text).is_some());
            if named && own.nodes.get(entry.node).is_some() {
                keys.push((entry.cost, own.expr(entry, depth)));
            }
        }
        keys.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best = None;
        for (key_cost, key) in keys.into_iter().take(4) {
            let Some(values) = self.value_examples(&passes, &key)? else { continue };
            let context = Context {
                names: Names { key: words("value"), around: context.names.key.clone() },
                outer: 2.0,
                level: context.level + 1,
            };
            let Some(value) = self.solve(&values, &context)? else { continue };
            // Names that fit again and again need no likeness besides.
            let value_cost = if passes.len() > 1 { 0.6 * value.cost } else { value.cost };
            let cost = place + 3.0 + key_cost + value_cost + 4.0;
            let pairs = FromPairs { list: list.clone(), key, value: value.expr };
            let expr = Expr::FromPairs(Box::new(pairs));
            if self.holds(&expr, examples)? {
                best = cheaper(best, Some(Found { expr, cost }));
            }
        }
        Ok(best)
    }

    /// Every element of the list in every example, with the scopes there.
    fn passes<'e>(
        &self,
        examples: &'e [Example],
        list: &Path,
    ) -> Result<Option<Vec<Pass<'e>>>, Exhausted> {
        let mut passes = Vec::new();
        for example in examples {
            let Some(Value::List(items)) = self.evaluator.resolve(list, &example.scopes) else {
                return Ok(None);
            };
            self.charge(items.len())?;
            for (position, item) in items.iter().enumerate() {
                let scope = self.fresh_scope(item.clone(), position);
                passes.push((example, example.scopes.iter().cloned().chain([scope]).collect()));
            }
        }
        Ok(Some(passes))
    }

    /// What each element's value must be, when its key is the name of a field.
    fn value_examples(
        &self,
        passes: &[Pass<'_>],
        key: &Expr,
    ) -> Result<Option<Vec<Example>>, Exhausted> {
        let mut values = Vec::with_capacity(passes.len());
        for (example, scopes) in passes {
            self.charge(2)?;
            let name: Option<Arc<str>> =
                self.evaluator.eval(key, scopes).and_then(|key| key.as_text().map(Arc::from));
            let want =
                name.and_then(|name| example.want.as_ref()?.as_object()?.get(&name).cloned());
            if want.is_none() {
                return Ok(None);
            }
            values.push(Example { scopes: scopes.clone(), want });
        }
        Ok(Some(values))
    }
}
