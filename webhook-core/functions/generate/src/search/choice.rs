//! Flags and fixed words that follow from what another field says: looked for where nothing better is found.

use std::rc::Rc;

use super::super::convert::Convert;
use super::super::names::{best, words};
use super::super::program::Expr;
use super::super::value::Value;
use super::pool::{Node, Pool};
use super::{Context, Example, Exhausted, Found, Outcome, Search, cost};

/// Values that a field may take and still be told apart one by one.
const MAX_CASES: usize = 16;

impl Search<'_> {
    pub(super) fn chosen(
        &self,
        examples: &[Example],
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Outcome {
        if examples.len() == 1 {
            return self.flag_named_after_a_value(seed, pools, context);
        }
        let Some(pool) = pools.last() else { return Ok(None) };
        let mut found = None;
        for (index, node) in pool.nodes.iter().enumerate() {
            self.charge(1)?;
            if !node.value.is_scalar() || node.value.is_null() {
                continue;
            }
            let path = Expr::Path(pool.path(index));
            let place = self.place(pool, node, seed.scopes.len(), context);
            let Some(table) = self.table(&path, examples)? else { continue };
            let convert = match as_flag(&table) {
                Some(convert) if table.len() < examples.len() || node.value.as_text().is_some() => {
                    convert
                }
                // Each case seen once is a list of constants, not a rule.
                None if table.len() < examples.len() => Convert::Lookup(table),
                _ => continue,
            };
            let candidate =
                Found { cost: place + cost::convert(&convert) + 2.0, expr: path.convert(convert) };
            found = super::cheaper(found, Some(candidate));
        }
        Ok(found)
    }

    /// What each value of the field goes with, if that is one thing for each and not the same for all.
    fn table(
        &self,
        path: &Expr,
        examples: &[Example],
    ) -> Result<Option<Vec<(Value, Value)>>, Exhausted> {
        let mut table: Vec<(Value, Value)> = Vec::new();
        for example in examples {
            self.charge(1)?;
            let Some(from) = self.evaluator.eval(path, &example.scopes).filter(Value::is_scalar)
            else {
                return Ok(None);
            };
            let Some(to) = example.want.clone().filter(Value::is_scalar) else { return Ok(None) };
            match table.iter().find(|(known, _)| known.same(&from)) {
                Some((_, known)) if !known.same(&to) => return Ok(None),
                Some(_) => {}
                None if table.len() >= MAX_CASES => return Ok(None),
                None => table.push((from, to)),
            }
        }
        let varies =
            table.first().is_some_and(|(_, first)| table.iter().any(|(_, to)| !to.same(first)));
        Ok(varies.then_some(table))
    }

    /// `paid: true` beside `status: "paid"`.
    fn flag_named_after_a_value(
        &self,
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Outcome {
        if !matches!(seed.want, Some(Value::Bool(true))) || context.names.key.is_empty() {
            return Ok(None);
        }
        let mut found = None;
        for pool in pools {
            self.charge(pool.nodes.len() / 8)?;
            let names_it = |node: &&Node| {
                node.value.as_text().filter(|text| text.len() <= 40).map(words).is_some_and(
                    |value| {
                        !value.is_empty()
                            && value.iter().all(|word| best(word, &context.names.key) >= 1.0)
                    },
                )
            };
            for (index, node) in pool.nodes.iter().enumerate().filter(|(_, node)| names_it(node)) {
                let expr =
                    Expr::Path(pool.path(index)).convert(Convert::Equals(node.value.clone()));
                // Just under the constant: the name speaks for the comparison, not more.
                let cost = 4.0 + node.way.min(10.0) * 0.1;
                found = super::cheaper(found, Some(Found { expr, cost }));
            }
        }
        Ok(found)
    }
}

/// A table of flags with one case that is true is a comparison.
fn as_flag(table: &[(Value, Value)]) -> Option<Convert> {
    if !table.iter().all(|(_, to)| matches!(to, Value::Bool(_))) {
        return None;
    }
    let mut yes = table.iter().filter(|(_, to)| matches!(to, Value::Bool(true)));
    match (yes.next(), yes.next()) {
        (Some((value, _)), None) => Some(Convert::Equals(value.clone())),
        _ => None,
    }
}
