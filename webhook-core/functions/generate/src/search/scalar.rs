//! Explaining a text, a number, a flag or null.

use std::rc::Rc;

use super::super::convert::Convert;
use super::super::program::Expr;
use super::super::value::Value;
use super::pool::Pool;
use super::{Context, Example, Found, Outcome, Search, cheaper, common_want, cost};

/// Candidates of one value that are ranked, and those that are then checked.
const MAX_RANKED: usize = 512;
const MAX_CHECKED: usize = 48;
/// An explanation of less than this is not second-guessed.
const GOOD: f64 = 14.0;

fn is_word(value: &Value) -> bool {
    value.as_text().is_some_and(|text| text.bytes().all(|b| b.is_ascii_alphabetic()))
}

/// Null and the empty text are the same as any other one.
fn says_nothing(value: &Value) -> bool {
    value.is_null() || value.as_text() == Some("")
}

impl Search<'_> {
    pub(super) fn solve_scalar(
        &self,
        examples: &[Example],
        seed: &Example,
        context: &Context,
    ) -> Outcome {
        let Some(want) = &seed.want else { return Ok(None) };
        let pools = self.pools(seed)?;
        let depth = seed.scopes.len();
        let mut best = self.direct(examples, want, &pools, depth, context)?;
        if examples.len() > 1 {
            best = cheaper(best, self.position(examples, want, depth)?);
        }
        // A whole field that is the value beats a constant, however short that is.
        let whole = best.as_ref().is_some_and(|found| matches!(found.expr, Expr::Path(_)));
        if let Some(constant) = common_want(examples).filter(|want| !whole || says_nothing(want)) {
            let found =
                Found { expr: Expr::Const(constant.clone()), cost: cost::constant(constant) };
            best = cheaper(best, Some(found));
        }
        // A field that is the value needs no further thought.
        if best.as_ref().is_some_and(|found| matches!(found.expr, Expr::Path(_))) {
            return Ok(best);
        }
        best = match want {
            Value::Text(_) => cheaper(best, self.composed(examples, seed, &pools, context)?),
            Value::Int(_) | Value::Float(_) => {
                cheaper(best, self.arithmetic(examples, seed, &pools, context)?)
            }
            _ => best,
        };
        if best.as_ref().is_some_and(|found| examples.len() > 1 && found.cost < GOOD) {
            return Ok(best);
        }
        let chosen = self.chosen(examples, seed, &pools, context)?;
        Ok(cheaper(best, chosen))
    }

    /// A place, or something that one place becomes.
    fn direct(
        &self,
        examples: &[Example],
        want: &Value,
        pools: &[Rc<Pool>],
        depth: usize,
        context: &Context,
    ) -> Outcome {
        let mut ranked: Vec<(f64, usize, usize)> = Vec::new();
        for (number, pool) in pools.iter().enumerate() {
            let entries = pool.with_value(want);
            self.charge(entries.len())?;
            for &index in entries.iter().take(MAX_RANKED) {
                let Some(entry) = pool.entries.get(index) else { continue };
                let Some(node) = pool.nodes.get(entry.node) else { continue };
                let alike = entry.alike(node, &context.names, &self.wanted_lists);
                // A label may be spelled like some status by chance.
                let chance = match entry.chain.as_slice() {
                    [Convert::Title | Convert::Capitalize | Convert::Lower] if is_word(want) => {
                        12.0 * (1.0 - alike)
                    }
                    [Convert::Upper] if is_word(want) => 6.0 * (1.0 - alike),
                    _ => 0.0,
                };
                let place = self.place_like(alike, pool, node, depth, context);
                ranked.push((place + entry.cost + chance, number, index));
            }
        }
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (cost, number, index) in ranked.into_iter().take(MAX_CHECKED) {
            let Some(pool) = pools.get(number) else { continue };
            let Some(entry) = pool.entries.get(index) else { continue };
            let expr = pool.expr(entry, depth);
            if self.holds(&expr, examples)? {
                return Ok(Some(Found { expr, cost }));
            }
            if let Some(found) = self.with_default(&expr, cost, examples)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The expression where it has a value, and one constant wherever it has none.
    fn with_default(&self, expr: &Expr, base: f64, examples: &[Example]) -> Outcome {
        if examples.len() < 2 {
            return Ok(None);
        }
        let mut default: Option<&Value> = None;
        for example in examples {
            self.charge(1)?;
            let got = self.evaluator.eval(expr, &example.scopes).filter(|got| !got.is_null());
            match (got, &example.want) {
                (Some(got), Some(want)) if got.same(want) => {}
                (None, Some(want)) if default.is_none_or(|default| default.same(want)) => {
                    default = Some(want)
                }
                _ => return Ok(None),
            }
        }
        Ok(default.map(|default| {
            let convert = Convert::Default(default.clone());
            Found { cost: base + cost::convert(&convert), expr: expr.clone().convert(convert) }
        }))
    }

    /// The number of the element in its list.
    fn position(&self, examples: &[Example], want: &Value, depth: usize) -> Outcome {
        if depth < 2 || !matches!(want, Value::Int(_)) {
            return Ok(None);
        }
        for base in [1, 0] {
            let expr = Expr::Position { scope: depth - 1, base };
            if self.holds(&expr, examples)? {
                return Ok(Some(Found { expr, cost: 6.0 }));
            }
        }
        Ok(None)
    }
}
