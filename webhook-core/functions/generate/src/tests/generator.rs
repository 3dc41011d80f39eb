//! The generator as an embedder uses it.

use async_trait::async_trait;

use webhook_core::{
    function::generate::{
        FunctionGenerator, GenerateError, GenerateExample, GenerateRequest, GeneratedFunction,
    },
    model::Driver,
};

use super::super::{SearchGenerator, Validate};

/// Answers the same whatever the source.
#[derive(Debug)]
struct Answers(Result<&'static str, &'static str>);

#[async_trait]
impl Validate for Answers {
    async fn check(&self, _: Driver, _: &str) -> Result<(), String> {
        Ok(())
    }

    async fn run(&self, _: Driver, _: &str, _: &[u8], _: &str) -> Result<Vec<u8>, String> {
        self.0.map(|answer| answer.as_bytes().to_vec()).map_err(str::to_owned)
    }
}

fn request(input: &str, output: &str, info: &str) -> GenerateRequest {
    GenerateRequest {
        input_payload: input.to_owned(),
        output_payload: output.to_owned(),
        additional_info: info.to_owned(),
        ..GenerateRequest::default()
    }
}

async fn generate(
    validate: impl Validate,
    request: GenerateRequest,
) -> Result<GeneratedFunction, GenerateError> {
    // As an embedder holds it.
    let generator: Box<dyn FunctionGenerator> = Box::new(SearchGenerator::new(validate));
    generator.generate(request).await
}

