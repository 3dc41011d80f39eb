//! JMESPath: expressions that pick and rearrange parts of a JSON value.
//!
//! A value comes and leaves as JSON, so that the numbers that an expression
//! only picks keep their digits in both languages.

mod functions;
mod lexer;
mod parser;
mod search;

use self::search::Search;
use super::{Bounds, ModuleError, node::Node};

/// Bytes of an expression at most.
pub(crate) const MAX_EXPRESSION_BYTES: usize = 4_096;

/// Parts of an expression at most; each name, index, function and operator is one.
pub(crate) const MAX_PARTS: usize = 256;

/// What an expression finds in a value, both of them JSON; the result has at most `longest` bytes.
pub(crate) fn search(
    expression: &str,
    json: &str,
    mut bounds: Bounds,
    longest: usize,
) -> Result<Vec<u8>, ModuleError> {
    let length = expression.len();
    if length > MAX_EXPRESSION_BYTES {
        return Err(invalid(format!(
            "jmespath: the expression has {length} bytes, at most {MAX_EXPRESSION_BYTES}"
        )));
    }
    let bounds = &mut bounds;
    let mut found = || {
        let parsed = parser::parse(expression, bounds)?;
        let value = Node::from_json(json, bounds)?;
        let found = Search { bounds: &mut *bounds }.eval(&parsed, &value)?;
        found.to_json(longest, bounds)
    };
    found().map_err(|error| error.of("jmespath"))
}

fn invalid(reason: impl Into<String>) -> ModuleError {
    ModuleError::invalid(reason)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;

    fn bounds() -> Bounds {
        Bounds::of_memory(1 << 22)
    }

    fn found(expression: &str, json: &str) -> Result<String, ModuleError> {
        let found = search(expression, json, bounds(), 1 << 20)?;
        Ok(String::from_utf8(found).expect("UTF-8"))
    }

    /// Cases of the specification and of the page.
    #[test]
    fn expressions_find_what_the_specification_says() {
        let cases = include_str!("cases.txt");
        let mut json = "";
        let mut wrong = Vec::new();
        let mut count = 0;
        for line in cases.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(given) = line.strip_prefix("given ") {
                json = given;
                continue;
            }
            let (expression, wanted) = line.split_once(" => ").expect("a case");
            count += 1;
            let got = found(expression, json);
            let got = got.unwrap_or_else(|error| format!("error {error}"));
            let same = match wanted.strip_prefix("error ") {
                Some(part) => got.starts_with("error jmespath: ") && got.contains(part),
                None => got == wanted,
            };
            if !same {
                wrong.push(format!("{expression} of {json}: {got}, not {wanted}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(count >= 120, "{count} cases");
    }

    #[test]
    fn expressions_are_bounded() {
        let long = "a".repeat(MAX_EXPRESSION_BYTES + 1);
        assert!(found(&long, "1").is_err_and(|error| error.to_string().contains("4096")));
        let parts = "a.".repeat(MAX_PARTS) + "a";
        assert!(found(&parts, "1").is_err_and(|error| error.to_string().contains("256 parts")));
        let nested = "(".repeat(2_000);
        assert!(found(&nested, "1").is_err());
        let doubled = "[@,@]".to_owned() + &" | [@,@]".repeat(60);
        assert!(matches!(found(&doubled, "1"), Err(ModuleError::TooLong | ModuleError::TooLarge)));
        let compared = format!("({doubled}) == ({doubled})");
        assert_eq!(found(&compared[..], "1").err(), Some(invalid("jmespath: more than 256 parts")));
        let deep = "[@]".to_owned() + &" | [@]".repeat(20);
        let value = "[".repeat(90) + &"]".repeat(90);
        let error = found(&deep, &value).expect_err("too deep").to_string();
        assert_eq!(error, "jmespath: the result has more than 100 levels");
    }

    #[test]
    fn equal_trees_that_are_shared_end_at_the_time() {
        let doubled = "[@,@]".to_owned() + &" | [@,@]".repeat(40);
        let late = Bounds::of_memory(1 << 22).until(Instant::now());
        let result = search(&format!("{doubled} | [0] == [1]"), "1", late, 1 << 20);
        assert_eq!(result.err(), Some(ModuleError::TooSlow));
    }

    #[test]
    fn what_an_expression_makes_fits_into_the_memory() {
        let json = format!("[{}0]", "0,".repeat(20_000));
        let small = Bounds::of_memory(json.len() * 40);
        let copies = "[[*],[*],[*],[*],[*],[*],[*],[*],[*],[*]]";
        let result = search(copies, &json, small, 1 << 20);
        assert_eq!(result.err(), Some(ModuleError::TooLarge));
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(text in "\\PC{0,60}", parts in r#"([a-c.*@&|!(){},:\[\]?<>='`"0-9-]|length|sort_by){0,40}"#) {
            for expression in [&text, &parts] {
                let _ = found(expression, r#"{"a":[{"b":1},{"b":"c"}],"c":{"a":null}}"#);
            }
        }
    }
}
