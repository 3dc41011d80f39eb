//! Lists mapped element by element: the loops that fit, and the one body that is true for all elements.

use std::rc::Rc;

use super::super::eval::{items, walk};
use super::super::json::{Json, is_scalar, number};
use super::super::names::{Names, similarity, words};
use super::super::program::{
    Expr, Filter, Loop, Map, Order, Path, Step, Test, field, scalar_fields,
};
use super::{Case, Context, Example, Exhausted, Outcome, Search, cheaper, cost};

/// Loops over different elements whose bodies are searched for one list, at the top and further inside.
const MAX_BODIES: usize = 16;
const MAX_INNER_BODIES: usize = 4;
/// Loops of one list that are looked at.
const MAX_CANDIDATES: usize = 128;
/// Elements whose fields are looked at for a filter or an order.
const MAX_ITEMS: usize = 64;
const MAX_FIELDS: usize = 16;

struct Candidate {
    loops: Vec<Loop>,
    cost: f64,
}

/// Loops that take the same elements in every example.
struct Same<'a> {
    elements: Vec<*const Json>,
    loops: Vec<Candidate>,
    passes: Vec<Example<'a>>,
}

impl<'a> Search<'a> {
    pub(super) fn mapped(&self, case: &Case<'_, 'a>, want: &[Json]) -> Outcome {
        let mut candidates = self.candidates(case, want)?;
        candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        let mut groups: Vec<Same<'a>> = Vec::new();
        for candidate in candidates.into_iter().take(MAX_CANDIDATES) {
            let Some(passes) = self.passes(case.examples, &candidate.loops)? else { continue };
            let elements: Vec<*const Json> = passes
                .iter()
                .flat_map(|pass| pass.scopes.iter().map(|scope| std::ptr::from_ref(*scope)))
                .collect();
            match groups.iter_mut().find(|group| group.elements == elements) {
                Some(group) => group.loops.push(candidate),
                None => groups.push(Same { elements, loops: vec![candidate], passes }),
            }
        }
        let most = if case.context.level >= 4 { MAX_INNER_BODIES } else { MAX_BODIES };
        let mut best = None;
        for group in groups.into_iter().take(most) {
            best = cheaper(best, self.body(group, case)?);
        }
        Ok(best)
    }

    /// The loops that have as many passes in the seed as elements are wanted.
    fn candidates(&self, case: &Case<'_, 'a>, want: &[Json]) -> Result<Vec<Candidate>, Exhausted> {
        let Case { seed, pools, context, .. } = case;
        let depth = seed.scopes.len();
        let mut out = Vec::new();
        for pool in pools {
            self.charge(pool.nodes.len() / 16)?;
            for (index, node) in pool.nodes.iter().enumerate() {
                let Some(list) = node.value.as_array().filter(|list| !list.is_empty()) else {
                    continue;
                };
                self.charge(100)?;
                // One element tells little about a list: the names must agree.
                let alone = match want.len() {
                    1 => 6.0 * (1.0 - similarity(&context.names, &node.names)),
                    _ => 0.0,
                };
                let place = self.place(pool, node, case) + cost::LOOP + alone;
                let mut push = |loops, cost: f64| out.push(Candidate { loops, cost: place + cost });
                let plain = Loop::plain(pool.path(index));
                if list.len() < want.len() {
                    for name in nested(list, want.len()) {
                        let steps = vec![Step::Key(name.clone())];
                        push(vec![plain.clone(), Loop::plain(Path { scope: depth, steps })], 4.0);
                    }
                    continue;
                }
                let filters = match list.len() == want.len() {
                    true => vec![(None, 0.0)],
                    false => filters(list).into_iter().map(|(f, cost)| (Some(f), cost)).collect(),
                };
                for (filter, cost) in filters {
                    self.charge(list.len() / 4 + 1)?;
                    let looped = Loop { filter, ..plain.clone() };
                    let kept = items(&looped, &seed.scopes);
                    if kept.len() != want.len() {
                        continue;
                    }
                    push(vec![looped.clone()], cost);
                    for order in orders(&kept) {
                        self.charge(kept.len() * 2)?;
                        // `due` is sorted by the field `due`.
                        let named = order.field.iter().map(|name| words(name).into());
                        let named = similarity(&context.names, &named.collect::<Vec<_>>());
                        let cost = cost + 5.0 - 4.0 * named;
                        let ordered = Loop { order: Some(order), ..looped.clone() };
                        let sorted = items(&ordered, &seed.scopes);
                        let moved = sorted.iter().zip(&kept).any(|(a, b)| !std::ptr::eq(*a, *b));
                        if moved {
                            push(vec![ordered], cost);
                        }
                    }
                }
            }
        }
        Ok(out)
    }

