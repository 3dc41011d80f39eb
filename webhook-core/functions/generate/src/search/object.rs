//! Explaining an object: as another one, field by field, or from a list of pairs.

use std::rc::Rc;
use std::sync::Arc;

use super::super::names::{Names, words};
use super::super::program::{Base, Expr};
use super::super::value::{Object, Value};
use super::pool::Pool;
use super::{Context, Example, Exhausted, Found, Outcome, Search, cheaper, cost};

type Fields = Vec<(Arc<str>, Option<Found>)>;

impl Search<'_> {
    pub(super) fn solve_object(
        &self,
        examples: &[Example],
        seed: &Example,
        context: &Context,
    ) -> Outcome {
        let Some(want) = seed.want.as_ref().and_then(Value::as_object) else { return Ok(None) };
        let pools = self.pools(seed)?;
        if let Some(found) = self.whole(examples, seed, &pools, context)?
            && want.len() > 0
        {
            return Ok(Some(found));
        }
        if !examples.iter().all(|example| matches!(example.want, Some(Value::Object(_)))) {
            return Ok(None);
        }
        let fields = self.fields(examples, want, context)?;
        let by_field = by_field(&fields);
        let extended = self.extended(examples, want, &fields, seed, &pools, context)?;
        let pairs = self.keyed(examples, seed, &pools, context)?;
        Ok(cheaper(cheaper(by_field, extended), pairs))
    }

    /// What is right in every example, as far as there is such a thing; what remains is as in the first.
    pub(super) fn solve_or_guess(
        &self,
        examples: &[Example],
        context: &Context,
    ) -> Result<Expr, Exhausted> {
        if let Some(found) = self.solve(examples, context)? {
            return Ok(found.expr);
        }
        let first = examples.iter().find_map(|example| example.want.as_ref());
        let objects = examples.iter().all(|e| matches!(e.want, Some(Value::Object(_))));
        let Some(Value::Object(want)) = first.filter(|_| objects) else {
            return Ok(Expr::Const(first.cloned().unwrap_or(Value::Null)));
        };
        let mut fields = Vec::with_capacity(want.len());
        for (name, _) in want.iter() {
            let (of_field, context) = of_field(examples, name, want, context);
            fields.push((name.clone(), self.solve_or_guess(&of_field, &context)?));
        }
        Ok(Expr::Object { base: None, fields })
    }

    /// A list or an object that is in the payload as it is wanted.
    pub(super) fn whole(
        &self,
        examples: &[Example],
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Outcome {
        let Some(want) = &seed.want else { return Ok(None) };
        let mut ranked = Vec::new();
        for pool in pools {
            self.charge(pool.nodes.len() / 16)?;
            for (index, node) in pool.nodes.iter().enumerate() {
                if !node.value.is_scalar() && node.value.same(want) {
                    self.charge(4)?;
                    ranked.push((self.place(pool, node, seed.scopes.len(), context), pool, index));
                }
            }
        }
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (cost, pool, index) in ranked.into_iter().take(16) {
            let expr = Expr::Path(pool.path(index));
            if self.holds(&expr, examples)? {
                return Ok(Some(Found { expr, cost }));
            }
        }
        Ok(None)
    }

    /// Each field by itself; a field that some examples lack must be absent there.
    fn fields(
        &self,
        examples: &[Example],
        want: &Object,
        context: &Context,
    ) -> Result<Fields, Exhausted> {
        let mut names: Vec<Arc<str>> = want.iter().map(|(name, _)| name.clone()).collect();
        let mut known: std::collections::HashSet<Arc<str>> = names.iter().cloned().collect();
        for object in examples.iter().filter_map(|example| example.want.as_ref()?.as_object()) {
            self.charge(object.len() / 8)?;
            names.extend(
                object
                    .iter()
                    .map(|(name, _)| name)
                    .filter(|name| known.insert(Arc::clone(name)))
                    .cloned(),
            );
        }
        let mut fields = Vec::with_capacity(names.len());
        for name in names {
            let (of_field, context) = of_field(examples, &name, want, context);
            let found = self.solve(&of_field, &context)?;
            fields.push((name, found));
        }
        Ok(fields)
    }

    /// Another object with some fields more, and few fewer.
    fn extended(
        &self,
        examples: &[Example],
        want: &Object,
        fields: &Fields,
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Outcome {
        const MIN_TAKEN_OVER: usize = 3;
        if want.len() < MIN_TAKEN_OVER {
            return Ok(None);
        }
        let mut best = None;
        for pool in pools {
            for (index, node) in pool.nodes.iter().enumerate() {
                self.charge(1)?;
                let Some(object) =
                    node.value.as_object().filter(|object| object.len() >= MIN_TAKEN_OVER)
                else {
                    continue;
                };
                self.charge(object.len())?;
                let taken = |name: &str, value: &Value| {
                    want.get(name).is_some_and(|wanted| wanted.same(value))
                };
                let kept = object.iter().filter(|(name, value)| taken(name, value)).count();
                let removed: Vec<Arc<str>> = object
                    .iter()
                    .map(|(name, _)| name)
                    .filter(|name| want.get(name).is_none())
                    .cloned()
                    .collect();
                // Taking most of an object is moving the object; taking some of it is choosing fields.
                if kept < MIN_TAKEN_OVER || kept * 2 < want.len() || removed.len() * 4 > kept {
                    continue;
                }
                let mut total = self.place(pool, node, seed.scopes.len(), context)
                    + 4.0
                    + 4.0 * removed.len() as f64;
                let mut own = Vec::new();
                for (name, found) in fields
                    .iter()
                    .filter(|(name, _)| !object.get(name).is_some_and(|value| taken(name, value)))
                {
                    let Some(found) = found else {
                        total = f64::INFINITY;
                        break;
                    };
                    total += cost::FIELD + found.cost;
                    own.push((name.clone(), found.expr.clone()));
                }
                let base = Base { path: pool.path(index), removed };
                let expr = Expr::Object { base: Some(base), fields: own };
                if total.is_finite() && self.holds(&expr, examples)? {
                    best = cheaper(best, Some(Found { expr, cost: total }));
                }
            }
        }
        Ok(best)
    }
}

/// The examples for one field.
fn of_field(
    examples: &[Example],
    name: &str,
    siblings: &Object,
    context: &Context,
) -> (Vec<Example>, Context) {
    let of_field = |example: &Example| Example {
        scopes: example.scopes.clone(),
        want: example.want.as_ref().and_then(|want| want.as_object()?.get(name).cloned()),
    };
    let context = Context {
        names: inner_names(context, name, siblings),
        outer: context.outer,
        level: context.level + 1,
    };
    (examples.iter().map(of_field).collect(), context)
}

fn by_field(fields: &Fields) -> Option<Found> {
    let mut total = 0.0;
    let mut exprs = Vec::with_capacity(fields.len());
    for (name, found) in fields {
        let found = found.as_ref()?;
        total += cost::FIELD + found.cost;
        exprs.push((name.clone(), found.expr.clone()));
    }
    Some(Found { expr: Expr::Object { base: None, fields: exprs }, cost: total })
}

/// The name of a field and what is around it: the field it is in, and the title beside a bare `value`.
fn inner_names(context: &Context, name: &str, siblings: &Object) -> Names {
    const MAX_AROUND: usize = 16;
    let mut around: Vec<_> = context.names.key.clone();
    if matches!(name, "value" | "text" | "content" | "#text") {
        let titles =
            ["title", "name", "label", "key", "field"].iter().filter(|title| **title != name);
        let titles = titles.filter_map(|title| siblings.get(title)?.as_text());
        let titled = titles.filter(|text| text.len() <= 60).flat_map(words);
        let titled: Vec<_> = titled.collect();
        if !titled.is_empty() {
            return Names { key: titled, around };
        }
    }
    around.extend(context.names.around.iter().cloned());
    around.truncate(MAX_AROUND);
    Names { key: words(name), around }
}
