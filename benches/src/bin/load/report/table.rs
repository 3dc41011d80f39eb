//! A table for people.

use std::{fmt::Write as _, io::Write};

use super::{names, ratios};
use crate::{
    Outcome,
    measured::{Summary, summary},
    run::Results,
};

const NAME: usize = 38;
const CELL: usize = 28;

pub(crate) fn print(results: &Results) -> Outcome<()> {
    Ok(std::io::stdout().lock().write_all(table(results)?.as_bytes())?)
}

fn table(results: &Results) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let passes = results.subjects.iter().map(|subject| subject.passes.len()).max();
    let (name, about) = (results.scenario.name, results.scenario.about);
    writeln!(text, "\n{name}: {about}")?;
    write!(text, "{:NAME$}", format!("median (min–max) of {}", passes.unwrap_or_default()))?;
    for subject in &results.subjects {
        write!(text, "{:>CELL$}", subject.name)?;
    }
    for name in names(results) {
        write!(text, "\n{name:NAME$}")?;
        for subject in &results.subjects {
            let cell = summary(&subject.passes, &name).map(cell).unwrap_or_default();
            write!(text, "{cell:>CELL$}")?;
        }
    }
    writeln!(text)?;
    for ratio in ratios(results) {
        let (of, to, name) = (ratio.of, ratio.to, ratio.name);
        write!(text, "{of} ÷ {to}, {name}: {:.2}", ratio.ratio)?;
        if let Some(neighbours) = ratio.neighbours {
            write!(text, " (of neighbouring passes {neighbours:.2})")?;
        }
        writeln!(text)?;
    }
    for subject in &results.subjects {
        if let Some(note) = &subject.note {
            writeln!(text, "{}: {note}", subject.name)?;
        }
        for fault in subject.passes.iter().flat_map(|pass| &pass.faults) {
            writeln!(text, "{}: FAULT: {fault}", subject.name)?;
        }
    }
    Ok(text)
}

fn cell(Summary { median, least, most }: Summary) -> String {
    match least.total_cmp(&most) {
        std::cmp::Ordering::Equal => number(median),
        _ => format!("{} ({}–{})", number(median), number(least), number(most)),
    }
}

/// As many digits as can be meant.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        large if large >= 100.0 => grouped(value.round()),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// 12 345 678.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{measured::Measured, run::SubjectResults, scenario::ALL};

    #[test]
    fn a_table_has_a_row_for_each_value_and_says_what_was_left_out() {
        let pass = |rate| {
            let mut pass = Measured::default();
            pass.value("events/s", rate);
            pass
        };
        let mut lost = pass(14_000.0);
        lost.never("lost", 3);
        let subjects = vec![
            SubjectResults { name: "server", passes: vec![pass(12_345.0), lost], note: None },
            SubjectResults { name: "nginx", passes: vec![pass(30_000.0)], note: None },
            SubjectResults { name: "slow", passes: vec![pass(6_172.5), pass(3_500.0)], note: None },
            SubjectResults { name: "qhook", passes: Vec::new(), note: Some("skipped: x".into()) },
        ];
        let text = table(&Results { scenario: ALL[0], subjects }).expect("text");
        for line in [
            "server ÷ nginx, events/s: 0.44",
            "server ÷ slow, events/s: 2.72 (of neighbouring passes 3.00)",
            "qhook: skipped: x",
            "server: FAULT: lost: 3",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
        }
        assert!(text.contains("13 173 (12 345–14 000)"), "{text}");
        assert_eq!(number(3.456), "3.46");
    }
}
