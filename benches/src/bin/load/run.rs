//! Alternates the passes.

use std::{
    io::{IsTerminal, Write, stderr},
    time::Instant,
};

use crate::{
    Outcome,
    measured::Measured,
    options::{Context, Options},
    report,
    scenario::{self, Scenario},
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
    let mut all = Vec::new();
    let mut good = true;
    for (number, scenario) in scenarios.iter().enumerate() {
        let line = Line { scenario, place: format!("{}/{}", number + 1, scenarios.len()) };
        let results = measure(&context, *scenario, &line, &mut good);
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

fn measure(context: &Context, scenario: Scenario, line: &Line<'_>, good: &mut bool) -> Results {
    let subjects = scenario.subjects.iter();
    let named =
        subjects.map(|subject| SubjectResults { name: subject.name(), ..Default::default() });
    let mut results: Vec<_> = named.collect();
    for pass in 1..=context.passes {
        for (subject, results) in scenario.subjects.iter().zip(&mut results) {
            if results.note.is_some() {
                continue;
            }
            let began = Instant::now();
            let say = |what: &str| line.show(pass, context.passes, subject.name(), what);
            say("");
            match scenario.work.measure(context, *subject, &say) {
                Ok(Pass::Measured(measured)) => {
                    for fault in &measured.faults {
                        *good = false;
                        line.note(subject.name(), fault);
                    }
                    results.passes.push(measured);
                    say(&format!("{:.0} s", began.elapsed().as_secs_f64()));
                }
                Ok(Pass::Skipped(reason)) => {
                    line.note(subject.name(), &format!("skipped: {reason}"));
                    results.note = Some(format!("skipped: {reason}"));
                }
                Err(error) => {
                    *good = false;
                    line.note(subject.name(), &error.to_string());
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
