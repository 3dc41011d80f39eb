//! Explaining a text, a number, a flag or null.

use super::super::convert::Convert;
use super::super::json::Json;
use super::super::program::Expr;
use super::{Case, Found, Outcome, Search, cheaper, common_want, cost};

/// Candidates of one value that are ranked, and those that are then checked.
const MAX_RANKED: usize = 512;
const MAX_CHECKED: usize = 48;

impl<'a> Search<'a> {
    pub(super) fn solve_scalar(&self, case: &Case<'_, 'a>, want: &Json) -> Outcome {
        let mut best = self.direct(case, want)?;
        if let Some(constant) = common_want(case.examples) {
            // A whole field that is the value beats a constant, however short that is. Null and the empty text say
            // nothing.
            let whole = best.as_ref().is_some_and(|found| matches!(found.expr, Expr::Path(_)));
            let says_nothing = constant.is_null() || constant == "";
            let cost =
                if whole && !says_nothing { f64::INFINITY } else { cost::constant(constant) };
            best = cheaper(best, Some(Found::new(Expr::Const(constant.clone()), cost)));
        }
        // A field that is the value needs no further thought.
        if best.as_ref().is_some_and(|found| matches!(found.expr, Expr::Path(_))) {
            return Ok(best);
        }
        match want {
            Json::String(text) => Ok(cheaper(best, self.composed(case, text)?)),
            _ => Ok(best),
        }
    }

    /// A place, or a value that one place becomes.
    fn direct(&self, case: &Case<'_, 'a>, want: &Json) -> Outcome {
        let Case { examples, pools, context, .. } = case;
        let mut ranked: Vec<(f64, usize, usize)> = Vec::new();
        for (number, pool) in pools.iter().enumerate() {
            let entries = pool.with_value(want);
            self.charge(entries.len())?;
            for &index in entries.iter().take(MAX_RANKED) {
                let Some(entry) = pool.entries.get(index) else { continue };
                let Some(node) = pool.nodes.get(entry.node) else { continue };
                let alike = entry.alike(node, &context.names);
                // A label may be spelled like some status by chance.
                let chance = match entry.chain.as_slice() {
                    [Convert::Upper] => 6.0 * (1.0 - alike),
                    _ => 0.0,
                };
                let place = self.place_like(alike, pool, node, case);
                ranked.push((place + entry.cost + chance, number, index));
            }
        }
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best: Option<Found> = None;
        for (cost, number, index) in ranked.into_iter().take(MAX_CHECKED) {
            let Some(pool) = pools.get(number) else { continue };
            let Some(entry) = pool.entries.get(index) else { continue };
            let expr = pool.expr(entry);
            let larger = best.as_ref().is_some_and(|best| expr.size() > best.expr.size());
            if !larger && self.holds(&expr, examples)? {
                best = cheaper(best, Some(Found::new(expr, cost)));
            }
        }
        Ok(best)
    }
}
