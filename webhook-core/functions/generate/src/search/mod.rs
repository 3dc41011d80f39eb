//! The search for a program: for every wanted value the cheapest expression that gives it, in every example at once.
//!
//! At the top there is one example for each sample. Inside a list that is mapped element by element each element is one,
//! so that what is found there has been checked on all of them. Costs are bits (see [`cost`]): of two explanations the
//! shorter wins, and a constant is the explanation of last resort.

mod aggregate;
mod candidates;
mod choice;
mod cost;
mod derive;
mod lines;
mod list;
mod loops;
mod moments;
mod object;
mod pairs;
mod places;
mod pool;
mod scalar;
mod sums;
mod text;
mod texts;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::eval::{Evaluator, Scope};
use super::limits::GenerateLimits;
use super::names::{Names, best};
use super::program::{Expr, Program};
use super::sample::{Format, Sample};
use super::value::Value;
use pool::{Node, Pool};

/// The search looked at as many candidates as it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// One case that an expression must explain: what it sees, and what it must give there.
#[derive(Debug, Clone)]
struct Example {
    scopes: Rc<[Scope]>,
    /// `None`: the field must be absent.
    want: Option<Value>,
}

#[derive(Debug, Clone)]
struct Found {
    expr: Expr,
    cost: f64,
}

type Outcome = Result<Option<Found>, Exhausted>;

/// What surrounds the value that is being explained.
#[derive(Debug, Clone)]
struct Context {
    names: Names,
    /// What reading from an outer scope costs, for each scope between.
    outer: f64,
    /// How many lists and objects are open around the value.
    level: usize,
}

#[derive(Debug)]
struct Search<'l> {
    evaluator: Evaluator,
    input: Format,
    limits: &'l GenerateLimits,
    /// Whether the script sees the fields of an object in the payload's order.
    ordered_fields: bool,
    steps_left: Cell<u64>,
    next_scope: Cell<u64>,
    pools: RefCell<HashMap<u64, Rc<Pool>>>,
    /// Lengths of the lists that are wanted, of two elements and more.
    wanted_lists: HashSet<usize>,
}

/// Finds the program that explains `output` by `input`.
pub(crate) fn find(
    samples: &[(Sample, Sample)],
    ordered_fields: bool,
    limits: &GenerateLimits,
) -> Result<Program, Exhausted> {
    let (input, output) = samples
        .first()
        .map_or((Format::Json, Format::Json), |(input, output)| (input.format, output.format));
    let mut search = Search {
        evaluator: Evaluator::new(input),
        input,
        limits,
        ordered_fields,
        steps_left: Cell::new(limits.max_steps),
        next_scope: Cell::new(1),
        pools: RefCell::default(),
        wanted_lists: HashSet::new(),
    };
    for (_, output) in samples {
        list_lengths(&output.value, &mut search.wanted_lists);
    }
    let example = |(input, output): &(Sample, Sample)| Example {
        scopes: Rc::from([search.fresh_scope(input.value.clone(), 0)]),
        want: Some(output.value.clone()),
    };
    let examples: Vec<_> = samples.iter().map(example).collect();
    let context = Context { names: Names::default(), outer: 1.0, level: 0 };
    let body = search.solve_or_guess(&examples, &context)?;
    Ok(Program { input, output, body })
}

