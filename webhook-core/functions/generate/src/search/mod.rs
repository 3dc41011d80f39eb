//! The search for a program: for every wanted value the cheapest expression that gives it, in every example.
//!
//! At the top, each sample is one example. Inside a list that is mapped element by element each element is one, so that
//! an expression that is found has been checked on all of them. Costs are bits (see [`cost`]): of two explanations the
//! shorter wins, and a constant is the explanation of last resort. Explanations that lose, but are no larger than the
//! winner, are kept as its rivals.

mod cost;
mod derive;
mod group;
mod list;
mod loops;
mod object;
mod pool;
mod scalar;
mod text;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::eval::eval;
use super::json::{Json, same};
use super::limits::GenerateLimits;
use super::names::{Names, similarity};
use super::program::Expr;
use super::sample::{Format, Sample};
use pool::{Node, Pool};

/// The search looked at as many candidates as it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// One case that an expression must explain: what it sees, and what it must give there.
#[derive(Debug, Clone)]
struct Example<'a> {
    /// The payload, then the elements of the loops around.
    scopes: Rc<[&'a Json]>,
    /// `None`: the field must be absent.
    want: Option<&'a Json>,
}

#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) expr: Expr,
    cost: f64,
    /// Other expressions of at most this size that are right in every example.
    pub(crate) rivals: Vec<Expr>,
}

/// A value that is to be explained, and all that an explanation may be made of.
struct Case<'s, 'a> {
    examples: &'s [Example<'a>],
    /// The example that says most about what is wanted.
    seed: &'s Example<'a>,
    /// What each scope of the seed offers, the outermost first.
    pools: Vec<Rc<Pool<'a>>>,
    context: &'s Context,
}

type Outcome = Result<Option<Found>, Exhausted>;

/// Rivals that are kept of one expression. One that decides is enough.
const MAX_RIVALS: usize = 24;

impl Found {
    fn new(expr: Expr, cost: f64) -> Self {
        Self { expr, cost, rivals: Vec::new() }
    }

    fn rival(&mut self, expr: Expr) {
        if self.rivals.len() < MAX_RIVALS {
            self.rivals.push(expr);
        }
    }

    /// The same inside of another expression, and so its rivals.
    fn inside(self, wrap: impl Fn(Expr) -> Expr, cost: f64) -> Self {
        let rivals = self.rivals.into_iter().map(&wrap).collect();
        Self { expr: wrap(self.expr), cost, rivals }
    }
}

/// Expressions that each explain a part of a value.
#[derive(Default)]
struct Parts {
    exprs: Vec<Expr>,
    cost: f64,
    /// With the number of the part that each is a rival of.
    rivals: Vec<(usize, Expr)>,
}

impl Parts {
    fn push(&mut self, found: Found, cost: f64) {
        let part = self.exprs.len();
        self.rivals.extend(found.rivals.into_iter().map(|rival| (part, rival)));
        self.exprs.push(found.expr);
        self.cost += cost + found.cost;
    }

    /// The expression of the whole. Its rivals have a rival in the place of one part.
    fn whole(self, wrap: impl Fn(Vec<Expr>) -> Expr) -> Found {
        let mut found = Found::new(wrap(self.exprs.clone()), self.cost);
        for (part, rival) in self.rivals {
            let mut exprs = self.exprs.clone();
            if let Some(expr) = exprs.get_mut(part) {
                *expr = rival;
            }
            found.rival(wrap(exprs));
        }
        found
    }
}

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
struct Search<'a> {
    limits: &'a GenerateLimits,
    form: bool,
    steps_left: Cell<u64>,
    /// By the address of the value and the number of its scope.
    pools: RefCell<HashMap<(usize, usize), Rc<Pool<'a>>>>,
}

/// Finds the expression that explains each output by its input. What no expression explains is as in the first sample.
pub(crate) fn find<'a>(
    samples: &'a [(Sample, Sample)],
    limits: &'a GenerateLimits,
) -> Result<Found, Exhausted> {
    let search = Search {
        limits,
        form: samples.first().is_some_and(|(input, _)| input.format == Format::Form),
        steps_left: Cell::new(limits.max_steps),
        pools: RefCell::default(),
    };
    let examples: Vec<_> = samples
        .iter()
        .map(|(input, output)| Example {
            scopes: Rc::from([&input.value]),
            want: Some(&output.value),
        })
        .collect();
    let context = Context { names: Names::default(), outer: 1.0, level: 0 };
    search.solve_or_guess(&examples, &context)
}

