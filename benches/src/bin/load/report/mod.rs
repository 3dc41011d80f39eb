//! What came out, for people and for programs.

pub(crate) mod json;
pub(crate) mod svg;
pub(crate) mod table;

use crate::{
    measured::{Summary, summary},
    run::{Results, SubjectResults},
};

/// What is compared with a comparator, where both have it.
const COMPARED: [&str; 5] = ["events/s", "delivered/s", "ack p50 ms", "ack p99 ms", "CPU µs/event"];

/// One median divided by another.
#[derive(Debug)]
struct Ratio {
    of: &'static str,
    to: &'static str,
    name: &'static str,
    ratio: f64,
    /// The median of the ratios of neighbouring passes, where each has its neighbour: what
    /// the machine does meanwhile, it does to both.
    neighbours: Option<f64>,
}

/// The first subject's medians divided by those of each other.
fn ratios(results: &Results) -> Vec<Ratio> {
    let Some((first, others)) = results.subjects.split_first() else { return Vec::new() };
    let ratio = |other: &SubjectResults, name: &'static str| {
        let ours = summary(&first.passes, name)?.median;
        let theirs = summary(&other.passes, name)?.median;
        let ratio = ours / theirs;
        let neighbours = neighbours(first, other, name);
        let (of, to) = (first.name, other.name);
        ratio.is_finite().then_some(Ratio { of, to, name, ratio, neighbours })
    };
    others.iter().flat_map(|other| COMPARED.iter().filter_map(|name| ratio(other, name))).collect()
}

fn neighbours(first: &SubjectResults, other: &SubjectResults, name: &str) -> Option<f64> {
    if first.passes.len() != other.passes.len() || first.passes.len() < 2 {
        return None;
    }
    let pairs = first.passes.iter().zip(&other.passes);
    let ratios = pairs.map(|(ours, theirs)| Some(ours.of(name)? / theirs.of(name)?));
    let ratios = ratios.collect::<Option<Vec<_>>>()?;
    Some(Summary::of(ratios)?.median).filter(|median| median.is_finite())
}

/// The names of all values, in order.
fn names(results: &Results) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let passes = results.subjects.iter().flat_map(|subject| &subject.passes);
    for (name, _) in passes.flat_map(|pass| &pass.values) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}
