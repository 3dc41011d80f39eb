//! Lists mapped element by element: which loop fits, and the one program that is true for all elements.

use std::rc::Rc;

use super::super::names::Names;
use super::super::program::{Expr, Map};
use super::super::value::Value;
use super::candidates::Candidate;
use super::pool::Pool;
use super::{Context, Example, Exhausted, Found, Outcome, Search, cheaper};

/// Loops whose bodies are searched for one list, at the top and further inside.
const MAX_LOOPS: usize = 6;
/// With several samples most are given up after a look at how many elements they have.
const MAX_LOOPS_OF_SEVERAL: usize = 32;
const MAX_INNER_LOOPS: usize = 3;

impl Search<'_> {
    pub(super) fn mapped(
        &self,
        examples: &[Example],
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Outcome {
        let Some(want) = seed.want.as_ref().and_then(Value::as_list) else { return Ok(None) };
        let mut candidates = self.candidates(want, seed, pools, context, want.len())?;
        candidates.sort_by(|a, b| (a.cost - 3.0 * a.shared).total_cmp(&(b.cost - 3.0 * b.shared)));
        let most = match examples.len() {
            _ if context.level >= 4 => MAX_INNER_LOOPS,
            1 => MAX_LOOPS,
            _ => MAX_LOOPS_OF_SEVERAL,
        };
        let mut best = None;
        for candidate in candidates.into_iter().take(most) {
            best = cheaper(best, self.try_loops(examples, candidate, context, 0, 0)?);
        }
        Ok(best)
    }

    /// A run of elements that is a list mapped, between fixed ones: where it starts, how long it is.
    pub(super) fn spread(
        &self,
        examples: &[Example],
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Result<Option<(usize, usize, Found)>, Exhausted> {
        const MAX_TRIED: usize = 6;
        let Some(want) = seed.want.as_ref().and_then(Value::as_list) else { return Ok(None) };
        let lists = pools
            .iter()
            .flat_map(|pool| &pool.nodes)
            .filter_map(|node| node.value.as_list().map(<[Value]>::len));
        let lengths: std::collections::BTreeSet<usize> =
            lists.filter(|length| (2..want.len()).contains(length)).collect();
        let mut tried = 0;
        for length in lengths.into_iter().rev().take(8) {
            // A list is put near one of the ends, not somewhere in a long list.
            for at in (0..=want.len() - length).take(8) {
                let window = want.get(at..at + length).unwrap_or_default();
                // The same kind of thing throughout, all of it in the list.
                if !alike(window) {
                    continue;
                }
                let mut candidates = self.candidates(window, seed, pools, context, length)?;
                candidates.retain(|candidate| {
                    candidate.shared > 0.0 && candidate.loops.iter().all(|l| l.filter.is_none())
                });
                candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost));
                for candidate in candidates.into_iter().take(2) {
                    tried += 1;
                    if tried > MAX_TRIED {
                        return Ok(None);
                    }
                    let after = want.len() - at - length;
                    if let Some(found) = self.try_loops(examples, candidate, context, at, after)? {
                        return Ok(Some((at, length, found)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The body that is right for every pass in every example; `before` and `after` elements are not the loop's.
    fn try_loops(
        &self,
        examples: &[Example],
        candidate: Candidate,
        context: &Context,
        before: usize,
        after: usize,
    ) -> Outcome {
        let mut passes = Vec::new();
        for example in examples {
            let Some(want) = example.want.as_ref().and_then(Value::as_list) else {
                return Ok(None);
            };
            let Some(want) = want.len().checked_sub(after).and_then(|end| want.get(before..end))
            else {
                return Ok(None);
            };
            let mut all = Vec::new();
            let outer = example.scopes.len();
            self.evaluator.walk(&candidate.loops, &mut example.scopes.to_vec(), &mut |scopes| {
                all.push(scopes.to_vec())
            });
            self.charge(all.len() * 2)?;
            if all.len() != want.len() {
                return Ok(None);
            }
            for (scopes, want) in all.into_iter().zip(want) {
                let named =
                    scopes.into_iter().enumerate().map(|(index, scope)| match index < outer {
                        true => scope,
                        false => self.fresh_scope(scope.value, scope.position),
                    });
                passes.push(Example { scopes: named.collect(), want: Some(want.clone()) });
            }
        }
        let alone = examples.len() == 1 && passes.len() == 1;
        // A list of scalars has its elements' name.
        let scalars = passes.iter().all(|pass| pass.want.as_ref().is_some_and(Value::is_scalar));
        let names = match scalars {
            true => context.names.clone(),
            false => Names { key: Vec::new(), around: context.names.key.clone() },
        };
        let inner =
            Context { names, outer: if alone { 4.0 } else { 1.0 }, level: context.level + 1 };
        let Some(found) = self.solve_passes(&passes, &inner)? else { return Ok(None) };
        let own = examples.first().map_or(0, |example| example.scopes.len());
        if !reads(&found.expr, &(own..own + candidate.loops.len())) {
            return Ok(None);
        }
        let cost = candidate.cost + found.cost;
        let expr = Expr::Map(Box::new(Map { loops: candidate.loops, body: found.expr }));
        Ok(Some(Found { expr, cost }))
    }
}

impl Search<'_> {
    /// Solves for some of many passes, then for the ones as well that this was wrong for.
    fn solve_passes(&self, passes: &[Example], context: &Context) -> Outcome {
        const MAX_PASSES: usize = 48;
        const MAX_ROUNDS: usize = 4;
        if passes.len() <= MAX_PASSES {
            return self.solve(passes, context);
        }
        // All over the list: what is rare often comes late.
        let mut chosen: std::collections::BTreeSet<usize> =
            (0..MAX_PASSES).map(|number| number * (passes.len() - 1) / (MAX_PASSES - 1)).collect();
        for _ in 0..MAX_ROUNDS {
            let some: Vec<Example> =
                chosen.iter().filter_map(|&index| passes.get(index)).cloned().collect();
            let Some(found) = self.solve(&some, context)? else { return Ok(None) };
            let mut wrong = Vec::new();
            for (index, pass) in passes.iter().enumerate() {
                if wrong.len() < 8 && !self.holds(&found.expr, std::slice::from_ref(pass))? {
                    wrong.push(index);
                }
            }
            if wrong.is_empty() {
                return Ok(Some(found));
            }
            chosen.extend(wrong);
        }
        Ok(None)
    }
}

/// Whether the expression reads the elements of the loops that open these scopes.
fn reads(expr: &Expr, scopes: &std::ops::Range<usize>) -> bool {
    matches!(expr, Expr::Position { .. })
        || expr.own_paths().iter().any(|path| scopes.contains(&path.scope))
        || expr.children().into_iter().any(|child| reads(child, scopes))
}

/// Values of one kind, objects with the same fields.
fn alike(values: &[Value]) -> bool {
    let Some((first, rest)) = values.split_first() else { return false };
    rest.iter().all(|value| match (first, value) {
        (Value::Object(a), Value::Object(b)) => a.iter().all(|(name, _)| b.get(name).is_some()),
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
    })
}
