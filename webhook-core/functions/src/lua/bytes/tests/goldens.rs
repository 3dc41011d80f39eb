//! What Lua 5.4 answers, case by case.

use super::super::date::{self, Date, DateTable, Zone};
use super::super::number::{self, Number};
use super::super::pack::{self, Unpacked};
use super::super::pattern::{self, Captured, GMatch, Match};
use super::super::{Arg, Budget, Error, format, string, utf8};
use super::cases::{Case, Value, check};

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        match number {
            Number::Int(value) => Self::Int(value),
            Number::Float(value) => Self::Float(value.to_bits()),
        }
    }
}

fn one(bytes: Vec<u8>) -> Vec<Value> {
    vec![Value::Bytes(bytes)]
}

fn captured(found: &Match, hay: &[u8], count: usize, into: &mut Vec<Value>) -> Result<(), Error> {
    for index in 0..count {
        into.push(match found.value(hay, index)? {
            Captured::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            Captured::Position(at) => Value::Int(at),
        });
    }
    Ok(())
}

fn all_matches(
    hay: &[u8],
    pattern: &[u8],
    init: i64,
    budget: &mut Budget,
) -> Result<Vec<Value>, Error> {
    let mut state = GMatch::new(init, hay.len());
    let mut values = Vec::new();
    while let Some(found) = state.next(hay, pattern, budget)? {
        captured(&found, hay, found.values(), &mut values)?;
        values.push(Value::Bool(false));
    }
    Ok(values)
}

fn run_pattern(case: &Case, budget: &mut Budget) -> Result<Vec<Value>, Error> {
    let (hay, pattern) = (case.bytes(0), case.bytes(1));
    match case.function.as_str() {
        "find" => {
            let Some(found) = pattern::find(hay, pattern, case.int_or(2, 1), case.flag(3), budget)?
            else {
                return Ok(vec![Value::Nil]);
            };
            let (first, last) = found.lua_range();
            let mut values = vec![Value::Int(first), Value::Int(last)];
            captured(&found, hay, found.captures(), &mut values)?;
            Ok(values)
        }
        "gmatch" => all_matches(hay, pattern, case.int_or(2, 1), budget),
        _ => {
            let max = case.argument(3).map(Value::int);
            let replaced = pattern::gsub(hay, pattern, case.bytes(2), max, budget)?;
            let text = replaced.text.unwrap_or_else(|| hay.to_vec());
            Ok(vec![Value::Bytes(text), Value::Int(replaced.count)])
        }
    }
}

#[test]
fn patterns_match_as_in_lua() {
    assert!(check(include_str!("goldens/pattern.txt"), run_pattern) > 4000);
}

#[test]
fn format_writes_as_lua_does() {
    let count = check(include_str!("goldens/format.txt"), |case, budget| {
        format::format(case.bytes(0), &case.args_from(1), budget).map(one)
    });
    assert!(count > 2000);
}

#[test]
fn numbers_read_and_write_as_in_lua() {
    let count = check(include_str!("goldens/number.txt"), |case, budget| {
        let value = case.arguments.first().map_or(Arg::Nil, Value::arg);
        if case.function == "tostring" {
            let number = value.to_number(budget)?.expect("only numbers are written here");
            return Ok(one(number::to_text(number)));
        }
        let number = number::to_number(value, case.argument(1).map(Value::int), budget)?;
        Ok(vec![number.map_or(Value::Nil, Value::from)])
    });
    assert!(count > 700);
}

#[test]
fn pack_lays_out_as_lua_does() {
    let count =
        check(include_str!("goldens/pack.txt"), |case, budget| match case.function.as_str() {
            "pack" => pack::pack(case.bytes(0), &case.args_from(1), budget).map(one),
            "packsize" => Ok(vec![Value::Int(pack::packsize(case.bytes(0), budget)? as i64)]),
            _ => {
                let (values, next) =
                    pack::unpack(case.bytes(0), case.bytes(1), case.int_or(2, 1), budget)?;
                let values = values.into_iter().map(|value| match value {
                    Unpacked::Int(value) => Value::Int(value),
                    Unpacked::Float(value) => Value::Float(value.to_bits()),
                    Unpacked::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
                });
                Ok(values.chain([Value::Int(next)]).collect())
            }
        });
    assert!(count > 1500);
}

