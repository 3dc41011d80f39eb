//! JSON values: when two are the same, and the text and the number of one.

pub(crate) use serde_json::Value as Json;

/// Equal as JSON documents are: fields in any order, `1` equal to `1.0`.
pub(crate) fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a == b,
            _ => a.as_f64() == b.as_f64(),
        },
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

pub(crate) fn is_scalar(value: &Json) -> bool {
    !matches!(value, Json::Array(_) | Json::Object(_))
}

/// The number of values in the tree, itself included.
pub(crate) fn count_nodes(value: &Json) -> usize {
    1 + match value {
        Json::Array(items) => items.iter().map(count_nodes).sum::<usize>(),
        Json::Object(object) => object.values().map(count_nodes).sum(),
        _ => 0,
    }
}

/// How many levels of lists and objects the value has.
pub(crate) fn depth(value: &Json) -> usize {
    match value {
        Json::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Json::Object(object) => 1 + object.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The text that a script writes for a scalar; `None` for null, lists and objects.
///
/// Fractions have at most 14 significant digits, as Lua's `tostring` gives them, and no exponent.
pub(crate) fn to_text(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Bool(flag) => Some(flag.to_string()),
        Json::Number(number) if number.is_f64() => Some(float_text(number.as_f64()?)),
        Json::Number(number) => Some(number.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

fn float_text(number: f64) -> String {
    if number.fract() == 0.0 {
        return format!("{number:.0}");
    }
    let before = if number.abs() >= 1.0 { number.abs().log10().floor() as usize + 1 } else { 1 };
    let text = format!("{number:.*}", 14usize.saturating_sub(before));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A key under which equal scalars meet; `None` for lists and objects.
pub(crate) fn scalar_key(value: &Json) -> Option<String> {
    match value {
        Json::Null => Some("0".to_owned()),
        Json::String(text) => Some(format!("t{text}")),
        Json::Array(_) | Json::Object(_) => None,
        number_or_flag => Some(format!("n{}", to_text(number_or_flag)?)),
    }
}

/// The number as JSON, without a fraction where it has none.
pub(crate) fn from_f64(number: f64) -> Json {
    // Beyond 2^53 a float does not name one integer.
    if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
        Json::from(number as i64)
    } else {
        Json::from(number)
    }
}

/// The number that a number or a text is: decimal, white space around it allowed.
pub(crate) fn number(value: &Json) -> Option<f64> {
    let Json::String(text) = value else { return value.as_f64() };
    let text = text.trim_matches(is_space);
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    let opens = text.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit());
    if plain && opens { text.parse().ok().filter(|number: &f64| number.is_finite()) } else { None }
}

/// White space as Lua's `%s` has it.
pub(crate) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// A calculated number without the noise of binary fractions: six decimals.
pub(crate) fn tidy(number: f64) -> Json {
    if number.fract() == 0.0 || number.abs() >= 1e9 {
        return from_f64(number);
    }
    from_f64((number * 1e6 + 0.5).floor() / 1e6)
}

/// A number's text with a comma between thousands.
pub(crate) fn grouped(text: &str) -> String {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equality_ignores_number_type_and_field_order() {
        assert!(same(&json!({"x": 1, "y": null}), &json!({"y": null, "x": 1.0})));
        assert!(!same(&json!({"x": 1, "y": null}), &json!({"x": 1})));
        assert!(!same(&json!("1"), &json!(1)));
        assert!(same(&json!([1.5, [true]]), &json!([1.5, [true]])));
    }

    #[test]
    fn floats_read_as_people_write_them() {
        for (number, text) in
            [(19.9, "19.9"), (0.1 + 0.2, "0.3"), (-2.5, "-2.5"), (3.0, "3"), (1234.56, "1234.56")]
        {
            assert_eq!(to_text(&Json::from(number)).as_deref(), Some(text));
        }
    }

    #[test]
    fn texts_that_are_numbers() {
        assert_eq!(number(&json!(" 19.90 ")), Some(19.9));
        assert_eq!(number(&json!("1e999")), None);
        assert_eq!(number(&json!("0x10")), None);
        assert_eq!(grouped("-1234567.00"), "-1,234,567.00");
    }
}