    /// One example for each pass, if there are as many as elements are wanted.
    fn passes(
        &self,
        examples: &[Example<'a>],
        loops: &[Loop],
    ) -> Result<Option<Vec<Example<'a>>>, Exhausted> {
        let mut passes = Vec::new();
        for example in examples {
            let Some(want) = example.want.and_then(Json::as_array) else { return Ok(None) };
            let mut all: Vec<Rc<[&'a Json]>> = Vec::new();
            walk(loops, &mut example.scopes.to_vec(), &mut |scopes| all.push(Rc::from(scopes)));
            self.charge(all.len() * 2)?;
            if all.len() != want.len() {
                return Ok(None);
            }
            let pass = |(scopes, want)| Example { scopes, want: Some(want) };
            passes.extend(all.into_iter().zip(want).map(pass));
        }
        Ok(Some(passes))
    }

    /// The body that is right for every pass. Other loops over the same elements are rivals.
    fn body(&self, group: Same<'a>, case: &Case<'_, 'a>) -> Outcome {
        let (examples, depth) = (case.examples.len(), case.seed.scopes.len());
        let context = case.context;
        let Same { mut loops, passes, .. } = group;
        loops.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        let mut loops = loops.into_iter();
        let Some(Candidate { loops: first, cost, .. }) = loops.next() else { return Ok(None) };
        // A list of scalars has its elements' name.
        let scalars = passes.iter().all(|pass| pass.want.is_some_and(is_scalar));
        let names = match scalars {
            true => context.names.clone(),
            false => Names { key: Vec::new(), around: context.names.key.clone() },
        };
        let outer = if examples == 1 && passes.len() == 1 { 4.0 } else { 1.0 };
        let inner = Context { names, outer, level: context.level + 1 };
        let Some(found) = self.solve(&passes, &inner)? else { return Ok(None) };
        if !found.expr.reads(depth) {
            return Ok(None);
        }
        let map =
            |loops: &[Loop], body: Expr| Expr::Map(Box::new(Map { loops: loops.to_vec(), body }));
        let body = found.expr.clone();
        let cost = cost + found.cost;
        let mut found = found.inside(|body| map(&first, body), cost);
        for other in loops {
            let rival = map(&other.loops, body.clone());
            if rival.size() <= found.expr.size() {
                found.rival(rival);
            }
        }
        Ok(Some(found))
    }
}

/// The fields of the first element that hold lists, if the lists have this many elements together.
fn nested(list: &[Json], length: usize) -> Vec<&String> {
    let inner =
        |item: &Json, name: &str| item.get(name).and_then(Json::as_array).map_or(0, Vec::len);
    let names = list.first().and_then(Json::as_object).into_iter().flat_map(|first| first.keys());
    names
        .filter(|name| list.iter().map(|item| inner(item, name)).sum::<usize>() == length)
        .collect()
}

/// The filters that some of the elements pass, with their costs.
fn filters(list: &[Json]) -> Vec<(Filter, f64)> {
    let mut out = Vec::new();
    let Some(first) = list.first() else { return out };
    for names in scalar_fields(first, MAX_FIELDS) {
        let values: Vec<&Json> =
            list.iter().take(MAX_ITEMS).filter_map(|item| field(item, &names)).collect();
        let mut seen: Vec<&Json> = Vec::new();
        values.iter().for_each(|value| {
            if !seen.contains(value) {
                seen.push(value);
            }
        });
        let mut push = |test: Test, cost: f64| {
            out.push((Filter { field: names.clone(), test }, 4.0 + cost));
        };
        // A text that no two elements share tells one of them, not a kind of them.
        let rare = if seen.len() == list.len() { 8.0 } else { 0.0 };
        for value in &seen {
            let short = value.as_str().is_none_or(|text| text.len() <= 40);
            if short && !value.is_null() && !value.is_f64() {
                let flag = if value.is_boolean() { 1.0 } else { cost::constant(value) / 3.0 };
                push(Test::Equals((*value).clone()), flag + rare);
                push(Test::Differs((*value).clone()), flag + rare + 1.5);
            }
        }
        let mut numbers: Vec<f64> = values.iter().filter_map(|value| number(value)).collect();
        if numbers.len() == values.len() {
            numbers.sort_by(f64::total_cmp);
            numbers.dedup();
            for pair in numbers.windows(2) {
                let [below, above] = pair else { continue };
                let limits = [roundest(*below, *above), *above];
                for (index, limit) in limits.iter().enumerate() {
                    if index == 0 || *limit != roundest(*below, *above) {
                        push(Test::AtLeast(*limit), 3.0 + index as f64);
                        push(Test::Below(*limit), 4.0 + index as f64);
                    }
                }
            }
        }
    }
    out
}

/// The roundest number above `below` and not above `above`: the one that a person would name.
fn roundest(below: f64, above: f64) -> f64 {
    let mut step = 10f64.powf(above.abs().max(below.abs()).max(1.0).log10().ceil());
    for _ in 0..12 {
        for part in [1.0, 2.0] {
            let unit = step / part;
            let round = (above / unit).floor() * unit;
            if round > below {
                return round;
            }
        }
        step /= 10.0;
    }
    above
}

/// The orders of elements by one of their fields.
fn orders(items: &[&Json]) -> Vec<Order> {
    let Some(first) = items.first().filter(|_| (2..=MAX_ITEMS).contains(&items.len())) else {
        return Vec::new();
    };
    let sortable = |names: &Vec<String>| {
        field(first, names).is_some_and(|value| value.is_number() || value.is_string())
    };
    let fields = scalar_fields(first, MAX_FIELDS).into_iter().filter(sortable);
    fields
        .flat_map(|field| {
            [false, true].map(|descending| Order { field: field.clone(), descending })
        })
        .collect()
}
