//! Explaining an object: as another one, field by field, or as groups of a list.

use std::rc::Rc;

use serde_json::Map as Object;

use super::super::json::{Json, is_scalar, same};
use super::super::names::{Names, words};
use super::super::program::Expr;
use super::{Case, Context, Example, Exhausted, Found, Outcome, Parts, Search, cheaper, cost};

impl<'a> Search<'a> {
    pub(super) fn solve_object(&self, case: &Case<'_, 'a>, want: &Object<String, Json>) -> Outcome {
        if let Some(found) = self.whole(case)?
            && !want.is_empty()
        {
            return Ok(Some(found));
        }
        if !case.examples.iter().all(|example| matches!(example.want, Some(Json::Object(_)))) {
            return Ok(None);
        }
        let by_field = self.by_field(case, want)?;
        let grouped = self.grouped(case, want)?;
        Ok(cheaper(by_field, grouped))
    }

    /// An expression that is right in every example, as far as one is found. A value that no expression explains is as
    /// in the first example.
    pub(super) fn solve_or_guess(
        &self,
        examples: &[Example<'a>],
        context: &Context,
    ) -> Result<Found, Exhausted> {
        if let Some(found) = self.solve(examples, context)? {
            return Ok(found);
        }
        let first = examples.iter().find_map(|example| example.want);
        let objects = examples.iter().all(|e| matches!(e.want, Some(Json::Object(_))));
        let Some(Json::Object(want)) = first.filter(|_| objects) else {
            return Ok(Found::new(Expr::Const(first.cloned().unwrap_or(Json::Null)), 0.0));
        };
        let mut fields = Vec::with_capacity(want.len());
        for name in want.keys() {
            let (examples, context) = of_field(examples, name, context);
            fields.push((name.clone(), self.solve_or_guess(&examples, &context)?.expr));
        }
        Ok(Found::new(Expr::Object(fields), 0.0))
    }

    /// A list or an object that is in the payload as it is wanted.
    pub(super) fn whole(&self, case: &Case<'_, 'a>) -> Outcome {
        let Some(want) = case.seed.want else { return Ok(None) };
        let mut best = None;
        for pool in &case.pools {
            self.charge(pool.nodes.len() / 16)?;
            for (index, node) in pool.nodes.iter().enumerate() {
                if is_scalar(node.value) || !same(node.value, want) {
                    continue;
                }
                self.charge(4)?;
                let expr = Expr::Path(pool.path(index));
                if self.holds(&expr, case.examples)? {
                    let cost = self.place(pool, node, case);
                    best = cheaper(best, Some(Found::new(expr, cost)));
                }
            }
        }
        Ok(best)
    }

    /// Each field by itself; a field that some examples lack must be absent there.
    fn by_field(&self, case: &Case<'_, 'a>, want: &Object<String, Json>) -> Outcome {
        let Case { examples, context, .. } = case;
        let mut names: Vec<&String> = want.keys().collect();
        let mut known: std::collections::HashSet<&String> = names.iter().copied().collect();
        for object in examples.iter().filter_map(|example| example.want?.as_object()) {
            self.charge(object.len() / 8)?;
            names.extend(object.keys().filter(|name| known.insert(*name)));
        }
        let mut fields = Parts::default();
        for name in &names {
            let (examples, context) = of_field(examples, name, context);
            let Some(found) = self.solve(&examples, &context)? else { return Ok(None) };
            fields.push(found, cost::FIELD);
        }
        let named = |exprs| names.iter().copied().cloned().zip(exprs).collect();
        Ok(Some(fields.whole(|exprs: Vec<Expr>| Expr::Object(named(exprs)))))
    }
}

/// The examples for one field.
fn of_field<'a>(
    examples: &[Example<'a>],
    name: &str,
    context: &Context,
) -> (Vec<Example<'a>>, Context) {
    let of_field = |example: &Example<'a>| Example {
        scopes: Rc::clone(&example.scopes),
        want: example.want.and_then(|want| want.as_object()?.get(name)),
    };
    let context = Context {
        names: inner_names(context, name),
        outer: context.outer,
        level: context.level + 1,
    };
    (examples.iter().map(of_field).collect(), context)
}

/// The name of a field and the names of those that it is in.
fn inner_names(context: &Context, name: &str) -> Names {
    const MAX_AROUND: usize = 16;
    let mut around: Vec<_> = context.names.key.clone();
    around.extend(context.names.around.iter().cloned());
    around.truncate(MAX_AROUND);
    Names { key: words(name), around }
}
