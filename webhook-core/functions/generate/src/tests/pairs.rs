//! Sixty pairs of payloads and wanted outputs (`pairs.json`), each with a second sample that the generator does not see.

use serde::Deserialize;
use webhook_core::model::Driver;

use super::super::diff::first_difference;
use super::super::json::Json;
use super::super::limits::GenerateLimits;
use super::super::sample::{Format, read_answer};
use super::{Written, run, run_source, write};

/// The table stands in the page between these two lines.
const BEGIN: &str =
    "<!-- The table of the pairs: UPDATE_DOCS=1 cargo test -p webhook-generate -->\n";
const END: &str = "<!-- The end of the table -->\n";
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/functions-generate.md");

#[derive(Deserialize)]
struct Pair {
    name: String,
    kind: String,
    input: Json,
    output: Json,
    second_input: Json,
    second_output: Json,
}

fn all() -> Vec<Pair> {
    serde_json::from_str(include_str!("pairs.json")).expect("pairs")
}

impl Pair {
    fn written(&self, driver: Driver) -> Written {
        let (input, output) = (self.input.to_string(), self.output.to_string());
        write(&[(&input, &output)], driver, &GenerateLimits::default()).expect(&self.name)
    }
}

/// How many of the pairs of one kind there are, are right, are said to be right, and are said so wrongly.
#[derive(Default)]
struct Counts {
    all: usize,
    right: usize,
    said: usize,
    said_wrongly: usize,
}

fn row(kind: &str, counts: &Counts) -> String {
    let Counts { all, right, said, said_wrongly } = counts;
    format!("| {kind} | {all} | {right} | {said} | {said_wrongly} |\n")
}

/// The page shows the table as it is measured; `UPDATE_DOCS` writes it there.
fn hold_to_the_page(table: &str) {
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("the table begins");
    let (shown, after) = rest.split_once(END).expect("the table ends");
    #[expect(clippy::disallowed_methods, reason = "a switch of the test, not of the product")]
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let page = format!("{before}{BEGIN}\n{table}\n{END}{after}");
        std::fs::write(PAGE, page).expect("the page is written");
        return;
    }
    assert_eq!(shown.trim(), table.trim(), "UPDATE_DOCS=1 writes the table");
}

#[test]
fn fifty_of_sixty_pairs_are_right_for_the_second_sample() {
    let pairs = all();
    assert_eq!(pairs.len(), 60);
    let mut kinds: Vec<(String, Counts)> = Vec::new();
    let mut total = Counts::default();
    for pair in &pairs {
        let Written { program, undecided, code, .. } = pair.written(Driver::Lua);
        let got = run(&program, &pair.input);
        assert_eq!(first_difference(&pair.output, &got, true), None, "{}\n{code}", pair.name);
        let second =
            first_difference(&pair.second_output, &run(&program, &pair.second_input), true);
        let (right, said) = (second.is_none(), undecided.is_empty());
        println!("{} {:5} {}: {undecided:?}", u8::from(right), said, pair.name);
        if let Some(difference) = second {
            println!("    {difference}");
        }
        if !kinds.iter().any(|(kind, _)| *kind == pair.kind) {
            kinds.push((pair.kind.clone(), Counts::default()));
        }
        let of_kind = kinds.iter_mut().find(|(kind, _)| *kind == pair.kind);
        for counts in of_kind.into_iter().map(|(_, counts)| counts).chain([&mut total]) {
            counts.all += 1;
            counts.right += usize::from(right);
            counts.said += usize::from(said);
            counts.said_wrongly += usize::from(said && !right);
        }
    }
    let rows: String = kinds.iter().map(|(kind, counts)| row(kind, counts)).collect();
    let head = "| what the output needs | pairs | right for the second sample | `validation_ok` | of these wrong |\n|---|---|---|---|---|\n";
    let table = format!("{head}{rows}{}", row("all", &total));
    println!("{table}");
    hold_to_the_page(&table);
    assert!(total.right >= 50, "{} are right", total.right);
    assert!(total.said_wrongly <= 1, "{} are wrongly said to be right", total.said_wrongly);
}

/// The written source does the same as the program that the search has found, in both languages.
#[test]
fn every_pair_runs_as_it_was_found() {
    for pair in all() {
        for driver in [Driver::Lua, Driver::Js] {
            let Written { code, program, .. } = pair.written(driver);
            for payload in [&pair.input, &pair.second_input] {
                let wanted = run(&program, payload);
                let kind = Format::Json.content_type();
                let answer = run_source(driver, &code, kind, &payload.to_string());
                let answer = answer.unwrap_or_else(|e| panic!("{}: {e}\n{code}", pair.name));
                let got = read_answer(answer.as_bytes(), Format::Json).expect(&pair.name);
                let difference = first_difference(&wanted, &got, true);
                assert_eq!(difference, None, "{} in {driver}\n{code}", pair.name);
            }
        }
    }
}
