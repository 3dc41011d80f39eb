//! Numbers made of two others.

use std::rc::Rc;

use super::super::convert::Convert;
use super::super::numbers::number;
use super::super::program::{Expr, Operator};
use super::super::value::Value;
use super::pool::Pool;
use super::{Context, Example, Found, Outcome, Search};

/// Numbers of one scope that are combined, the nearest by name first.
const MAX_OPERANDS: usize = 40;

struct Operand {
    expr: Expr,
    value: f64,
    cost: f64,
}

impl Search<'_> {
    /// The sum, difference or product of two numbers.
    pub(super) fn arithmetic(
        &self,
        examples: &[Example],
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Outcome {
        let Some(want) = seed.want.as_ref().and_then(Value::as_number) else { return Ok(None) };
        // Small numbers come out of any two numbers.
        if examples.len() < 2 && want.fract() == 0.0 && want.abs() < 10.0 {
            return Ok(None);
        }
        let operands = self.operands(seed, pools, context)?;
        self.charge(operands.len() * operands.len())?;
        let mut candidates: Vec<(f64, Operator, &Operand, &Operand)> = Vec::new();
        for (index, left) in operands.iter().enumerate() {
            for (other, right) in operands.iter().enumerate() {
                let (a, b) = (left.value, right.value);
                let hits = |result: f64| (result - want).abs() <= 1e-7 * want.abs().max(1.0);
                let mut push =
                    |operator| candidates.push((left.cost + right.cost, operator, left, right));
                if index < other && hits(a + b) {
                    push(Operator::Add);
                }
                if index < other
                    && hits(a * b)
                    && (examples.len() > 1 || (a.abs() != 1.0 && b.abs() != 1.0))
                {
                    push(Operator::Multiply);
                }
                if index != other && hits(a - b) {
                    push(Operator::Subtract);
                }
            }
        }
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (cost, operator, left, right) in candidates.into_iter().take(24) {
            let expr = Expr::Arithmetic(
                operator,
                Box::new(left.expr.clone()),
                Box::new(right.expr.clone()),
            );
            if self.holds(&expr, examples)? {
                return Ok(Some(Found { expr, cost: cost + 6.0 }));
            }
        }
        Ok(None)
    }

    fn operands(
        &self,
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Result<Vec<Operand>, super::Exhausted> {
        let depth = seed.scopes.len();
        let mut operands = Vec::new();
        for pool in pools {
            let mut of_scope = Vec::new();
            self.charge(pool.nodes.len() / 4)?;
            for (index, node) in pool.nodes.iter().enumerate() {
                let Some(value) = number(&node.value).filter(|value| *value != 0.0) else {
                    continue;
                };
                let expr = Expr::Path(pool.path(index));
                let is_text = node.value.as_text().is_some();
                let expr = if is_text { expr.convert(Convert::Number) } else { expr };
                let cost = self.place(pool, node, depth, context) + if is_text { 2.0 } else { 0.0 };
                of_scope.push(Operand { expr, value, cost });
            }
            of_scope.sort_by(|a, b| a.cost.total_cmp(&b.cost));
            of_scope.truncate(MAX_OPERANDS);
            operands.extend(of_scope);
        }
        Ok(operands)
    }
}