impl Search<'_> {
    fn charge(&self, steps: usize) -> Result<(), Exhausted> {
        let left = self.steps_left.get().checked_sub(steps as u64).ok_or(Exhausted)?;
        self.steps_left.set(left);
        Ok(())
    }

    /// The cheapest expression that is right in every example.
    fn solve(&self, examples: &[Example], context: &Context) -> Outcome {
        self.charge(examples.len())?;
        let Some(seed) = seed(examples) else { return Ok(None) };
        match &seed.want {
            Some(Value::Object(_)) => self.solve_object(examples, seed, context),
            Some(Value::List(_)) => self.solve_list(examples, seed, context),
            Some(_) => self.solve_scalar(examples, seed, context),
            None => Ok(None),
        }
    }

    /// Whether the expression gives what every example wants.
    fn holds(&self, expr: &Expr, examples: &[Example]) -> Result<bool, Exhausted> {
        for example in examples {
            self.charge(2)?;
            let same = match (self.evaluator.eval(expr, &example.scopes), &example.want) {
                (Some(got), Some(want)) => got.same(want),
                (None, None) => true,
                _ => false,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What each scope of an example offers, the outermost first.
    fn pools(&self, example: &Example) -> Result<Vec<Rc<Pool>>, Exhausted> {
        let mut pools = Vec::with_capacity(example.scopes.len());
        for (index, scope) in example.scopes.iter().enumerate() {
            let known = self.pools.borrow().get(&scope.id).cloned();
            let pool = match known {
                Some(pool) => pool,
                None => {
                    let pool =
                        Rc::new(Pool::new(&scope.value, index, self.input, self.limits.max_nodes));
                    self.charge(pool.nodes.len() + pool.entries.len())?;
                    self.pools.borrow_mut().insert(scope.id, pool.clone());
                    pool
                }
            };
            pools.push(pool);
        }
        Ok(pools)
    }

    fn fresh_scope(&self, value: Value, position: usize) -> Scope {
        let id = self.next_scope.get();
        self.next_scope.set(id + 1);
        Scope { value, position, id }
    }

    /// What it costs to name this place.
    fn place(&self, pool: &Pool, node: &Node, depth: usize, context: &Context) -> f64 {
        self.place_like(node.alike(&context.names), pool, node, depth, context)
    }

    /// The same with the likeness of the names given.
    fn place_like(
        &self,
        alike: f64,
        pool: &Pool,
        node: &Node,
        depth: usize,
        context: &Context,
    ) -> f64 {
        let choice = ((pool.nodes.len() + 2) as f64).log2().clamp(4.0, 7.0) + 2.0;
        let gap = depth.saturating_sub(pool.scope + 1) as f64 * context.outer;
        let wanted = || context.names.key.iter().chain(&context.names.around);
        let stray = node.found_by.iter().any(|found| {
            let shared: f64 = found.iter().map(|word| best(word, wanted())).sum();
            shared < 0.5 * found.len().max(1) as f64
        });
        3.0 + (1.0 - alike) * choice + node.way + gap + if stray { 8.0 } else { 0.0 }
    }
}

/// The example that says most about what is wanted.
fn seed(examples: &[Example]) -> Option<&Example> {
    let weight = |example: &&Example| match &example.want {
        None => 0,
        Some(Value::Null) => 1,
        Some(Value::Bool(value)) => 2 + usize::from(*value),
        Some(Value::Int(number)) => {
            4 + number.unsigned_abs().checked_ilog10().unwrap_or(0) as usize
        }
        Some(Value::Float(_)) => 12,
        Some(Value::Text(text)) => 3 + text.len().min(200),
        Some(Value::List(items)) => 2 + items.len(),
        Some(Value::Object(object)) => 2 + object.len(),
    };
    // The first of the heaviest, so that the result does not depend on how ties fall.
    examples.iter().rev().max_by_key(weight)
}

fn list_lengths(value: &Value, lengths: &mut HashSet<usize>) {
    match value {
        Value::List(items) => {
            if items.len() > 1 {
                lengths.insert(items.len());
            }
            items.iter().for_each(|item| list_lengths(item, lengths));
        }
        Value::Object(object) => object.iter().for_each(|(_, value)| list_lengths(value, lengths)),
        _ => {}
    }
}

/// The cheaper of two.
fn cheaper(a: Option<Found>, b: Option<Found>) -> Option<Found> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.cost < a.cost { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// What all examples want, when it is the same.
fn common_want(examples: &[Example]) -> Option<&Value> {
    let (first, rest) = examples.split_first()?;
    let want = first.want.as_ref()?;
    rest.iter()
        .all(|example| example.want.as_ref().is_some_and(|other| other.same(want)))
        .then_some(want)
}
