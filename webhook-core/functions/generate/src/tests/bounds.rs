//! What one generation may cost, and that it keeps to it.

use std::time::{Duration, Instant};

use webhook_core::function::generate::GenerateError;

use webhook_core::model::Driver;

use super::super::limits::GenerateLimits;
use super::write;

/// The bound is the number of steps; this finds work that is not counted. An unoptimised build on a machine that does
/// other things as well has taken 23 s for what takes an optimised one about a second.
const PATIENCE: Duration = Duration::from_secs(90);

fn invalid(input: &str, output: &str, limits: &GenerateLimits) -> (&'static str, String) {
    match write(&[(input, output)], Driver::Lua, limits) {
        Err(GenerateError::Invalid { field, reason }) => (field, reason),
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn sizes_and_depths_are_bounded() {
    let limits = GenerateLimits::default();
    let large = format!("\"{}\"", "x".repeat(limits.max_payload_bytes));
    let deep = format!("{}1{}", "[".repeat(33), "]".repeat(33));
    let many = format!("[{}0]", "0,".repeat(limits.max_nodes));
    for (payload, reason) in
        [(&large, "at most 262144"), (&deep, "levels of lists"), (&many, "at most 40000")]
    {
        let (field, said) = invalid(payload, "1", &limits);
        assert!(field == "input_payload" && said.contains(reason), "{field}: {said}");
        let (field, said) = invalid("1", payload, &limits);
        assert!(field == "output_payload" && said.contains(reason), "{field}: {said}");
    }
}

#[test]
fn what_is_just_within_the_bounds_is_accepted() {
    let limits = GenerateLimits::default();
    let deep = format!("{}1{}", "[".repeat(32), "]".repeat(32));
    assert!(write(&[(&deep, &deep)], Driver::Lua, &limits).is_ok());
    let large = format!("\"{}\"", "x".repeat(limits.max_payload_bytes - 2));
    assert!(write(&[(&large, &large)], Driver::Lua, &limits).is_ok());
    let many = format!("[{}0]", "0,".repeat(limits.max_nodes - 2));
    assert!(write(&[(&many, &many)], Driver::Lua, &limits).is_ok());
}

#[test]
fn the_search_gives_up_after_so_many_steps() {
    let limits = GenerateLimits { max_steps: 10, ..GenerateLimits::default() };
    let (field, reason) =
        invalid(r#"{"a":[1,2,3],"b":"some text"}"#, r#"{"c":[3,4],"d":"text some"}"#, &limits);
    assert!(field == "input_payload" && reason.contains("within 10 steps"), "{field}: {reason}");
}

#[test]
fn the_written_function_is_bounded() {
    let limits = GenerateLimits::default();
    let constants: Vec<String> =
        (0..3000).map(|n| format!("\"constant number {n:x} of many\"")).collect();
    let (field, reason) = invalid("{}", &format!("[{}]", constants.join(",")), &limits);
    assert!(field == "output_payload" && reason.contains("at most 65536"), "{field}: {reason}");
}

fn orders(count: usize) -> (String, String) {
    let order = |n: usize| {
        format!(
            r#"{{"id":{},"name":"customer {n}","email":"c{n}@example.com","total":"{}.{:02}","created":{},"state":"paid","items":[{{"sku":"S-{n}","qty":{}}},{{"sku":"T-{n}","qty":1}}]}}"#,
            100_000 + n * 7,
            10 + n,
            n % 100,
            1_714_557_600 + n * 61,
            n % 5 + 1
        )
    };
    let row = |n: usize| {
        format!(
            r#"{{"order":{},"who":"customer {n} <c{n}@example.com>","cents":{},"skus":["S-{n}","T-{n}"]}}"#,
            100_000 + n * 7,
            (10 + n) * 100 + n % 100,
        )
    };
    let join = |of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<Vec<_>>().join(",");
    (format!("{{\"orders\":[{}]}}", join(&order)), format!("{{\"rows\":[{}]}}", join(&row)))
}

#[test]
fn large_samples_are_answered_in_time() {
    let (input, output) = orders(1200);
    assert!(input.len() > 200_000);
    let started = Instant::now();
    let written = write(&[(&input, &output)], Driver::Lua, &GenerateLimits::default())
        .expect("a function is found");
    assert!(written.code.contains("each(get(body, \"orders\")"), "{}", written.code);
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
}

#[test]
fn hopeless_samples_end_in_time() {
    // Values that are alike everywhere, and nothing that the wanted ones follow from.
    let item = |n: usize| {
        format!(r#"{{"a":{},"b":{},"c":"x{}","d":[1,2,3],"e":["p","q"]}}"#, n % 3, n % 2, n % 5)
    };
    let want = |n: usize| {
        format!(
            r#"{{"k":"y{} z{} w{}","l":[{},{},{}],"m":"{}"}}"#,
            n % 7,
            n % 11,
            n % 13,
            n % 4,
            n % 6,
            n % 9,
            n * n
        )
    };
    let join =
        |of: &dyn Fn(usize) -> String, count| (0..count).map(of).collect::<Vec<_>>().join(",");
    let input = format!("{{\"one\":[{0}],\"two\":[{0}],\"three\":[{0}]}}", join(&item, 400));
    let output = format!("{{\"out\":[{}]}}", join(&want, 400));
    let started = Instant::now();
    let ended = write(&[(&input, &output)], Driver::Lua, &GenerateLimits::default());
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
    // Either a list of constants or an error that says what to do; both are answers.
    if let Err(error) = ended {
        assert!(error.to_string().contains("shorter sample"), "{error}");
    }
}

#[test]
fn long_texts_end_in_time() {
    let words: Vec<String> = (0..6000).map(|n| format!("word{}", n % 900)).collect();
    let fields: Vec<String> = words
        .iter()
        .take(900)
        .enumerate()
        .map(|(n, word)| format!("\"f{n}\":\"{word}\""))
        .collect();
    let input = format!("{{{}}}", fields.join(","));
    for length in [1000, 6000] {
        let text = words.get(..length).expect("so many words").join(" ");
        let started = Instant::now();
        let ended = write(
            &[(&input, &format!("{{\"text\":\"{text}\"}}"))],
            Driver::Lua,
            &GenerateLimits::default(),
        );
        assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
        assert!(ended.is_ok(), "{:?}", ended.err());
    }
}
