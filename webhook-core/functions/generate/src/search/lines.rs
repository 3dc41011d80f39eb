//! Texts with a line, or another part, for every element of a list: `2 x Shirt, 1 x Hat`.

use std::rc::Rc;

use super::super::names::Names;
use super::super::program::{Expr, Loop, Map, Over};
use super::super::value::Value;
use super::pool::Pool;
use super::text::Part;
use super::{Context, Example, Exhausted, Search};

const SEPARATORS: &[&str] = &["\n", ", ", "; ", " | ", "\n\n", " and ", " / ", ","];
/// Lists that are tried for one text.
const MAX_LISTS: usize = 12;
const MAX_ITEMS: usize = 100;
/// Lists and objects around a text that is still looked at this closely.
const MAX_LEVEL: usize = 8;

impl Search<'_> {
    pub(super) fn line_parts(
        &self,
        text: &str,
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Result<Vec<Part>, Exhausted> {
        let mut parts = Vec::new();
        if context.level > MAX_LEVEL {
            return Ok(parts);
        }
        let mut lists = 0;
        for pool in pools {
            for (index, node) in pool.nodes.iter().enumerate() {
                let Value::List(items) = &node.value else { continue };
                let fits = (2..=MAX_ITEMS).contains(&items.len())
                    && items.iter().all(|item| !item.is_scalar());
                if !fits || lists >= MAX_LISTS {
                    continue;
                }
                lists += 1;
                let place = self.place(pool, node, seed.scopes.len(), context);
                for separator in SEPARATORS {
                    let looped = Loop {
                        source: pool.path(index),
                        over: Over::Items,
                        filter: None,
                        order: None,
                    };
                    parts.extend(
                        self.lines_of(text, separator, items, looped, place, seed, context)?,
                    );
                }
            }
        }
        Ok(parts)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one call site; a struct would only repeat the names"
    )]
    fn lines_of(
        &self,
        text: &str,
        separator: &str,
        items: &[Value],
        looped: Loop,
        place: f64,
        seed: &Example,
        context: &Context,
    ) -> Result<Option<Part>, Exhausted> {
        let mut starts = vec![0];
        starts.extend(text.match_indices(separator).map(|(at, _)| at + separator.len()));
        if starts.len() < items.len() {
            return Ok(None);
        }
        let texts: Vec<Vec<String>> = items.iter().map(telling_texts).collect();
        let end_of = |number: usize| {
            starts.get(number + 1).map_or(text.len(), |next| next - separator.len())
        };
        for first in 0..=starts.len() - items.len() {
            self.charge(items.len())?;
            let spans: Vec<(usize, usize)> = (first..first + items.len())
                .filter_map(|number| Some((*starts.get(number)?, end_of(number))))
                .collect();
            let told = spans.iter().zip(&texts).all(|(&(start, end), texts)| {
                let line = text.get(start..end).unwrap_or_default();
                texts.iter().any(|text| line.contains(text.as_str()))
            });
            if !told {
                continue;
            }
            for spans in trimmed(text, &spans) {
                if let Some(part) = self
                    .line_program(text, &spans, separator, items, &looped, place, seed, context)?
                {
                    return Ok(Some(part));
                }
            }
        }
        Ok(None)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one call site; a struct would only repeat the names"
    )]
    fn line_program(
        &self,
        text: &str,
        spans: &[(usize, usize)],
        separator: &str,
        items: &[Value],
        looped: &Loop,
        place: f64,
        seed: &Example,
        context: &Context,
    ) -> Result<Option<Part>, Exhausted> {
        let mut examples = Vec::with_capacity(items.len());
        for (position, (item, &(start, end))) in items.iter().zip(spans).enumerate() {
            let scope = self.fresh_scope(item.clone(), position);
            let scopes: Rc<[_]> = seed.scopes.iter().cloned().chain([scope]).collect();
            examples.push(Example {
                scopes,
                want: Some(Value::text(text.get(start..end).unwrap_or_default())),
            });
        }
        let inner = Context { names: Names::default(), outer: 2.0, level: context.level + 1 };
        let Some(found) = self.solve(&examples, &inner)? else { return Ok(None) };
        if matches!(found.expr, Expr::Const(_)) {
            return Ok(None);
        }
        let list = Expr::Map(Box::new(Map { loops: vec![looped.clone()], body: found.expr }));
        let expr = Expr::Join { list: Box::new(list), separator: separator.into() };
        let (Some(&(start, _)), Some(&(_, end))) = (spans.first(), spans.last()) else {
            return Ok(None);
        };
        Ok(Some(Part { start, end, expr, cost: place + found.cost + 6.0 }))
    }
}

/// The texts by which a line may be known to be an element's.
fn telling_texts(item: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let mut push = |value: &Value| out.extend(value.to_text().filter(|text| text.len() >= 2));
    match item {
        Value::Object(object) => {
            for (_, value) in object.iter().take(40) {
                match value {
                    Value::Object(inner) => {
                        inner.iter().take(20).for_each(|(_, value)| push(value))
                    }
                    value => push(value),
                }
            }
        }
        value => push(value),
    }
    out
}

/// The lines as they are, and with what stands before the first and after the last taken off.
fn trimmed(text: &str, spans: &[(usize, usize)]) -> Vec<Vec<(usize, usize)>> {
    let (Some(&(start, first_end)), Some(&(last_start, end))) = (spans.first(), spans.last())
    else {
        return Vec::new();
    };
    let first = text.get(start..first_end).unwrap_or_default();
    let last = text.get(last_start..end).unwrap_or_default();
    let mut starts = vec![start];
    starts.extend(
        [": ", ":\n", "(", "[", "\n"]
            .iter()
            .filter_map(|mark| Some(start + first.find(mark)? + mark.len())),
    );
    let mut ends = vec![end];
    ends.extend(
        [")", "]", ". ", "\n"].iter().filter_map(|mark| Some(last_start + last.find(mark)?)),
    );
    if last.ends_with('.') {
        ends.push(end - 1);
    }
    let mut out = Vec::new();
    for &start in &starts {
        for &end in &ends {
            let mut spans = spans.to_vec();
            if let Some(span) = spans.first_mut() {
                span.0 = start;
            }
            if let Some(span) = spans.last_mut() {
                span.1 = end;
            }
            out.push(spans);
        }
    }
    out
}