#[tokio::test]
async fn a_function_is_written_and_checked() {
    for (info, driver) in [("", Driver::Lua), ("in JavaScript please", Driver::Js)] {
        let request =
            request(r#"{"user":{"name":"Ann"},"n":30}"#, r#"{"text":"Hello Ann","n":"30"}"#, info);
        let function = generate(super::runtime(), request).await.expect("a function");
        assert_eq!(function.driver, driver);
        assert!(function.validation_ok, "{}", function.validation_err);
        assert_eq!(function.validation_err, "");
        assert_eq!(function.code.contains("function transform(r)"), driver == Driver::Js);
    }
}

#[tokio::test]
async fn a_wrong_result_is_told_by_its_first_difference() {
    let input = r#"{"items":[{"price":10},{"price":11},{"price":12}]}"#;
    for (answer, told) in [
        (
            Ok(r#"{"items":[{"price":10},{"price":11},{"price":"12"}]}"#),
            r#"out.items[2].price: wanted 12, got "12""#,
        ),
        (Ok("nonsense"), "the result is not JSON"),
        (Err("line 3: out of memory"), "line 3: out of memory"),
    ] {
        let function =
            generate(Answers(answer), request(input, input, "")).await.expect("a function");
        assert!(!function.validation_ok);
        assert!(function.validation_err.contains(told), "{}", function.validation_err);
    }
}

#[tokio::test]
async fn the_sample_that_would_decide_is_told() {
    for (input, output, told) in [
        (
            r#"{"name":"Ann"}"#,
            r#"{"name":"Ann","total":40}"#,
            "out.total: always 40? Any second sample would decide",
        ),
        (
            r#"{"name":"Ann","priority":"P1"}"#,
            r#"{"name":"Ann","severity":"critical"}"#,
            "out.severity: always \"critical\"? A sample whose priority is not \"P1\" would decide",
        ),
        (
            r#"{"items":[{"sku":"a1"},{"sku":"b2"}]}"#,
            r#"{"code":"b2"}"#,
            "out.code: a sample with items[1].sku \"c3\" instead of \"b2\" would decide: this function gives \"c3\", another one of its size \"b2\"",
        ),
        (
            r#"{"id":"c_17","owner":{"id":"c_17"}}"#,
            r#"{"ref":"c_17"}"#,
            "out.ref: a sample with id \"c_28\" instead of \"c_17\" would decide: this function gives \"c_28\", another one of its size \"c_17\"",
        ),
        (r#"{"paid":true}"#, r#"{"paid":true}"#, ""),
        (
            r#"{"a":{"paid":true,"name":"Xavier"}}"#,
            r#"{"paid":true}"#,
            "out.paid: a sample with a.paid false instead of true would decide: this function gives false, another one of its size true",
        ),
        (r#"{"sums":[{"n":12},{"n":99},{"n":240}]}"#, r#"{"large":[240]}"#, "would decide"),
        (r#"{"a":"Xavier"}"#, r#"{"text":"Hello Xavier"}"#, ""),
    ] {
        let function = generate(Answers(Ok(output)), request(input, output, "")).await;
        let function = function.expect("a function");
        let told_all = function.validation_err.as_str();
        assert!(told_all.contains(told), "{told_all}\n{}", function.code);
        assert_eq!(function.validation_ok, told.is_empty(), "{told_all}");
        for told in told_all.split("; ").filter(|told| !told.is_empty()) {
            assert!(function.code.contains(&format!("-- {told}\n")), "{}", function.code);
        }
    }
}

fn with_examples(pairs: &[(&str, &str)]) -> GenerateRequest {
    let example = |(input, output): &(&str, &str)| GenerateExample {
        input: (*input).to_owned(),
        output: (*output).to_owned(),
    };
    GenerateRequest { examples: pairs.iter().map(example).collect(), ..GenerateRequest::default() }
}

#[tokio::test]
async fn several_samples_tell_what_one_does_not() {
    let output = r#"{"who":"Ann","total":40}"#;
    let one = (r#"{"user":"Ann","id":7}"#, output);
    let two = (r#"{"user":"Bea","id":8}"#, r#"{"who":"Bea","total":40}"#);
    let function = generate(Answers(Ok(output)), with_examples(&[one])).await.expect("a function");
    assert!(!function.validation_ok);
    let function = generate(super::runtime(), with_examples(&[one, two])).await;
    let function = function.expect("a function");
    assert_eq!(function.validation_err, "", "{}", function.code);
    // This runner always says the same, which is wrong for the second.
    let function = generate(Answers(Ok(output)), with_examples(&[one, two])).await;
    let told = r#"examples[1]: out.who: wanted "Bea", got "Ann""#;
    assert_eq!(function.expect("a function").validation_err, told);
}

#[tokio::test]
async fn what_no_program_explains_is_told() {
    let pairs = [(r#"{"a":1}"#, r#"{"b":"q7","c":1}"#), (r#"{"a":2}"#, r#"{"b":"zz","c":2}"#)];
    let function = generate(Answers(Ok(pairs[0].1)), with_examples(&pairs)).await;
    let function = function.expect("a function");
    assert!(!function.validation_ok);
    assert!(
        function.validation_err.starts_with("examples[1]: out.b"),
        "{}",
        function.validation_err
    );
    assert!(function.code.contains("c = get(body, \"a\")"), "{}", function.code);
}

#[tokio::test]
async fn examples_are_bounded_and_of_one_format() {
    let pair = ("1", "2");
    let four = generate(Answers(Ok("2")), with_examples(&[pair; 4])).await;
    assert!(four.is_ok(), "{four:?}");
    for (request, said) in [
        (with_examples(&[pair; 5]), "5 samples in all, at most 4 are accepted"),
        (
            GenerateRequest {
                input_payload: "1".to_owned(),
                output_payload: "2".to_owned(),
                ..with_examples(&[pair; 4])
            },
            "5 samples in all",
        ),
        (with_examples(&[pair, ("1", "{")]), "examples[1]: "),
        (with_examples(&[pair, ("", "2")]), "examples[1]: "),
        (with_examples(&[pair, ("a=1", "2")]), "the samples are not all of one format"),
    ] {
        match generate(Answers(Ok("2")), request).await {
            Err(GenerateError::Invalid { field: "examples", reason }) => {
                assert!(reason.contains(said), "{reason}");
            }
            other => panic!("not refused: {other:?}"),
        }
    }
}

#[tokio::test]
async fn an_empty_table_of_lua_is_either() {
    let input = r#"{"a":{}}"#;
    let lua =
        generate(Answers(Ok(r#"{"a":[]}"#)), request(input, input, "")).await.expect("a function");
    assert!(lua.validation_ok, "{}", lua.validation_err);
    let js = generate(Answers(Ok(r#"{"a":[]}"#)), request(input, input, "JS"))
        .await
        .expect("a function");
    assert!(!js.validation_ok);
}

#[tokio::test]
async fn a_bad_request_names_its_field() {
    for (input, output, field) in [("", "1", "input_payload"), ("1", "{", "output_payload")] {
        match generate(Answers(Ok("")), request(input, output, "")).await {
            Err(GenerateError::Invalid { field: named, reason }) => {
                assert_eq!(named, field);
                assert!(!reason.is_empty());
            }
            other => panic!("not refused: {other:?}"),
        }
    }
}

#[test]
fn requests_and_answers_have_the_wire_names() {
    let request: GenerateRequest =
        serde_json::from_str(r#"{"input_payload":"1","output_payload":"2"}"#).expect("a request");
    assert_eq!((request.input_payload.as_str(), request.additional_info.as_str()), ("1", ""));
    let function = GeneratedFunction {
        code: "x".to_owned(),
        driver: Driver::Js,
        validation_ok: true,
        validation_err: String::new(),
    };
    let wire = serde_json::to_value(&function).expect("serialisable");
    assert_eq!(
        wire,
        serde_json::json!({"code":"x","driver":"js","validation_ok":true,"validation_err":""})
    );
}
