//! Whatever bytes come in, nothing panics, everything ends within its budget, and what is written reads back.

use proptest::prelude::*;

use super::super::date::{self, DateTable, Instant, Zone};
use super::super::number::{self, Number};
use super::super::pack::Unpacked;
use super::super::pattern::{self, Captured, GMatch};
use super::super::{Arg, Budget, format, pack, utf8};

/// Bytes among which those that mean something in a pattern or a format are frequent.
fn meaningful() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        6 => prop::sample::select(b"%()[]^$.*+-?aAbdf0129 s\0".to_vec()),
        1 => any::<u8>(),
    ];
    prop::collection::vec(byte, 0..40)
}

fn subject() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(
        prop_oneof![4 => prop::sample::select(b"aab% ()0".to_vec()), 1 => any::<u8>()],
        0..200,
    )
}

const STEPS: u64 = 20_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_matcher_ends_within_its_budget(hay in subject(), pattern in meaningful(), template in meaningful(), init: i8) {
        let mut budget = Budget::new(STEPS, 4096);
        if let Ok(Some(found)) = pattern::find(&hay, &pattern, i64::from(init), false, &mut budget) {
            prop_assert!(found.range().end <= hay.len());
            for index in 0..found.values() {
                if let Ok(Captured::Bytes(bytes)) = found.value(&hay, index) {
                    prop_assert!(bytes.len() <= hay.len());
                }
            }
        }
        prop_assert!(budget.steps_used() <= STEPS);
        let replaced = pattern::gsub(&hay, &pattern, &template, None, &mut Budget::new(STEPS, 4096));
        if let Ok(replaced) = replaced {
            prop_assert!(replaced.text.is_none_or(|text| text.len() <= 4096));
        }
        let mut state = GMatch::new(1, hay.len());
        let mut budget = Budget::new(STEPS, 4096);
        let mut matches = 0;
        while let Ok(Some(_)) = state.next(&hay, &pattern, &mut budget) {
            matches += 1;
        }
        prop_assert!(matches <= hay.len() + 1);
    }

    #[test]
    fn replacing_a_match_by_itself_changes_nothing(hay in subject(), pattern in meaningful()) {
        let replaced = pattern::gsub(&hay, &pattern, b"%0", None, &mut Budget::new(STEPS, 4096));
        if let Ok(replaced) = replaced {
            prop_assert!(replaced.text.is_none_or(|text| text == hay));
        }
    }

    #[test]
    fn plain_text_is_found_where_it_is(hay in subject(), needle in subject()) {
        let found = pattern::find(&hay, &needle, 1, true, &mut Budget::default()).expect("enough budget");
        let expected = (0..=hay.len()).find(|at| hay[*at..].starts_with(&needle));
        prop_assert_eq!(found.map(|found| found.range().start), expected);
    }

    #[test]
    fn formats_never_panic(text in meaningful(), int: i64, float: f64, bytes in subject()) {
        let arguments = [Arg::Int(int), Arg::Float(float), Arg::Bytes(&bytes), Arg::Nil, Arg::Bool(true)];
        for first in 0..arguments.len() {
            let written = format::format(&text, &arguments[first..], &mut Budget::new(STEPS, 4096));
            prop_assert!(written.is_err() || written.is_ok_and(|text| text.len() <= 4096));
        }
        let _ = date::date(&text, int, &Zone::utc(), &mut Budget::new(STEPS, 4096));
    }

    #[test]
    fn floats_read_back(bits: u64) {
        let float = f64::from_bits(bits);
        prop_assume!(float.is_finite());
        for spec in ["%.17g", "%a", "%q", "%.17e"] {
            let text = format::format(spec.as_bytes(), &[Arg::Float(float)], &mut Budget::default()).expect("a number");
            let read = number::parse(&text, &mut Budget::default()).expect("short").expect("a number again");
            prop_assert_eq!(read.to_float().to_bits(), bits, "{}", spec);
        }
    }

    #[test]
    fn numbers_are_read_without_panic(text in "[-+0-9a-fxXpPeE. \t_]{0,40}", bytes in subject(), base in 2_u32..=36) {
        let _ = number::parse(text.as_bytes(), &mut Budget::default());
        prop_assert!(number::parse(&bytes, &mut Budget::default()).is_ok());
        prop_assert!(number::parse_in_base(text.as_bytes(), base, &mut Budget::default()).is_ok());
    }

    #[test]
    fn integers_read_back(value: i64) {
        let text = number::to_text(Number::Int(value));
        let budget = &mut Budget::default();
        prop_assert_eq!(number::parse(&text, budget).expect("short"), Some(Number::Int(value)));
    }

    #[test]
    fn what_is_packed_unpacks(value: i64, size in 1_usize..=16, big: bool, text in subject(), float: f64) {
        let order = if big { ">" } else { "<" };
        let kept = if size < 8 { value >> (64 - 8 * size) } else { value };
        let layout = format!("{order}!8 i{size} s4 d z");
        let clean: Vec<u8> = text.iter().copied().filter(|byte| *byte != 0).collect();
        let arguments = [Arg::Int(kept), Arg::Bytes(&text), Arg::Float(float), Arg::Bytes(&clean)];
        let Ok(packed) = pack::pack(layout.as_bytes(), &arguments, &mut Budget::default()) else {
            // An alignment that is no power of two.
            prop_assert!(!size.min(8).is_power_of_two());
            return Ok(());
        };
        let (values, next) = pack::unpack(layout.as_bytes(), &packed, 1, &mut Budget::default()).expect("just packed");
        prop_assert_eq!(next as usize, packed.len() + 1);
        prop_assert_eq!(values[0], Unpacked::Int(kept));
        prop_assert_eq!(values[1], Unpacked::Bytes(&text));
        prop_assert!(matches!(values[2], Unpacked::Float(read) if read.to_bits() == float.to_bits()));
        prop_assert_eq!(values[3], Unpacked::Bytes(&clean));
    }

    #[test]
    fn pack_formats_never_panic(layout in "[<>=! bBhHlLjJTiIfdnszxXc0-9]{0,16}", data in subject(), init: i64) {
        let budget = &mut Budget::new(STEPS, 4096);
        let _ = pack::pack(layout.as_bytes(), &[Arg::Int(1); 16], budget);
        let _ = pack::packsize(layout.as_bytes(), budget);
        let _ = pack::unpack(layout.as_bytes(), &data, init, budget);
        let _ = pack::unpack(layout.as_bytes(), &data, 1, budget);
    }

    #[test]
    fn utf8_agrees_with_rust(text in ".{0,40}", bytes in subject(), n in -50_i64..50, i in -50_i64..50) {
        let codes = utf8::codepoint(text.as_bytes(), 1, Some(-1), false, &mut Budget::default()).expect("valid");
        prop_assert_eq!(codes, text.chars().map(u32::from).collect::<Vec<_>>());
        let count = utf8::len(&bytes, 1, -1, false, &mut Budget::default()).expect("in bounds");
        prop_assert_eq!(count.ok(), std::str::from_utf8(&bytes).ok().map(|text| text.chars().count() as i64));
        let _ = utf8::offset(&bytes, n, Some(i), &mut Budget::default());
        let _ = utf8::next_code(&bytes, i, true, &mut Budget::default());
    }

    #[test]
    fn dates_read_back(seconds in -100_000_000_000_i64..200_000_000_000) {
        let zone = Zone::named("Europe/Berlin").expect("a zone of the database");
        for zone in [Zone::utc(), zone] {
            let Ok(date::Date::Table(table)) = date::date(b"*t", seconds, &zone, &mut Budget::default()) else {
                return Err(TestCaseError::fail("no table"));
            };
            let (read, again) = date::time(|name| field(&table, name), &zone, &mut Budget::default()).expect("valid");
            prop_assert_eq!((read, again), (seconds, table));
        }
    }

    #[test]
    fn layouts_never_panic(layout in "[-_0-9ZJanMoSTPpm:., ]{0,30}", value in ".{0,30}", seconds: i64, nanos in 0_u32..1_000_000_000) {
        let zone = Zone::named("America/New_York").expect("a zone of the database");
        let budget = &mut Budget::new(STEPS, 4096);
        let written = date::format(Instant { seconds, nanos }, layout.as_bytes(), &zone, budget);
        if let Ok(written) = written {
            let _ = date::parse(&written, layout.as_bytes(), &zone, budget);
        }
        let _ = date::parse(value.as_bytes(), layout.as_bytes(), &zone, budget);
    }
}

fn field(table: &DateTable, name: &str) -> Arg<'static> {
    Arg::Int(match name {
        "year" => table.year,
        "month" => table.month,
        "day" => table.day,
        "hour" => table.hour,
        "min" => table.min,
        "sec" => table.sec,
        _ => return Arg::Bool(table.isdst),
    })
}
