//! The generator as an embedder uses it.

use async_trait::async_trait;

use webhook_core::{
    function::generate::{
        FunctionGenerator, GenerateError, GenerateExample, GenerateRequest, GeneratedFunction,
    },
    model::Driver,
};

use super::super::{SearchGenerator, Validate};

/// Runs the source with the interpreters where they are installed.
#[derive(Debug)]
struct Interpreters;

#[async_trait]
impl Validate for Interpreters {
    async fn run(
        &self,
        driver: Driver,
        source: &str,
        body: &[u8],
        content_type: &str,
    ) -> Result<Vec<u8>, String> {
        let body = String::from_utf8_lossy(body);
        match super::run_source(driver, source, content_type, &body) {
            Some(answer) => answer.map(String::into_bytes),
            None => Err("no interpreter".to_owned()),
        }
    }
}

/// Answers the same whatever the source.
#[derive(Debug)]
struct Answers(Result<&'static str, &'static str>);

#[async_trait]
impl Validate for Answers {
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
        if super::interpreter(driver).is_none() {
            continue;
        }
        let request =
            request(r#"{"user":{"name":"Ann"},"n":3}"#, r#"{"text":"Hello Ann","n":"3"}"#, info);
        let function = generate(Interpreters, request).await.expect("a function");
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
async fn what_one_sample_cannot_tell_is_named() {
    for (input, output, doubt) in [
        (
            r#"{"name":"Ann"}"#,
            r#"{"name":"Ann","kind":"person"}"#,
            "kind: the same for every payload",
        ),
        (r#"{"name":"Ann"}"#, r#"{"name":"Ann","total":40}"#, "total: the same for every payload"),
        (
            r#"{"items":[{"sku":"a1"},{"sku":"b2"}]}"#,
            r#"{"code":"b2"}"#,
            "code: always at the same position of a list",
        ),
        // A field that is the value is the better explanation, however short the value is.
        (r#"{"n":1,"flag":true}"#, r#"{"count":1,"active":true}"#, ""),
        (r#"{"a":"Xavier"}"#, r#"{"text":"Hello Xavier"}"#, ""),
    ] {
        let function = generate(Answers(Ok(output)), request(input, output, "")).await;
        let function = function.expect("a function");
        assert_eq!(function.validation_err, doubt, "{}", function.code);
        assert_eq!(function.validation_ok, doubt.is_empty());
        let remark = format!("-- {doubt}\n");
        assert!(doubt.is_empty() || function.code.contains(&remark), "{}", function.code);
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
    let output = r#"{"state":"ok","kind":"event"}"#;
    let pairs = [
        (r#"{"id":1,"status":"paid"}"#, output),
        (r#"{"id":2,"status":"late"}"#, r#"{"state":"bad","kind":"event"}"#),
        (r#"{"id":3,"status":"paid"}"#, output),
    ];
    let function = generate(Answers(Ok(output)), with_examples(&pairs)).await.expect("a function");
    // The runner always says the same, which is wrong for the second.
    assert_eq!(
        function.validation_err, r#"examples[1]: out.state: wanted "bad", got "ok""#,
        "{}",
        function.code
    );
    assert!(function.code.contains("Written from 3 samples"), "{}", function.code);
    assert!(!function.code.contains("-- kind"), "{}", function.code);
    let function = generate(Answers(Ok(output)), with_examples(&[pairs[0], pairs[2]])).await;
    let function = function.expect("a function");
    assert_eq!(
        (function.validation_ok, function.validation_err.as_str()),
        (false, "state: the same for every payload")
    );
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
        (with_examples(&[pair, ("<a>1</a>", "2")]), "the samples are not all of one format"),
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
