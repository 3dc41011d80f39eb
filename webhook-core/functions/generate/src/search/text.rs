//! Texts composed from fields around fixed words.
//!
//! The text is cut where that costs least: each byte is either a fixed word's or inside the text of a field. Fields
//! that start or end in the middle of a word are dear, those whose name stands next to them are cheap.

use std::ops::Range;

use super::super::convert::Convert;
use super::super::eval::eval;
use super::super::json::{Json, to_text};
use super::super::names::{Names, Word, alike, best, similarity, words};
use super::super::program::{Expr, Piece};
use super::pool::{Entry, Node, Pool};
use super::{Case, Example, Exhausted, Found, Outcome, Search, cost};

/// Longer texts are taken as a whole or not at all.
const MAX_TEXT_BYTES: usize = 8 * 1024;
/// Entries that give the same text, of which the best is taken.
const MAX_ALIKE: usize = 64;
/// Other examples that a piece must occur in.
const MAX_WITNESSES: usize = 8;
/// Times that one text is looked for inside another.
const MAX_OCCURRENCES: usize = 32;

/// A part of the text that an expression gives.
#[derive(Debug, Clone)]
struct Part {
    start: usize,
    end: usize,
    expr: Expr,
    cost: f64,
    /// Whether it begins and ends where words do.
    whole_words: bool,
    /// Other expressions of at most this size that give the same.
    rivals: Vec<Expr>,
}

/// A stretch of the text: words, or the part with this number.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    start: usize,
    end: usize,
    part: Option<usize>,
}

