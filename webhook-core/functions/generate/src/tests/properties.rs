//! What holds for any sample: no panic, and a program that explains at least the sample itself.

use proptest::prelude::*;

use super::super::diff::first_difference;
use webhook_core::model::Driver;

use super::super::limits::GenerateLimits;
use super::super::sample::{Format, read_answer, read_input};
use super::{run, run_source, write};

fn scalar() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        (-20i64..2000).prop_map(Into::into),
        prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(1_714_557_600), Just(1_714_557_600_123)]
            .prop_map(Into::into),
        (-100_000i64..100_000).prop_map(|n| (n as f64 / 100.0).into()),
        "[a-c]{0,3}".prop_map(Into::into),
        "[A-Za-z]{2,6}[ -/_@][a-z0-9]{1,5}".prop_map(Into::into),
        "\\PC{0,12}".prop_map(Into::into),
        any::<String>().prop_map(Into::into),
        Just("2024-05-01T10:00:00Z".into()),
        Just("01/05/2024".into()),
        Just("19.90".into()),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("id".to_owned()),
        Just("name".to_owned()),
        Just("items".to_owned()),
        Just("total".to_owned()),
        Just("end".to_owned()),
        Just("__proto__x".to_owned()),
        "[a-z]{1,4}",
        "\\PC{0,6}",
    ]
}

fn document() -> impl Strategy<Value = serde_json::Value> {
    scalar().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            prop::collection::vec((key(), inner), 0..5)
                .prop_map(|fields| { serde_json::Value::Object(fields.into_iter().collect()) }),
        ]
    })
}

/// A document and another one made of parts of it.
fn related() -> impl Strategy<Value = (serde_json::Value, serde_json::Value)> {
    (document(), prop::collection::vec((key(), any::<prop::sample::Index>(), 0u8..6), 1..6))
        .prop_map(|(input, fields)| {
            let mut parts = Vec::new();
            collect(&input, &mut parts);
            let made = fields.into_iter().map(|(key, index, kind)| {
                let part = index.get(&parts).clone();
                let value = match kind {
                    0 => serde_json::json!([part.clone(), part]),
                    1 => serde_json::json!({ "inner": part }),
                    2 => format!(
                        "about {} of it",
                        part.as_str().map_or_else(|| part.to_string(), str::to_owned)
                    )
                    .into(),
                    3 => part.to_string().into(),
                    _ => part,
                };
                (key, value)
            });
            let output = serde_json::Value::Object(made.collect());
            (input, output)
        })
}

fn collect(value: &serde_json::Value, out: &mut Vec<serde_json::Value>) {
    out.push(value.clone());
    match value {
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, out)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| collect(value, out)),
        _ => {}
    }
}

/// Whatever is found explains the sample, and stands any other payload.
fn explains(input: &str, output: &str, other: &str) -> Result<(), TestCaseError> {
    let limits = GenerateLimits { max_steps: 300_000, ..GenerateLimits::default() };
    for driver in [Driver::Lua, Driver::Js] {
        let Ok(written) = write(&[(input, output)], driver, &limits) else { continue };
        let Ok(sample) = read_input(input, &limits) else { continue };
        let got = run(&written.program, &sample.value);
        let difference = first_difference(&written.samples[0].1.value, &got, false);
        prop_assert!(difference.is_none(), "{difference:?}\n{}", written.code);
        if let Ok(other) = read_input(other, &limits) {
            run(&written.program, &other.value);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_texts(input in any::<String>(), output in any::<String>()) {
        explains(&input, &output, &output)?;
    }

    #[test]
    fn texts_that_look_like_documents(input in "[\\[{<\"a-c=&>/:,0-9. }\\]-]{0,40}", output in "[\\[{<\"a-c=&>/:,0-9. }\\]-]{0,40}") {
        explains(&input, &output, &output)?;
    }

    #[test]
    fn any_documents(input in document(), output in document(), other in document()) {
        explains(&input.to_string(), &output.to_string(), &other.to_string())?;
    }

    #[test]
    fn documents_made_of_each_other((input, output) in related(), other in document()) {
        explains(&input.to_string(), &output.to_string(), &other.to_string())?;
    }
}

proptest! {
    // Each case runs four sources.
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sources_do_what_the_evaluator_does((input, output) in related(), other in document()) {
        let limits = GenerateLimits { max_steps: 300_000, ..GenerateLimits::default() };
        let (input, output, other) = (input.to_string(), output.to_string(), other.to_string());
        for driver in [Driver::Lua, Driver::Js] {
            let Ok(written) = write(&[(&input, &output)], driver, &limits) else { continue };
            // Scripts read whole numbers as they can: JavaScript not all of them.
            let exact = driver == Driver::Lua || ![&input, &output].iter().any(|text| text.contains("9223372036854775"));
            let answer = run_source(driver, &written.code, "application/json", &input);
            match answer {
                Ok(answer) if exact => {
                    let got = read_answer(answer.as_bytes(), Format::Json).map_err(TestCaseError::fail)?;
                    let difference = first_difference(&written.samples[0].1.value, &got, driver == Driver::Lua);
                    prop_assert!(difference.is_none(), "{difference:?}\nfor {input}\n{}", written.code);
                }
                Ok(_) => {}
                // JSON's null and false are no payload that a function would be called with.
                Err(error) => prop_assert!(matches!(input.as_str(), "null" | "false"), "{error}\nfor {input}\n{}", written.code),
            }
            // Another payload, of any shape, does not stop it.
            match run_source(driver, &written.code, "application/json", &other) {
                Ok(answer) if driver == Driver::Lua => {
                    let payload = read_input(&other, &limits).map_err(TestCaseError::fail)?;
                    let wanted = run(&written.program, &payload.value);
                    let got = read_answer(answer.as_bytes(), Format::Json).map_err(TestCaseError::fail)?;
                    let difference = first_difference(&wanted, &got, true);
                    prop_assert!(difference.is_none(), "{difference:?}\nfor {other}\n{}", written.code);
                }
                Err(error) => {
                    prop_assert!(matches!(other.as_str(), "null" | "false"), "{error}\nfor {other}\n{}", written.code);
                }
                Ok(_) => {}
            }
        }
    }
}
