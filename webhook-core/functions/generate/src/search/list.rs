//! Explaining a list: as another one, element by element, or as a fixed list of parts.

use std::rc::Rc;

use super::super::json::Json;
use super::super::names::Names;
use super::super::program::{Expr, Step};
use super::{Case, Context, Example, Found, Outcome, Parts, Search, cheaper, cost};

impl<'a> Search<'a> {
    pub(super) fn solve_list(&self, case: &Case<'_, 'a>, want: &[Json]) -> Outcome {
        let examples = case.examples;
        let whole = self.whole(case)?;
        if want.is_empty() {
            // Only a field with the very name is taken for the place that an empty list comes from.
            let constant = Found::new(Expr::Const(Json::Array(Vec::new())), 5.0);
            let empty =
                |e: &Example<'a>| e.want.and_then(Json::as_array).is_some_and(Vec::is_empty);
            return Ok(cheaper(whole, Some(constant).filter(|_| examples.iter().all(empty))));
        }
        if whole.is_some() {
            return Ok(whole);
        }
        if !examples.iter().all(|example| matches!(example.want, Some(Json::Array(_)))) {
            return Ok(None);
        }
        let best = self.mapped(case, want)?;
        // One rule for many elements: no explanation of each by itself is as short.
        const LEAST_FOR_AN_ELEMENT: f64 = 7.0;
        if best.as_ref().is_some_and(|found| found.cost < LEAST_FOR_AN_ELEMENT * want.len() as f64)
        {
            return Ok(best);
        }
        Ok(cheaper(best, self.fixed(case, want.len())?))
    }

    /// A list of this length whose elements are each explained by themselves.
    fn fixed(&self, case: &Case<'_, 'a>, length: usize) -> Outcome {
        let Case { examples, context, .. } = case;
        let lists: Vec<&'a Vec<Json>> =
            examples.iter().filter_map(|e| e.want.and_then(Json::as_array)).collect();
        if lists.iter().any(|list| list.len() != length) {
            return Ok(None);
        }
        let around = context.names.key.iter().chain(&context.names.around).cloned().collect();
        let names = Names { key: Vec::new(), around };
        let context = Context { names, outer: context.outer, level: context.level + 1 };
        let mut elements = Parts::default();
        for index in 0..length {
            let one = |(example, list): (&Example<'a>, &&'a Vec<Json>)| Example {
                scopes: Rc::clone(&example.scopes),
                want: list.get(index),
            };
            let of_element: Vec<Example<'a>> = examples.iter().zip(&lists).map(one).collect();
            let Some(found) = self.solve(&of_element, &context)? else { return Ok(None) };
            // Elements of a list that are chosen by their numbers are more likely a filter or an order.
            let chosen = if chooses(&found.expr) { 8.0 } else { 0.0 };
            elements.push(found, cost::ELEMENT + chosen);
        }
        Ok(Some(elements.whole(Expr::List)))
    }
}

/// Whether the expression takes an element of a list by its number.
fn chooses(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path.steps.iter().any(|step| matches!(step, Step::Index(_))),
        _ => expr.children().into_iter().any(chooses),
    }
}
