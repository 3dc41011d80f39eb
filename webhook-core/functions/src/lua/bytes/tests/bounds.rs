//! Every bound holds, and says its name.

use super::super::date::{self, Zone};
use super::super::number;
use super::super::pattern::{self, GMatch, GSub};
use super::super::{
    Arg, Budget, BudgetExceeded, Error, STRING_BYTES, VALUES, format, pack, string, utf8,
};

fn exceeds<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    match result {
        Err(Error::Budget(BudgetExceeded { limit })) => limit,
        other => panic!("no limit was reached: {other:?}"),
    }
}

fn with_bytes(max_string_bytes: usize) -> Budget {
    Budget::new(1_000_000, max_string_bytes)
}

#[test]
fn patterns_that_would_backtrack_for_years_stop() {
    let hay = "a".repeat(28);
    let exponential = "a?".repeat(28) + &"a".repeat(28) + "b";
    for pattern in [
        exponential.as_str(),
        "a*a*a*a*a*a*a*a*a*b",
        ".-.-.-.-.-.-.-.-b",
        "(.*)(.*)(.*)(.*)(.*)(.*)[^a]",
    ] {
        let subject = hay.repeat(30);
        let mut budget = Budget::default().with_steps_name("pattern steps");
        let found = pattern::find(subject.as_bytes(), pattern.as_bytes(), 1, false, &mut budget);
        assert_eq!(exceeds(found), "pattern steps", "{pattern}");
        assert_eq!(budget.steps_left(), 0);
        assert_eq!(budget.steps_used(), 1_000_000);
    }
}

#[test]
fn optional_items_in_a_row_stop() {
    let hay = "a".repeat(28);
    let pattern = "a?".repeat(28) + &"a".repeat(28);
    let found = pattern::find(hay.as_bytes(), pattern.as_bytes(), 1, false, &mut Budget::default());
    assert_eq!(exceeds(found), "steps");
}

#[test]
fn an_ordinary_pattern_may_run_over_a_megabyte() {
    let body = "some words, and = signs;\n".repeat(42_000);
    let mut budget = Budget::default();
    let found = pattern::find(body.as_bytes(), b"no such text", 1, false, &mut budget)
        .expect("plain text is cheap");
    assert!(found.is_none() && budget.steps_used() < 20_000);
    let replaced = pattern::gsub(body.as_bytes(), b"\n", b"\r\n", None, &mut Budget::default())
        .expect("few lines");
    assert_eq!(replaced.count, 42_000);
    let mut budget = Budget::default();
    assert!(
        pattern::find(body.as_bytes(), b"^(.-)%s*$", 1, false, &mut budget)
            .expect("a trim is linear")
            .is_some()
    );
}

#[test]
fn long_sets_cost_their_length_once() {
    let set = format!("[{}]", "a-b".repeat(10_000));
    let mut budget = Budget::default();
    let found =
        pattern::find("c".repeat(100_000).as_bytes(), set.as_bytes(), 1, false, &mut budget);
    assert!(found.expect("well formed").is_none());
    assert!(budget.steps_used() < 20_000);
}

#[test]
fn a_substitution_stays_within_the_string_cap() {
    let hay = [b'a'; 100];
    let result = pattern::gsub(&hay, b"a", b"%0%0%0", None, &mut with_bytes(299));
    assert_eq!(exceeds(result), STRING_BYTES);
    assert!(pattern::gsub(&hay, b"a", b"%0%0%0", None, &mut with_bytes(300)).is_ok());
    let mut state = GSub::new(b"()", None);
    let mut budget = with_bytes(10);
    assert!(state.next_match(b"aa", b"()", &mut budget).expect("well formed").is_some());
    assert_eq!(exceeds(state.replace(b"aa", &[0; 11], &mut budget)), STRING_BYTES);
}

#[test]
fn an_empty_loop_ends_at_the_end() {
    let mut state = GMatch::new(1, 3);
    let mut ends = Vec::new();
    while let Some(found) = state.next(b"abc", b"", &mut Budget::default()).expect("well formed") {
        ends.push(found.range().end);
    }
    assert_eq!(ends, [0, 1, 2, 3]);
    assert!(state.next(b"abc", b"", &mut Budget::default()).expect("well formed").is_none());
}

#[test]
fn a_substitution_may_keep_replace_and_expand() {
    let (hay, pattern) = (b"one two three four", b"(%a+)");
    let mut budget = Budget::default();
    let mut state = GSub::new(pattern, Some(3));
    for step in 0..3 {
        state.next_match(hay, pattern, &mut budget).expect("well formed").expect("three words");
        match step {
            0 => state.replace(hay, b"1", &mut budget).expect("short"),
            1 => {}
            _ => state.expand(hay, b"<%1%%>", &mut budget).expect("short"),
        }
    }
    assert!(state.next_match(hay, pattern, &mut budget).expect("well formed").is_none());
    let replaced = state.finish(hay, &mut budget).expect("short");
    assert_eq!(replaced.text.as_deref(), Some(&b"1 two <three%> four"[..]));
    assert_eq!(replaced.count, 3);
    let kept = pattern::gsub(b"abc", b"x", b"y", None, &mut budget).expect("well formed");
    assert_eq!((kept.text, kept.count), (None, 0));
}

