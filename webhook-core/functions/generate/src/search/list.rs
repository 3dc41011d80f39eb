//! Explaining a list: as another one, as the parts of a text, element by element, or as a fixed list of parts.

use std::rc::Rc;

use super::super::convert::Convert;
use super::super::names::Names;
use super::super::program::{Element, Expr};
use super::super::value::Value;
use super::pool::Pool;
use super::{Context, Example, Found, Outcome, Search, cheaper, cost};

impl Search<'_> {
    pub(super) fn solve_list(
        &self,
        examples: &[Example],
        seed: &Example,
        context: &Context,
    ) -> Outcome {
        let Some(want) = seed.want.as_ref().and_then(Value::as_list) else { return Ok(None) };
        let pools = self.pools(seed)?;
        let whole = self.whole(examples, seed, &pools, context)?;
        if want.is_empty() {
            // Only a field with the very name is taken for where an empty list comes from.
            let constant = Found { expr: Expr::Const(Value::list([])), cost: 5.0 };
            let all_empty = examples
                .iter()
                .all(|e| e.want.as_ref().and_then(Value::as_list).is_some_and(<[Value]>::is_empty));
            return Ok(cheaper(whole, Some(constant).filter(|_| all_empty)));
        }
        if whole.is_some() {
            return Ok(whole);
        }
        if !examples.iter().all(|example| matches!(example.want, Some(Value::List(_)))) {
            return Ok(None);
        }
        let mut best = self.split(examples, seed, &pools, context)?;
        best = cheaper(best, self.mapped(examples, seed, &pools, context)?);
        // One rule for many elements: no explanation of each by itself is as short.
        const LEAST_FOR_AN_ELEMENT: f64 = 7.0;
        if best.as_ref().is_some_and(|found| found.cost < LEAST_FOR_AN_ELEMENT * want.len() as f64)
        {
            return Ok(best);
        }
        Ok(cheaper(best, self.fixed(examples, seed, &pools, context)?))
    }

    /// The parts of one text.
    fn split(
        &self,
        examples: &[Example],
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Outcome {
        const SEPARATORS: &[&str] = &[",", ";", "|", "\n", " ", "/", "\t", ":", "-", "."];
        let Some(want) = seed.want.as_ref().and_then(Value::as_list) else { return Ok(None) };
        let (Some(first), Some(last)) =
            (want.first().and_then(Value::as_text), want.last().and_then(Value::as_text))
        else {
            return Ok(None);
        };
        let mut best: Option<Found> = None;
        for pool in pools {
            self.charge(pool.nodes.len() / 8)?;
            for (index, node) in pool.nodes.iter().enumerate() {
                let Some(text) = node.value.as_text().map(str::trim) else { continue };
                if want.len() < 2 || !text.starts_with(first) || !text.ends_with(last) {
                    continue;
                }
                self.charge(SEPARATORS.len() + text.len() / 64)?;
                for (rank, separator) in SEPARATORS
                    .iter()
                    .enumerate()
                    .filter(|(_, separator)| text.contains(**separator))
                {
                    let convert = Convert::Split { separator: (*separator).into() };
                    let place = self.place(pool, node, seed.scopes.len(), context);
                    let cost = place + cost::convert(&convert) + rank as f64 * 0.1;
                    let expr = Expr::Path(pool.path(index)).convert(convert);
                    if best.as_ref().is_none_or(|best| cost < best.cost)
                        && self.holds(&expr, examples)?
                    {
                        best = Some(Found { expr, cost });
                    }
                }
            }
        }
        Ok(best)
    }

    /// As many parts as there are, each explained by itself; a run of them may be a list mapped element by element.
    fn fixed(
        &self,
        examples: &[Example],
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Outcome {
        let Some(want) = seed.want.as_ref().and_then(Value::as_list) else { return Ok(None) };
        let spread = self.spread(examples, seed, pools, context)?;
        let (skipped, spread) = match spread {
            Some((at, length, found)) => (at..at + length, Some(found)),
            None => (0..0, None),
        };
        let same_length = examples.iter().all(|e| {
            e.want.as_ref().and_then(Value::as_list).map(<[Value]>::len) == Some(want.len())
        });
        if spread.is_none() && !same_length {
            return Ok(None);
        }
        let mut total = 0.0;
        let mut elements = Vec::new();
        for index in 0..want.len() {
            if spread.is_some()
                && index == skipped.start
                && let Some(found) = &spread
            {
                total += cost::ELEMENT + found.cost;
                elements.push(Element::Spread(found.expr.clone()));
            }
            if skipped.contains(&index) {
                continue;
            }
            // Counted from whichever end is fixed.
            let from_end = (index >= skipped.end && spread.is_some()).then(|| want.len() - index);
            let one = |example: &Example| {
                let list = example.want.as_ref()?.as_list()?;
                let at = match from_end {
                    Some(from_end) => list.len().checked_sub(from_end)?,
                    None => index,
                };
                Some(Example { scopes: example.scopes.clone(), want: Some(list.get(at)?.clone()) })
            };
            let Some(of_element) = examples.iter().map(one).collect::<Option<Vec<_>>>() else {
                return Ok(None);
            };
            let around = context.names.key.iter().chain(&context.names.around).cloned().collect();
            let names = Names { key: Vec::new(), around };
            let context = Context { names, outer: context.outer, level: context.level + 1 };
            let Some(found) = self.solve(&of_element, &context)? else { return Ok(None) };
            total += cost::ELEMENT + found.cost;
            elements.push(Element::One(found.expr));
        }
        let expr = constants_together(elements);
        Ok(Some(Found { expr, cost: total }))
    }
}

/// A list of nothing but constants is one constant.
fn constants_together(elements: Vec<Element>) -> Expr {
    let constant = |element: &Element| match element {
        Element::One(Expr::Const(value)) => Some(value.clone()),
        _ => None,
    };
    match elements.iter().map(constant).collect::<Option<Vec<_>>>() {
        Some(values) => Expr::Const(Value::list(values)),
        None => Expr::List(elements),
    }
}
