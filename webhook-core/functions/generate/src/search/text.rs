//! Texts composed from fields around fixed words.
//!
//! The text is cut where that costs least: each byte is either a fixed word's or inside the text of a field. Fields
//! that start or end in the middle of a word are dear, those whose name stands next to them are cheap.

use std::rc::Rc;

use super::super::convert::Convert;
use super::super::names::{Names, Word, alike, best, similarity, words};
use super::super::program::{Expr, Piece};
use super::super::value::Value;
use super::pool::{Node, Pool};
use super::{Context, Example, Exhausted, Found, Outcome, Search, cost};

/// Longer texts are taken as a whole or not at all.
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// Entries that give the same text, of which the best is taken.
const MAX_RIVALS: usize = 64;
/// Other examples that a piece must occur in.
const MAX_WITNESSES: usize = 8;

/// A part of the text that an expression gives.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) expr: Expr,
    pub(super) cost: f64,
}

impl Search<'_> {
    pub(super) fn composed(
        &self,
        examples: &[Example],
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Outcome {
        let Some(text) = seed.want.as_ref().and_then(Value::as_text) else { return Ok(None) };
        if text.len() < 2 || text.len() > MAX_TEXT_BYTES {
            return Ok(None);
        }
        let mut parts = self.parts(text, examples, seed, pools, context)?;
        parts.extend(
            self.line_parts(text, seed, pools, context)?
                .into_iter()
                .filter(|part| self.occurs(&part.expr, examples, seed)),
        );
        if parts.is_empty() {
            return Ok(None);
        }
        let literal = cost::words(text);
        // Where the cheapest cut is wrong for the other examples, words may be what varies: make them dearer.
        let weights: &[f64] = if examples.len() > 1 { &[1.0, 2.5, 8.0] } else { &[1.0] };
        for weight in weights {
            self.charge(text.len() + parts.len())?;
            let Some((pieces, cost)) = cut(text, &parts, &literal, *weight) else { continue };
            let expr = assemble(pieces);
            if self.holds(&expr, examples)? {
                return Ok(Some(Found { expr, cost: cost + 2.0 }));
            }
        }
        Ok(None)
    }

    /// The best field for each text that occurs.
    fn parts(
        &self,
        text: &str,
        examples: &[Example],
        seed: &Example,
        pools: &[Rc<Pool>],
        context: &Context,
    ) -> Result<Vec<Part>, Exhausted> {
        let depth = seed.scopes.len();
        let mut parts = Vec::new();
        for (start, _) in text.char_indices() {
            let before = words(tail(text.get(..start).unwrap_or_default()));
            for pool in pools {
                let found = pool.texts_at(text, start);
                self.charge(1 + found.len())?;
                for (occurring, entries) in found {
                    let end = start + occurring.len();
                    if occurring.len() == text.len() {
                        // That the whole text is a field has been looked at with more care.
                        continue;
                    }
                    let after = words(head(text.get(end..).unwrap_or_default()));
                    let edges = edge(text, start) + edge(text, end);
                    let mut rivals: Vec<(f64, usize)> = Vec::new();
                    for &index in entries.iter().take(MAX_RIVALS) {
                        let Some(entry) = pool.entries.get(index) else { continue };
                        let Some(node) = pool.nodes.get(entry.node) else { continue };
                        let alike = beside(&before, &after, node, &context.names).max(entry.alike(
                            node,
                            &context.names,
                            &self.wanted_lists,
                        ));
                        // The shorter a text, the more likely it is here by chance; so are flags and changed cases. A
                        // calculated number in a text is better shown with its decimals.
                        let chance = match entry.value {
                            Value::Bool(_) | Value::Null => 8.0,
                            _ if entry.chain.is_empty() && entry.own.is_none() => 0.0,
                            Value::Float(_)
                                if matches!(entry.chain.last(), Some(Convert::Divide(_))) =>
                            {
                                4.0
                            }
                            _ if occurring.len() <= 2 && entry.own.is_none() => 6.0,
                            _ if occurring.len() <= 3 && entry.own.is_none() => 2.0,
                            _ if changes_case(&entry.chain) => 5.0,
                            _ => 0.5,
                        };
                        let place = self.place_like(alike, pool, node, depth, context);
                        rivals.push((place + entry.cost + chance + edges + cost::PIECE, index));
                    }
                    self.charge(rivals.len())?;
                    rivals.sort_by(|a, b| a.0.total_cmp(&b.0));
                    for (cost, index) in rivals.into_iter().take(12) {
                        let Some(entry) = pool.entries.get(index) else { continue };
                        let expr = pool.expr(entry, depth);
                        if examples.len() > 1 {
                            self.charge(MAX_WITNESSES)?;
                            if !self.occurs(&expr, examples, seed) {
                                continue;
                            }
                        }
                        parts.push(Part { start, end, expr, cost });
                        break;
                    }
                }
            }
        }
        Ok(parts)
    }

    /// Whether what the expression gives in the other examples is part of what they want.
    fn occurs(&self, expr: &Expr, examples: &[Example], seed: &Example) -> bool {
        let others =
            examples.iter().filter(|example| !std::ptr::eq(*example, seed)).take(MAX_WITNESSES);
        others.into_iter().all(|example| {
            let text = self
                .evaluator
                .eval(expr, &example.scopes)
                .and_then(|value| value.to_text())
                .unwrap_or_default();
            example.want.as_ref().and_then(Value::as_text).is_some_and(|want| want.contains(&text))
        })
    }
}

