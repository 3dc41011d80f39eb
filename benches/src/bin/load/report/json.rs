//! Everything, for programs.

use std::{fs, path::Path};

use serde_json::{Map, Value, json};

use super::{names, ratios};
use crate::{
    Outcome,
    measured::{median_curve, summary},
    options::Context,
    run::{Results, SubjectResults},
};

pub(crate) fn write(path: &Path, context: &Context, all: &[Results]) -> Outcome<()> {
    let scenarios: Vec<_> = all.iter().map(scenario).collect();
    let document = json!({
        "machine": machine(),
        "passes": context.passes,
        "seconds": context.scale.load.as_secs_f64(),
        "scenarios": scenarios,
    });
    Ok(fs::write(path, serde_json::to_vec_pretty(&document)?)?)
}

fn scenario(results: &Results) -> Value {
    let names = names(results);
    let subjects: Vec<_> = results.subjects.iter().map(|found| subject(found, &names)).collect();
    let ratios: Vec<_> = ratios(results)
        .iter()
        .map(|ratio| {
            json!({
                "to": ratio.to,
                "value": ratio.name,
                "ratio": ratio.ratio,
                "of_neighbours": ratio.neighbours,
            })
        })
        .collect();
    json!({
        "name": results.scenario.name,
        "about": results.scenario.about,
        "subjects": subjects,
        "ratios": ratios,
    })
}

fn subject(found: &SubjectResults, names: &[String]) -> Value {
    let mut values = Map::new();
    for name in names {
        if let Some(summary) = summary(&found.passes, name) {
            let each = found.passes.iter().map(|pass| pass.of(name));
            let summary = json!({
                "median": summary.median,
                "min": summary.least,
                "max": summary.most,
                "each": each.collect::<Vec<_>>(),
            });
            values.insert(name.clone(), summary);
        }
    }
    let faults: Vec<_> = found.passes.iter().flat_map(|pass| &pass.faults).collect();
    json!({
        "name": found.name,
        "passes": found.passes.len(),
        "note": found.note,
        "values": values,
        "faults": faults,
        "latency_ms_by_nines": median_curve(&found.passes),
        "memory_mib_by_second": found.passes.last().map(|pass| &pass.memory),
    })
}

/// What the figures depend on most.
fn machine() -> Value {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(": ")).map(|(_, model)| model);
    json!({
        "cpu": model,
        "cores": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "optimized": !cfg!(debug_assertions),
    })
}
