//! Payloads as forty services send them (`shapes.txt`), each with three samples and one that is kept apart.
//!
//! A shape is two templates and rows of what to put in them. The last row is what the function has not seen.

use webhook_core::model::Driver;

use super::super::diff::first_difference;
use super::super::eval::run;
use super::super::generator::{Pair, Written, write_all};
use super::super::limits::GenerateLimits;
use super::super::sample::{read_answer, read_input, read_output};
use super::super::value::Value;
use super::run_source;

struct Shape {
    title: &'static str,
    input: &'static str,
    output: &'static str,
    rows: Vec<Vec<&'static str>>,
}

fn shapes() -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    for line in include_str!("shapes.txt").lines() {
        let (kind, rest) = line.split_once(' ').expect("a kind and a text");
        if kind == "#" {
            shapes.push(Shape { title: rest, input: "", output: "", rows: Vec::new() });
            continue;
        }
        let shape = shapes.last_mut().expect("a title first");
        match kind {
            "in" => shape.input = rest,
            "out" => shape.output = rest,
            _ => shape.rows.push(rest.split(" | ").map(str::trim).collect()),
        }
    }
    shapes
}

impl Shape {
    fn sample(&self, row: usize) -> Pair {
        let fill = |template: &str| {
            let fields = self.rows[row].iter().enumerate();
            fields.fold(template.to_owned(), |text, (index, field)| {
                text.replace(&format!("${}", index + 1), field)
            })
        };
        Pair::sample(fill(self.input), fill(self.output))
    }

    /// Whether the function is right about the row kept apart, whether it is said to be right, and its source.
    fn written_from(&self, rows: usize) -> (Option<String>, bool, String) {
        let limits = GenerateLimits::default();
        let pairs: Vec<_> = (0..rows).map(|row| self.sample(row)).collect();
        let Written { code, program, doubts, .. } =
            write_all(&pairs, Driver::Lua, &limits).expect(self.title);
        let difference = |pair: &Pair| {
            let payload = read_input(&pair.input, &limits).expect(self.title).value;
            let wanted = read_output(&pair.output, &limits).expect(self.title).value;
            first_difference(&wanted, &run(&program, &payload).unwrap_or(Value::Null), true)
        };
        let right_where_seen = pairs.iter().all(|pair| difference(pair).is_none());
        let apart = difference(&self.sample(self.rows.len() - 1));
        (apart, right_where_seen && doubts.is_empty(), code)
    }
}

/// How many functions are right about what they have not seen.
fn right(samples: usize) -> usize {
    let mut right = 0;
    for shape in shapes() {
        assert_eq!(shape.rows.len(), 4, "{}", shape.title);
        let (difference, said_right, code) = shape.written_from(samples);
        match difference {
            None => right += 1,
            Some(difference) => {
                println!("{} from {samples}: {difference}", shape.title);
                // What is wrong was learnt by heart, but for this one: its ticket has a phone, which is copied.
                // That one without a phone comes out as "none" is written in no sample of one.
                let unknown = (shape.title, samples) == ("Zendesk: ticket without a phone", 1)
                    && difference.ends_with("got nothing");
                assert!(
                    !said_right || unknown,
                    "{}: said to be right: {difference}\n{code}",
                    shape.title
                );
            }
        }
    }
    println!("{right} of 40 are right from {samples}");
    right
}

/// The written source does the same as what the search has found, in both languages.
#[test]
fn what_is_written_from_three_samples_runs() {
    let limits = GenerateLimits::default();
    for shape in shapes() {
        let pairs: Vec<_> = (0..3).map(|row| shape.sample(row)).collect();
        let apart = shape.sample(3);
        let wanted = read_output(&apart.output, &limits).expect(shape.title);
        for driver in [Driver::Lua, Driver::Js] {
            let Written { code, program, .. } =
                write_all(&pairs, driver, &limits).expect(shape.title);
            let content_type = program.input.content_type();
            let Some(answer) = run_source(driver, &code, content_type, &apart.input) else {
                continue;
            };
            let answer = answer.unwrap_or_else(|error| panic!("{}: {error}\n{code}", shape.title));
            let got = read_answer(answer.as_bytes(), wanted.format, &limits).expect(shape.title);
            if let Some(difference) = first_difference(&wanted.value, &got, true) {
                panic!("{} in {driver}: {difference}\n{code}", shape.title);
            }
        }
    }
}

#[test]
fn there_are_forty_shapes() {
    assert_eq!(shapes().len(), 40);
}

#[test]
fn one_sample_is_enough_for_most_shapes() {
    assert!(right(1) >= 30);
}

#[test]
fn three_samples_are_enough_for_nearly_all_shapes() {
    assert!(right(3) >= 38);
}