/// Only in capitals or small letters what was not: for a word that often is a word of its own.
fn changes_case(chain: &[Convert]) -> bool {
    matches!(chain, [Convert::Title | Convert::Capitalize | Convert::Lower])
}

/// The last words of what stands before.
fn tail(text: &str) -> &str {
    let text = text.rsplit(['\n', '.', ',']).next().unwrap_or_default();
    let mut start = text.len().saturating_sub(24);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

/// The first words of what comes after.
fn head(text: &str) -> &str {
    let text = text.split(['\n', '.', ',']).next().unwrap_or_default();
    let mut end = text.len().min(16);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// How well the words beside a place in a text name the field: `2 commits`, `Order #42`, `Name: Jane`.
fn beside(before: &[Word], after: &[Word], node: &Node, names: &Names) -> f64 {
    let near = before.iter().rev().take(2).chain(after.iter().take(1));
    let (tail, above) = match node.names.split_last() {
        Some((tail, above)) => (tail.as_ref(), above),
        None => (&[][..], &[][..]),
    };
    let by_word = near.map(|word| {
        let own = tail.iter().map(|other| alike(word, other)).fold(0.0, f64::max);
        let all_of_it = if tail.len() == 1 { 0.95 } else { 0.85 };
        (own * all_of_it).max(0.6 * best(word, above.iter().flat_map(|words| words.iter())))
    });
    by_word.fold(0.8 * similarity(names, &node.names), f64::max)
}

/// What it costs that a field begins or ends here.
fn edge(text: &str, at: usize) -> f64 {
    let left = text.get(..at).and_then(|text| text.chars().next_back());
    let right = text.get(at..).and_then(|text| text.chars().next());
    let (Some(left), Some(right)) = (left, right) else { return 0.0 };
    let decimal = |mark: char, digit: char| matches!(mark, '.' | ',') && digit.is_ascii_digit();
    let inside_number = |at: Option<usize>, skip: bool| {
        let rest = at.and_then(|at| text.get(at..)).unwrap_or_default();
        rest.chars().nth(usize::from(skip)).is_some_and(|c| c.is_ascii_digit())
    };
    if left.is_alphabetic() && right.is_alphabetic()
        || left.is_ascii_digit() && right.is_ascii_digit()
    {
        14.0
    } else if left.is_alphanumeric() && right.is_alphanumeric() {
        3.0
    } else if (decimal(right, left) && inside_number(Some(at), true))
        || (decimal(left, right)
            && text
                .get(..at - 1)
                .and_then(|t| t.chars().next_back())
                .is_some_and(|c| c.is_ascii_digit()))
    {
        8.0
    } else {
        0.0
    }
}

/// The cheapest way to cut the text; the cost with words at their plain price. `None` when it is all words.
fn cut(text: &str, parts: &[Part], literal: &[f64], weight: f64) -> Option<(Vec<Piece>, f64)> {
    let mut ending: Vec<Vec<usize>> = vec![Vec::new(); text.len() + 1];
    for (index, part) in parts.iter().enumerate() {
        if let Some(ending) = ending.get_mut(part.end) {
            ending.push(index);
        }
    }
    // For each byte position: the least cost up to it, and the part that ends there unless it is a word's byte.
    let mut least: Vec<(f64, Option<usize>)> = vec![(0.0, None)];
    for (end, ending) in ending.iter().enumerate().skip(1) {
        let byte = literal.get(end - 1).copied().unwrap_or(1.0);
        let mut choice = (least.get(end - 1)?.0 + byte * weight, None);
        for &index in ending {
            let part = parts.get(index)?;
            let cost = least.get(part.start)?.0 + part.cost;
            if cost < choice.0 {
                choice = (cost, Some(index));
            }
        }
        least.push(choice);
    }
    let (mut at, mut word_end, mut cost) = (text.len(), text.len(), 0.0);
    let mut pieces = Vec::new();
    let mut any = false;
    while at > 0 {
        match least.get(at)?.1 {
            Some(index) => {
                let part = parts.get(index)?;
                push_words(&mut pieces, text.get(at..word_end)?);
                pieces.push(Piece::Value(part.expr.clone()));
                cost += part.cost;
                (at, word_end, any) = (part.start, part.start, true);
            }
            None => {
                at -= 1;
                cost += literal.get(at).copied().unwrap_or(1.0);
            }
        }
    }
    push_words(&mut pieces, text.get(..word_end)?);
    pieces.reverse();
    any.then_some((pieces, cost))
}

fn push_words(pieces: &mut Vec<Piece>, words: &str) {
    if !words.is_empty() {
        pieces.push(Piece::Words(words.to_owned()));
    }
}

/// A single field needs no composing, only to be a text.
fn assemble(mut pieces: Vec<Piece>) -> Expr {
    match pieces.pop() {
        Some(Piece::Value(expr)) if pieces.is_empty() => expr.convert(Convert::Text),
        Some(last) => {
            pieces.push(last);
            Expr::Text(pieces)
        }
        None => Expr::Text(pieces),
    }
}