#[test]
fn produced_strings_are_capped() {
    let mut small = with_bytes(10);
    let small = &mut small;
    assert_eq!(exceeds(string::rep(b"ab", 6, b"", small)), STRING_BYTES);
    assert_eq!(exceeds(string::rep(b"ab", i64::MAX, b"xy", small)), STRING_BYTES);
    assert_eq!(exceeds(string::rep(b"", i64::MAX, b"x", small)), STRING_BYTES);
    assert_eq!(string::rep(b"ab", 5, b"", small).expect("just fits").len(), 10);
    assert_eq!(exceeds(string::upper(&[b'a'; 11], small)), STRING_BYTES);
    assert_eq!(exceeds(string::char(&[Arg::Int(65); 11], small)), STRING_BYTES);
    assert_eq!(exceeds(utf8::char(&[Arg::Int(0x20AC); 4], small)), STRING_BYTES);
    assert_eq!(exceeds(format::format(b"%99d", &[Arg::Int(1)], small)), STRING_BYTES);
    assert_eq!(exceeds(format::format(b"%s%s", &[Arg::Bytes(b"123456"); 2], small)), STRING_BYTES);
    assert_eq!(exceeds(format::format(b"%q", &[Arg::Bytes(&[0; 9])], small)), STRING_BYTES);
    assert_eq!(exceeds(pack::pack(b"c2147483639", &[Arg::Bytes(b"")], small)), STRING_BYTES);
    assert_eq!(exceeds(pack::pack(b"!16 bXi16", &[Arg::Int(1)], small)), STRING_BYTES);
    assert_eq!(exceeds(pack::packsize(b"c2147483639c2147483639", small)), STRING_BYTES);
    assert_eq!(exceeds(date::date(b"%c%c", 0, &Zone::utc(), small)), STRING_BYTES);
}

#[test]
fn returned_values_are_capped() {
    let mut budget = Budget::default().with_max_values(3);
    assert_eq!(exceeds(string::byte(b"abcd", 1, -1, &mut budget)), VALUES);
    assert_eq!(exceeds(utf8::codepoint(b"abcd", 1, Some(-1), false, &mut budget)), VALUES);
    assert_eq!(exceeds(pack::unpack(b"bbbb", b"abcd", 1, &mut budget)), VALUES);
    assert!(pack::unpack(b"bbb", b"abcd", 1, &mut budget).is_ok());
}

#[test]
fn every_loop_is_charged() {
    let long = vec![b'1'; 1 << 20];
    let spent = |run: &dyn Fn(&mut Budget) -> bool| {
        let mut budget = Budget::new(1000, 8 << 20);
        assert!(!run(&mut budget), "too much for a thousand steps");
    };
    spent(&|budget| string::reverse(&long, budget).is_ok());
    spent(&|budget| number::parse(&long, budget).is_ok());
    spent(&|budget| number::parse_in_base(&long, 10, budget).is_ok());
    spent(&|budget| utf8::len(&long, 1, -1, false, budget).is_ok());
    spent(&|budget| format::format(&long, &[], budget).is_ok());
    spent(&|budget| format::format(b"%q", &[Arg::Bytes(&long)], budget).is_ok());
    spent(&|budget| format::format(b"%.99f", &[Arg::Float(1e308)], budget).is_ok());
    spent(&|budget| pack::pack(b"z", &[Arg::Bytes(&long)], budget).is_ok());
    spent(&|budget| pack::packsize(&[b'b'; 1 << 11], budget).is_ok());
    spent(&|budget| date::date(&long, 0, &Zone::utc(), budget).is_ok());
    spent(&|budget| date::parse(&long, b"2", &Zone::utc(), budget).is_ok());
    spent(&|budget| pattern::find(&long, b"[^1]", 1, false, budget).is_ok());
    spent(&|budget| pattern::find(&long, b"2", 1, true, budget).is_ok());
}

#[test]
fn values_of_other_types_show_their_text_and_name() {
    let table = Arg::Other { type_name: "table", text: b"table: 0x55aa" };
    let budget = &mut Budget::default();
    assert_eq!(
        format::format(b"%s|%8p", &[table, table], budget),
        Ok(b"table: 0x55aa|  0x55aa".to_vec())
    );
    let error = format::format(b"%d", &[table], budget).expect_err("a table is no number");
    assert_eq!(error.to_string(), "bad argument #2 to 'format' (number expected, got table)");
    assert_eq!(format::format(b"%G", &[Arg::Float(f64::INFINITY)], budget), Ok(b"INF".to_vec()));
}

#[test]
fn stray_continuation_bytes_are_refused() {
    let after_first = utf8::next_code("é\u{80}".as_bytes(), 0, false, &mut Budget::default());
    assert_eq!(after_first, Ok(Some((1, 0xE9))));
    let stray = utf8::next_code(b"a\x80", 0, false, &mut Budget::default());
    assert_eq!(stray.expect_err("a continuation of nothing").to_string(), "invalid UTF-8 code");
}