impl<'a> Search<'a> {
    fn charge(&self, steps: usize) -> Result<(), Exhausted> {
        let left = self.steps_left.get().checked_sub(steps as u64).ok_or(Exhausted)?;
        self.steps_left.set(left);
        Ok(())
    }

    /// The cheapest expression that is right in every example.
    fn solve(&self, examples: &[Example<'a>], context: &Context) -> Outcome {
        self.charge(examples.len())?;
        let Some(seed) = seed(examples) else { return Ok(None) };
        let Some(want) = seed.want else { return Ok(None) };
        let case = Case { examples, seed, pools: self.pools(seed)?, context };
        match want {
            Json::Object(want) => self.solve_object(&case, want),
            Json::Array(want) => self.solve_list(&case, want),
            want => self.solve_scalar(&case, want),
        }
    }

    /// Whether the expression gives what every example wants.
    fn holds(&self, expr: &Expr, examples: &[Example<'a>]) -> Result<bool, Exhausted> {
        for example in examples {
            self.charge(2)?;
            let right = match (eval(expr, &example.scopes), example.want) {
                (Some(got), Some(want)) => same(&got, want),
                (None, None) => true,
                _ => false,
            };
            if !right {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What each scope of an example offers, the outermost first.
    fn pools(&self, example: &Example<'a>) -> Result<Vec<Rc<Pool<'a>>>, Exhausted> {
        let mut pools = Vec::with_capacity(example.scopes.len());
        for (index, value) in example.scopes.iter().copied().enumerate() {
            let key = (std::ptr::from_ref(value).addr(), index);
            let known = self.pools.borrow().get(&key).cloned();
            let pool = match known {
                Some(pool) => pool,
                None => {
                    let form = self.form && index == 0;
                    let pool = Rc::new(Pool::new(value, index, form, self.limits.max_nodes));
                    self.charge(pool.nodes.len() + pool.entries.len())?;
                    self.pools.borrow_mut().insert(key, Rc::clone(&pool));
                    pool
                }
            };
            pools.push(pool);
        }
        Ok(pools)
    }

    /// What it costs to name this place.
    fn place(&self, pool: &Pool<'a>, node: &Node<'a>, case: &Case<'_, 'a>) -> f64 {
        self.place_like(similarity(&case.context.names, &node.names), pool, node, case)
    }

    /// The same with the likeness of the names given.
    fn place_like(&self, alike: f64, pool: &Pool<'a>, node: &Node<'a>, case: &Case<'_, 'a>) -> f64 {
        let choice = ((pool.nodes.len() + 2) as f64).log2().clamp(4.0, 7.0) + 2.0;
        let depth = case.seed.scopes.len();
        let gap = depth.saturating_sub(pool.scope + 1) as f64 * case.context.outer;
        3.0 + (1.0 - alike) * choice + node.way + gap
    }
}

/// The example that says most about what is wanted.
fn seed<'e, 'a>(examples: &'e [Example<'a>]) -> Option<&'e Example<'a>> {
    let weight = |example: &&Example<'a>| match example.want {
        None => 0,
        Some(Json::Null) => 1,
        Some(Json::Bool(value)) => 2 + usize::from(*value),
        Some(Json::Number(number)) => 3 + number.to_string().len(),
        Some(Json::String(text)) => 3 + text.len().min(200),
        Some(Json::Array(items)) => 2 + items.len(),
        Some(Json::Object(object)) => 2 + object.len(),
    };
    // The first of the heaviest, so that the result does not depend on how ties fall.
    examples.iter().rev().max_by_key(weight)
}

/// The cheaper of two. The other one becomes its rival unless it is larger.
fn cheaper(a: Option<Found>, b: Option<Found>) -> Option<Found> {
    let (Some(a), Some(b)) = (&a, &b) else { return a.or(b) };
    let (winner, loser) = if b.cost < a.cost { (b, a) } else { (a, b) };
    let mut winner = winner.clone();
    if loser.expr.size() <= winner.expr.size() {
        winner.rival(loser.expr.clone());
    }
    Some(winner)
}

/// What all examples want, when it is the same.
fn common_want<'a>(examples: &[Example<'a>]) -> Option<&'a Json> {
    let (first, rest) = examples.split_first()?;
    let want = first.want?;
    rest.iter().all(|example| example.want.is_some_and(|other| same(other, want))).then_some(want)
}
