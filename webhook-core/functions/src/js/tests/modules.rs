use webhook_core::function::FunctionError;

use super::fixture::{body, complete, limited};

#[tokio::test]
async fn the_modules_answer_as_documented() {
    let cases = include_str!("modules.js");
    assert_eq!(body(cases).await, "", "values that are not what they should be");
}

#[tokio::test]
async fn what_a_module_makes_is_bounded() {
    let runtime = limited(|limits| limits.memory_bytes = 4 << 20);
    for source in [
        "yaml.decode('a: &a [x,x,x,x]\\n' + Array.from({length: 12}, (_, i) => `b${i}: &b${i} [*${i ? 'b' + (i - 1) : 'a'},*${i ? 'b' + (i - 1) : 'a'},*${i ? 'b' + (i - 1) : 'a'}]`).join('\\n'))",
        "xml.decode('<a>' + '<b/>'.repeat(1e5) + '</a>')",
        "csv.decode('a,'.repeat(1e5))",
        "yaml.decode('['.repeat(1000))",
        "xml.decode('<a>'.repeat(1000))",
    ] {
        let result = complete(&runtime, source).await.result;
        assert!(
            matches!(result, Err(FunctionError::Script(_) | FunctionError::Limit(_))),
            "{source}: {result:?}"
        );
    }
}