#[test]
fn strings_are_cut_and_made_as_in_lua() {
    let count = check(include_str!("goldens/string.txt"), |case, budget| {
        Ok(match case.function.as_str() {
            "sub" => {
                one(string::sub(case.bytes(0), case.int_or(1, 1), case.int_or(2, -1)).to_vec())
            }
            "byte" => string::byte(case.bytes(0), case.int_or(1, 1), case.int_or(2, 1), budget)?
                .iter()
                .map(|byte| Value::Int(i64::from(*byte)))
                .collect(),
            "reverse" => one(string::reverse(case.bytes(0), budget)?),
            "upper" => one(string::upper(case.bytes(0), budget)?),
            "lower" => one(string::lower(case.bytes(0), budget)?),
            "rep" => one(string::rep(case.bytes(0), case.int_or(1, 0), case.bytes(2), budget)?),
            _ => one(string::char(&case.args_from(0), budget)?),
        })
    });
    assert!(count > 350);
}

fn run_utf8(case: &Case, budget: &mut Budget) -> Result<Vec<Value>, Error> {
    let int = |index| case.argument(index).map(Value::int);
    Ok(match case.function.as_str() {
        "char" => one(utf8::char(&case.args_from(0), budget)?),
        "len" => match utf8::len(
            case.bytes(0),
            case.int_or(1, 1),
            case.int_or(2, -1),
            case.flag(3),
            budget,
        )? {
            Ok(count) => vec![Value::Int(count)],
            Err(position) => vec![Value::Nil, Value::Int(position)],
        },
        "codepoint" => {
            utf8::codepoint(case.bytes(0), case.int_or(1, 1), int(2), case.flag(3), budget)?
                .into_iter()
                .map(|code| Value::Int(i64::from(code)))
                .collect()
        }
        "offset" => {
            let found = utf8::offset(case.bytes(0), case.int_or(1, 1), int(2), budget)?;
            vec![found.map_or(Value::Nil, Value::Int)]
        }
        "codes" => {
            let (mut values, mut at) = (Vec::new(), 0);
            while let Some((position, code)) =
                utf8::next_code(case.bytes(0), at, case.flag(1), budget)?
            {
                values.extend([Value::Int(position), Value::Int(i64::from(code))]);
                at = position;
            }
            values
        }
        _ => all_matches(case.bytes(0), utf8::CHAR_PATTERN, 1, budget)?,
    })
}

#[test]
fn utf8_decodes_as_lua_does() {
    assert!(check(include_str!("goldens/utf8.txt"), run_utf8) > 1000);
}

fn fields(table: &DateTable) -> Vec<Value> {
    let DateTable { year, month, day, hour, min, sec, wday, yday, isdst } = *table;
    let integers = [year, month, day, hour, min, sec, wday, yday].map(Value::Int);
    integers.into_iter().chain([Value::Bool(isdst)]).collect()
}

#[test]
fn dates_are_written_and_read_as_in_lua() {
    let zone = Zone::utc();
    let count =
        check(include_str!("goldens/date.txt"), |case, budget| match case.function.as_str() {
            "date" => match date::date(case.bytes(0), case.int_or(1, 0), &zone, budget)? {
                Date::Text(text) => Ok(one(text)),
                Date::Table(table) => Ok(fields(&table)),
            },
            "fields" => match date::date(b"!*t", case.int_or(0, 0), &zone, budget)? {
                Date::Text(text) => Ok(one(text)),
                Date::Table(table) => Ok(fields(&table)),
            },
            _ => {
                let names = ["year", "month", "day", "hour", "min", "sec", "isdst"];
                let field = |wanted: &str| {
                    let index =
                        names.iter().position(|name| *name == wanted).expect("a field of a date");
                    case.arguments.get(index).map_or(Arg::Nil, Value::arg)
                };
                let (seconds, table) = date::time(field, &zone, budget)?;
                Ok([vec![Value::Int(seconds)], fields(&table)].concat())
            }
        });
    assert!(count > 200);
}