impl<'a> Search<'a> {
    pub(super) fn composed(&self, case: &Case<'_, 'a>, text: &str) -> Outcome {
        let examples = case.examples;
        if !(2..=MAX_TEXT_BYTES).contains(&text.len()) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for pool in &case.pools {
            for (given, entries) in pool.texts() {
                self.charge(1 + text.len() / 256)?;
                // That the whole text is a field has been looked at with more care.
                if given.len() < text.len() {
                    for (start, _) in text.match_indices(given.as_str()).take(MAX_OCCURRENCES) {
                        let place = start..start + given.len();
                        parts.extend(self.part(text, place, entries, pool, case)?);
                    }
                }
            }
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let literal = cost::words(text);
        // Where the cheapest cut is wrong for the other examples, words may be what varies: make them dearer.
        let weights: &[f64] = if examples.len() > 1 { &[1.0, 2.5, 8.0] } else { &[1.0] };
        for weight in weights {
            self.charge(text.len() + parts.len())?;
            let Some((stretches, cost)) = cut(text, &parts, &literal, *weight) else { continue };
            let expr = assemble(text, &parts, &stretches);
            if self.holds(&expr, examples)? {
                let mut found = Found::new(expr, cost + 2.0);
                for rival in rivals(text, &parts, &stretches) {
                    if self.holds(&rival, examples)? {
                        found.rival(rival);
                    }
                }
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The best of the entries that give the text at `place`.
    fn part(
        &self,
        text: &str,
        place: Range<usize>,
        entries: &[usize],
        pool: &Pool<'a>,
        case: &Case<'_, 'a>,
    ) -> Result<Option<Part>, Exhausted> {
        let Case { examples, seed, context, .. } = case;
        let Range { start, end } = place;
        let near = near(text, start, end);
        let edges = edge(text, start) + edge(text, end);
        let mut ranked: Vec<(f64, &Entry)> = Vec::new();
        for &index in entries.iter().take(MAX_ALIKE) {
            let Some(entry) = pool.entries.get(index) else { continue };
            let Some(node) = pool.nodes.get(entry.node) else { continue };
            let named = next_to(&near, node, &context.names);
            let alike = named.max(entry.alike(node, &context.names));
            let place = self.place_like(alike, pool, node, case);
            ranked.push((place + entry.cost + chance(entry, end - start), entry));
        }
        self.charge(ranked.len())?;
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best: Option<Part> = None;
        for (cost, entry) in ranked.into_iter().take(12) {
            let expr = pool.expr(entry);
            if examples.len() > 1 {
                self.charge(MAX_WITNESSES)?;
                if !occurs(&expr, examples, seed) {
                    continue;
                }
            }
            match &mut best {
                None => {
                    let (cost, whole_words) = (cost + edges + cost::PIECE, edges == 0.0);
                    best = Some(Part { start, end, expr, cost, whole_words, rivals: Vec::new() });
                }
                Some(best) if expr.size() <= best.expr.size() => best.rivals.push(expr),
                Some(_) => {}
            }
        }
        Ok(best)
    }
}

/// The shorter a text, the more likely it is here by chance; so are flags. A calculated number in a text is better shown
/// with its decimals.
fn chance(entry: &Entry, length: usize) -> f64 {
    match entry.value {
        Json::Bool(_) | Json::Null => 8.0,
        _ if entry.chain.is_empty() => 0.0,
        Json::Number(_) if matches!(entry.chain.last(), Some(Convert::Divide(_))) => 4.0,
        _ if matches!(entry.chain.first(), Some(Convert::Count | Convert::Sum(_))) => 0.0,
        _ if length <= 2 => 6.0,
        _ if length <= 3 => 2.0,
        _ => 0.5,
    }
}

/// Whether the text that the expression gives in the other examples is part of the wanted text there.
fn occurs(expr: &Expr, examples: &[Example<'_>], seed: &Example<'_>) -> bool {
    let others =
        examples.iter().filter(|example| !std::ptr::eq(*example, seed)).take(MAX_WITNESSES);
    others.into_iter().all(|example| {
        let text = eval(expr, &example.scopes).and_then(|value| to_text(&value));
        let want = example.want.and_then(Json::as_str);
        want.is_some_and(|want| want.contains(&text.unwrap_or_default()))
    })
}

/// The two words before a part and the one after it, without leaving its line or sentence.
fn near(text: &str, start: usize, end: usize) -> Vec<Word> {
    let mark = ['\n', '.', ','];
    let before = text.get(..start).and_then(|text| text.rsplit(mark).next()).unwrap_or_default();
    let after = text.get(end..).and_then(|text| text.split(mark).next()).unwrap_or_default();
    let apart = |c: char| !c.is_alphanumeric();
    let before = before.rsplit(apart).filter(|word| !word.is_empty()).take(2);
    let after = after.split(apart).filter(|word| !word.is_empty()).take(1);
    before.chain(after).flat_map(words).collect()
}

/// How well the words around a place in a text name the field: `2 commits`, `Order #42`, `Name: Jane`.
fn next_to(near: &[Word], node: &Node<'_>, names: &Names) -> f64 {
    let (tail, above) = match node.names.split_last() {
        Some((tail, above)) => (tail.as_ref(), above),
        None => (&[][..], &[][..]),
    };
    let by_word = near.iter().map(|word| {
        let own = tail.iter().map(|other| alike(word, other)).fold(0.0, f64::max);
        let all_of_it = if tail.len() == 1 { 0.95 } else { 0.85 };
        (own * all_of_it).max(0.6 * best(word, above.iter().flat_map(|words| words.iter())))
    });
    by_word.fold(0.8 * similarity(names, &node.names), f64::max)
}

/// What it costs that a field begins or ends here.
fn edge(text: &str, at: usize) -> f64 {
    let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default());
    let mut left = before.chars().rev();
    let mut right = after.chars();
    let (Some(l), Some(r)) = (left.next(), right.next()) else { return 0.0 };
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let mark = |c: char| matches!(c, '.' | ',');
    if (l.is_alphabetic() && r.is_alphabetic()) || (l.is_ascii_digit() && r.is_ascii_digit()) {
        14.0
    } else if l.is_alphanumeric() && r.is_alphanumeric() {
        3.0
    } else if (l.is_ascii_digit() && mark(r) && digit(right.next()))
        || (mark(l) && r.is_ascii_digit() && digit(left.next()))
    {
        // Inside a number.
        8.0
    } else {
        0.0
    }
}

/// The cheapest way to cut the text; the cost with words at their plain price. `None` when it is all words.
fn cut(text: &str, parts: &[Part], literal: &[f64], weight: f64) -> Option<(Vec<Stretch>, f64)> {
    let mut ending: Vec<Vec<usize>> = vec![Vec::new(); text.len() + 1];
    for (index, part) in parts.iter().enumerate() {
        ending.get_mut(part.end)?.push(index);
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
    let (mut at, mut cost) = (text.len(), 0.0);
    let mut stretches: Vec<Stretch> = Vec::new();
    while at > 0 {
        let part = least.get(at)?.1;
        let start = match part {
            Some(index) => parts.get(index)?.start,
            None => at - 1,
        };
        cost += match part {
            Some(index) => parts.get(index)?.cost,
            None => literal.get(start).copied().unwrap_or(1.0),
        };
        match stretches.last_mut() {
            Some(last) if last.part.is_none() && part.is_none() => last.start = start,
            _ => stretches.push(Stretch { start, end: at, part }),
        }
        at = start;
    }
    stretches.reverse();
    stretches.iter().any(|stretch| stretch.part.is_some()).then_some((stretches, cost))
}

fn assemble(text: &str, parts: &[Part], stretches: &[Stretch]) -> Expr {
    let pieces = stretches.iter().map(|&Stretch { start, end, part }| {
        match part.and_then(|index| parts.get(index)) {
            Some(part) => Piece::Value(part.expr.clone()),
            None => Piece::Words(text.get(start..end).unwrap_or_default().to_owned()),
        }
    });
    Expr::Text(pieces.collect())
}

/// The same text with another field for a part, or with a field for some of the words.
fn rivals(text: &str, parts: &[Part], stretches: &[Stretch]) -> Vec<Expr> {
    let mut rivals = Vec::new();
    for (index, stretch) in stretches.iter().enumerate() {
        let with = |inner: &[Stretch], parts: &[Part]| {
            let (before, after) = stretches.split_at(index);
            let after = after.get(1..).unwrap_or_default();
            assemble(text, parts, &[before, inner, after].concat())
        };
        let characters =
            |start, end| text.get(start..end).map_or(0, |words: &str| words.chars().count());
        if let Some(number) = stretch.part {
            // A field of one character may be a word as well.
            let size = parts.get(number).map_or(0, |part| part.expr.size());
            if characters(stretch.start, stretch.end) <= size {
                rivals.push(with(&[Stretch { part: None, ..*stretch }], parts));
            }
            let others = parts.get(number).map(|part| part.rivals.clone()).unwrap_or_default();
            for other in others {
                let mut parts = parts.to_vec();
                if let Some(part) = parts.get_mut(number) {
                    part.expr = other;
                }
                rivals.push(with(&[*stretch], &parts));
            }
            continue;
        }
        for (number, part) in parts.iter().enumerate() {
            let inside = stretch.start <= part.start && part.end <= stretch.end;
            let spelled_out = characters(part.start, part.end);
            if inside && part.whole_words && part.expr.size() <= spelled_out {
                let words = |start, end| Stretch { start, end, part: None };
                let of_part = Stretch { start: part.start, end: part.end, part: Some(number) };
                let inner =
                    [words(stretch.start, part.start), of_part, words(part.end, stretch.end)];
                let filled: Vec<Stretch> =
                    inner.into_iter().filter(|stretch| stretch.start < stretch.end).collect();
                rivals.push(with(&filled, parts));
            }
        }
    }
    rivals
}
