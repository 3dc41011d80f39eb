//! Alternates the passes.

use std::{
    io::{IsTerminal, Write, stderr},
    time::Instant,
};

use crate::{
    Outcome,
    ablation::{self, Piece},
    measured::Measured,
    options::{Context, Options},
    report,
    scenario::{self, Scenario},
    subject::Subject,
    work::Pass,
};

/// What came of one scenario.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) scenario: Scenario,
    /// Each subject, in the order of the scenario.
    pub(crate) subjects: Vec<SubjectResults>,
}

/// What came of one subject in one scenario.
#[derive(Debug, Default)]
pub(crate) struct SubjectResults {
    pub(crate) name: &'static str,
    pub(crate) passes: Vec<Measured>,
    /// Why it was left out, or what went wrong.
    pub(crate) note: Option<String>,
}

/// Measures what is asked for; false when something was lost or failed.
pub(crate) fn run(options: Options) -> Outcome<bool> {
    let scenarios = scenario::chosen(&options.scenarios)?;
    let context = Context::new(&options)?;
    let mut without = Vec::new();
    for piece in ablation::chosen(&options.without)? {
        without.push((piece, context.without(piece)));
    }
    let mut all = Vec::new();
    let mut good = true;
    for (number, scenario) in scenarios.iter().enumerate() {
        let line = Line { scenario, place: format!("{}/{}", number + 1, scenarios.len()) };
        let results = measure(&context, &without, *scenario, &line, &mut good);
        report::table::print(&results)?;
        all.push(results);
        // After each, so that a run which is cut short leaves what it has.
        if let Some(path) = &options.json {
            report::json::write(path, &context, &all)?;
        }
        if let Some(path) = &options.svg {
            report::svg::write(path, &all)?;
        }
    }
    Ok(good)
}

/// A subject, whole or without a piece.
struct Variant<'a> {
    name: &'static str,
    subject: Subject,
    context: &'a Context,
}

/// Each subject, followed by the same without each of the pieces that it has.
fn variants<'a>(
    context: &'a Context,
    without: &'a [(&'static Piece, Context)],
    scenario: Scenario,
) -> Vec<Variant<'a>> {
    let whole = |subject: Subject| Variant { name: subject.name(), subject, context };
    let lacking = |subject: Subject| {
        let has = without.iter().filter(move |(piece, _)| piece.is_in(subject));
        has.map(move |(piece, context)| Variant { name: piece.title, subject, context })
    };
    let each = |subject: &Subject| std::iter::once(whole(*subject)).chain(lacking(*subject));
    scenario.subjects.iter().flat_map(each).collect()
}

fn measure(
    context: &Context,
    without: &[(&'static Piece, Context)],
    scenario: Scenario,
    line: &Line<'_>,
    good: &mut bool,
) -> Results {
    let variants = variants(context, without, scenario);
    let named = |variant: &Variant<'_>| SubjectResults { name: variant.name, ..Default::default() };
    let mut results: Vec<_> = variants.iter().map(named).collect();
    for pass in 1..=context.passes {
        for (Variant { name, subject, context }, results) in variants.iter().zip(&mut results) {
            if results.note.is_some() {
                continue;
            }
            let began = Instant::now();
            let say = |what: &str| line.show(pass, context.passes, name, what);
            say("");
            match scenario.work.measure(context, *subject, &say) {
                Ok(Pass::Measured(measured)) => {
                    for fault in &measured.faults {
                        *good = false;
                        line.note(name, fault);
                    }
                    results.passes.push(measured);
                    say(&format!("{:.0} s", began.elapsed().as_secs_f64()));
                }
                Ok(Pass::Skipped(reason)) => {
                    line.note(name, &format!("skipped: {reason}"));
                    results.note = Some(format!("skipped: {reason}"));
                }
                Err(error) => {
                    *good = false;
                    line.note(name, &error.to_string());
                    results.note = Some(error.to_string());
                }
            }
        }
    }
    line.end();
    Results { scenario, subjects: results }
}

/// The line that says how far it is: overwritten on a terminal, else only
/// written when a pass begins.
struct Line<'a> {
    scenario: &'a Scenario,
    place: String,
}

impl Line<'_> {
    fn show(&self, pass: usize, of: usize, subject: &str, what: &str) {
        let (name, place) = (self.scenario.name, &self.place);
        let text = format!("[{place}] {name}, pass {pass} of {of}, {subject} {what}");
        let mut out = stderr().lock();
        let _ = match out.is_terminal() {
            true => write!(out, "\r\x1b[K{text}"),
            false if what.is_empty() => writeln!(out, "{text}"),
            false => Ok(()),
        };
    }

    /// Something that stays to be read.
    fn note(&self, subject: &str, what: &str) {
        self.end();
        eprintln!("{}: {subject}: {what}", self.scenario.name);
    }

    fn end(&self) {
        if stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
    }
}
