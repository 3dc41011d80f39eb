//! Functions, over a runtime whose language has a few words.

use std::time::Duration;

use webhook_core::{
    Error, ExecutionId, FunctionId,
    function::{
        Completion, FunctionError, FunctionRuntime, Invocation, ScriptOutcome,
        generate::{FunctionGenerator, GenerateError, GenerateRequest, GeneratedFunction},
    },
    model::{Driver, FunctionSpec, InputSpec, InvokeRequest, Secret},
};

use crate::harness::House;

/// A program is a word in each line: `upper` changes the body, `print` prints the variables,
/// `fail` fails, `mask` does nothing. There are no others.
#[derive(Debug)]
pub(crate) struct Words;

#[async_trait::async_trait]
impl FunctionRuntime for Words {
    async fn check(&self, _: Driver, source: &str) -> Result<(), FunctionError> {
        let mut lines = (1..).zip(source.lines());
        match lines.find(|(_, word)| !["upper", "print", "fail", "mask", ""].contains(word)) {
            Some((line, _)) => {
                Err(FunctionError::Compile { line, reason: "no such word".to_owned() })
            }
            None => Ok(()),
        }
    }

    async fn run(&self, invocation: Invocation) -> Completion {
        let Invocation { mut request, config, source, .. } = invocation;
        let has = |word| source.lines().any(|line| line == word);
        if has("upper") {
            request.body = request.body.to_ascii_uppercase().into();
        }
        let logs = config.values().filter(|_| has("print")).cloned().collect();
        let result = match has("fail") {
            true => Err(FunctionError::Script("line 1: <it failed>".to_owned())),
            false => Ok(ScriptOutcome {
                request,
                response: None,
                response_modified: false,
                stop_forwarding: false,
            }),
        };
        Completion { result, logs, duration: Duration::from_micros(1_500) }
    }
}

#[async_trait::async_trait]
impl FunctionGenerator for Words {
    async fn generate(&self, request: GenerateRequest) -> Result<GeneratedFunction, GenerateError> {
        if request.input_payload.is_empty() {
            let (field, reason) = ("input_payload", "must be given".to_owned());
            return Err(GenerateError::Invalid { field, reason });
        }
        Ok(GeneratedFunction {
            code: "upper".to_owned(),
            driver: Driver::Js,
            validation_ok: request.input_payload.to_ascii_uppercase() == request.output_payload,
            validation_err: "it is another text".to_owned(),
        })
    }
}

/// A function that has run once.
pub(crate) async fn made(house: &House) -> (FunctionId, ExecutionId) {
    let admin = house.webhooks.admin();
    let spec = FunctionSpec::new("shout", Driver::Lua, "upper\nprint");
    let function = admin.create_function(&house.me, spec).await.expect("a function");
    let (key, value) = ("secret".to_owned(), Secret::new("hunter2"));
    admin.put_variable(&house.me, function.id, key, value).await.expect("a variable");
    let request = InvokeRequest { request_body: "a".to_owned(), ..InvokeRequest::default() };
    let left = admin.invoke(&house.me, function.id, request).await.expect("a run");
    let run = left["request_id"].as_str().expect("an ID").parse().expect("an ID");
    (function.id, run)
}

#[tokio::test]
async fn a_function_is_made_changed_copied_and_deleted() -> Result<(), Error> {
    let house = House::build().await?;
    let admin = house.webhooks.admin();
    let form = [("name", "first"), ("driver", "js"), ("payload", "upper\r\nprint")];
    let answer = house.post("/dashboard/functions/new", &form).await.expect(303);
    let path = answer.header("location").replace("?done=created", "");
    let made = admin.functions(&house.me).await?.pop().expect("it is there");
    assert_eq!((made.spec.driver, made.spec.payload.as_str()), (Driver::Js, "upper\nprint"));
    let form = [("name", "renamed"), ("driver", "lua"), ("payload", "upper")];
    house.post(&path, &form).await.expect(303);
    let saved = admin.function(&house.me, made.id).await?;
    assert_eq!((saved.spec.name.as_str(), saved.spec.driver), ("renamed", Driver::Lua));

    house.post(&format!("{path}/variables"), &[("key", "k"), ("value", "v")]).await.expect(303);
    house.post(&format!("{path}/variables"), &[("key", ""), ("value", "v")]).await.expect(400);
    house.post(&format!("{path}/duplicate"), &[]).await.expect(303);
    let copy = admin.functions(&house.me).await?.pop().expect("it is there");
    assert_eq!((copy.spec.name.as_str(), copy.spec.payload.as_str()), ("renamed copy", "upper"));
    let variables = admin.variables(&house.me, copy.id).await?;
    assert!(variables.len() == 1 && variables[0].value.matches(b"v"));
    house.post(&format!("{path}/variables/delete"), &[("key", "k")]).await.expect(303);
    assert!(admin.variables(&house.me, made.id).await?.is_empty());

    house.post(&format!("{path}/delete"), &[]).await.expect(303);
    assert_eq!(admin.functions(&house.me).await?, [copy]);
    Ok(())
}

#[tokio::test]
async fn a_function_that_is_used_says_where_and_stays() -> Result<(), Error> {
    let house = House::build().await?;
    let (function, _) = made(&house).await;
    let mut spec = InputSpec::default();
    (spec.name, spec.function_id) = ("shop".to_owned(), Some(function));
    let admin = house.webhooks.admin();
    admin.create_input(&house.me, house.bucket.id, spec).await?;
    let list = house.get("/dashboard/functions").await.expect(200);
    assert_eq!(list.texts("td a")[0], "orders › shop");
    let path = format!("/dashboard/functions/{function}/delete");
    let answer = house.post(&path, &[]).await.expect(400);
    assert!(answer.texts("[role=alert]")[0].contains("in use by the input \"shop\""));
    Ok(())
}

#[tokio::test]
async fn what_redacts_is_marked_where_it_is_chosen() -> Result<(), Error> {
    let house = House::build().await?;
    for (name, source) in [("plain", "upper"), ("masking", "mask")] {
        let spec = FunctionSpec::new(name, Driver::Lua, source);
        house.webhooks.admin().create_function(&house.me, spec).await?;
    }
    for kind in ["inputs", "outputs"] {
        let path = format!("/dashboard/buckets/{}/{kind}/new", house.bucket.id);
        let form = house.get(&path).await.expect(200);
        let chosen = form.texts("#field-function_id option");
        assert_eq!(chosen, ["none", "plain", "masking (redacts)"], "{kind}");
        let must = form.texts("#field-function_must option");
        assert_eq!(must.len(), 2, "{must:?}");
    }
    Ok(())
}

#[tokio::test]
async fn what_does_not_compile_is_marked_at_its_line() -> Result<(), Error> {
    let house = House::build().await?;
    let (function, _) = made(&house).await;
    let form = [("name", "f"), ("driver", "lua"), ("payload", "upper\n<lower>"), ("then", "run")];
    for path in ["/dashboard/functions/new", &format!("/dashboard/functions/{function}")] {
        let answer = house.post(path, &form).await.expect(400);
        let said = answer.texts("#field-payload-error");
        assert_eq!(said, ["✕ line 2: no such word2 │ <lower>"], "{path}");
        assert_eq!(answer.texts("textarea[data-line='2']"), ["upper <lower>"], "{path}");
    }
    let stored = house.webhooks.admin().function(&house.me, function).await?;
    assert_eq!(stored.spec.payload, "upper\nprint");
    Ok(())
}

#[tokio::test]
async fn a_run_shows_what_it_changed_what_it_printed_and_how_long_it_took() -> Result<(), Error> {
    let house = House::build().await?;
    let (function, _) = made(&house).await;
    let path = format!("/dashboard/functions/{function}");
    let code = [("name", "shout"), ("driver", "lua"), ("payload", "upper\nprint"), ("then", "run")];
    let typed = [code.as_slice(), &[("request_body", "a <b>\nC"), ("headers", "X-A: 1")]].concat();
    let answer = house.post(&path, &typed).await.expect(200);
    assert_eq!(answer.texts(".diff del"), ["- a <b>"]);
    assert_eq!(answer.texts(".diff ins"), ["+ A <B>"]);
    assert!(answer.texts(".diff")[0].contains("X-A: 1"));
    assert_eq!(answer.texts("pre[aria-label='What the function printed']"), ["hunter2"]);
    assert!(answer.texts("section[role=status]")[0].contains("in 1.500 ms"), "{}", answer.text);
    assert_eq!(answer.texts("#field-request_body"), ["a <b> C"], "what was typed stays");

    let log = house.webhook().await.delivery.id.to_string();
    let answer =
        house.post(&path, &[code.as_slice(), &[("log", &*log)]].concat()).await.expect(200);
    assert_eq!(answer.texts(".diff ins"), ["+ \"ORDER\": 17"]);
    let runs = house.get(&format!("{path}/runs")).await.expect(200);
    assert_eq!(runs.texts("a.row").len(), 3);

    let failing = [("name", "shout"), ("driver", "lua"), ("payload", "fail"), ("then", "run")];
    let answer = house.post(&path, &failing).await.expect(200);
    assert_eq!(answer.texts("section[role=status] .error"), ["line 1: <it failed>"]);
    assert!(answer.text.contains("Latest runs: 4, of which 1 failed."));
    // What cannot be a request is said before anything is saved.
    let wrong = [code.as_slice(), &[("path", "no-slash")]].concat();
    let answer = house.post(&path, &wrong).await.expect(400);
    assert_eq!(answer.texts("#field-path-error"), ["✕ must start with a slash"]);
    let stored = house.webhooks.admin().function(&house.me, function).await?;
    assert_eq!(stored.spec.payload, "fail");
    Ok(())
}

#[tokio::test]
async fn variables_are_not_shown_again() -> Result<(), Error> {
    let house = House::build().await?;
    let (function, _) = made(&house).await;
    let page = house.get(&format!("/dashboard/functions/{function}")).await.expect(200);
    assert_eq!(page.texts("th code"), ["secret"]);
    assert!(!page.text.contains("hunter2"));
    Ok(())
}

#[tokio::test]
async fn a_run_can_be_tried_again_and_is_nobody_elses() -> Result<(), Error> {
    let house = House::build().await?;
    let (function, run) = made(&house).await;
    let (other, _) = made(&house).await;
    let page = house.get(&format!("/dashboard/functions/{function}/runs/{run}")).await.expect(200);
    assert_eq!(page.texts(".diff ins"), ["+ A"]);
    house.get(&format!("/dashboard/functions/{other}/runs/{run}")).await.expect(404);
    let page = house.get(&format!("/dashboard/functions/{function}?run={run}")).await.expect(200);
    assert_eq!(page.texts("#field-request_body"), ["a"]);
    Ok(())
}

#[tokio::test]
async fn a_function_is_written_from_a_sample_and_not_saved() -> Result<(), Error> {
    let house = House::build().await?;
    let path = "/dashboard/functions/generate";
    let sample = [("input_payload", "abc"), ("output_payload", "ABC")];
    let answer = house.post(path, &sample).await.expect(200);
    assert_eq!(answer.texts("textarea"), ["upper"]);
    assert_eq!(answer.texts(".lead"), ["It makes the sample's output of its input."]);
    let answer = house.post(path, &[("input_payload", "abc")]).await.expect(200);
    assert!(answer.texts(".lead")[0].ends_with("it is another text"));
    let answer = house.post(path, &[("input_payload", "")]).await.expect(400);
    assert_eq!(answer.texts("#field-input_payload-error"), ["✕ must be given"]);
    assert!(house.webhooks.admin().functions(&house.me).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_version_shows_what_differs_and_comes_back() -> Result<(), Error> {
    let house = House::build().await?;
    let (function, _) = made(&house).await;
    let path = format!("/dashboard/functions/{function}");
    let page = house.get(&path).await.expect(200);
    assert!(page.texts("a").contains(&"All versions".to_owned()), "{:?}", page.texts("a"));
    let form = [("name", "shout"), ("driver", "js"), ("payload", "upper")];
    house.post(&path, &form).await.expect(303);

    let list = house.get(&format!("{path}/versions")).await.expect(200);
    assert_eq!(list.texts("a.row"), ["2", "1"]);
    assert_eq!(list.texts("td .mark"), ["✓ now"]);
    let first = house.get(&format!("{path}/versions/1")).await.expect(200);
    assert_eq!(first.texts(".diff del"), ["- print"]);
    assert_eq!(first.texts("pre[aria-label=Code]"), ["upper print"]);
    assert!(first.texts("main")[0].contains("lua"));
    let current = house.get(&format!("{path}/versions/2")).await.expect(200);
    assert!(current.texts(".diff").is_empty() && current.texts("main form").is_empty());

    let answer = house.post(&format!("{path}/versions/1/restore"), &[]).await.expect(303);
    let notice = house.get(answer.header("location")).await.expect(200);
    assert_eq!(notice.texts("[role=status]"), ["✓ Restored."]);
    let stored = house.webhooks.admin().function(&house.me, function).await?;
    assert_eq!((stored.spec.driver, &*stored.spec.payload), (Driver::Lua, "upper\nprint"));
    let list = house.get(&format!("{path}/versions")).await.expect(200);
    assert_eq!(list.texts("a.row"), ["3", "2", "1"]);
    for absent in ["versions/4", "versions/0", "versions/x"] {
        house.get(&format!("{path}/{absent}")).await.expect(404);
        house.post(&format!("{path}/{absent}/restore"), &[]).await.expect(404);
    }
    Ok(())
}

#[tokio::test]
async fn the_list_says_how_many_of_the_latest_runs_failed() -> Result<(), Error> {
    let house = House::build().await?;
    let admin = house.webhooks.admin();
    made(&house).await;
    let spec = FunctionSpec::new("stumbles", Driver::Lua, "fail");
    let function = admin.create_function(&house.me, spec).await?.id;
    let row = async |name: &str| {
        let list = house.get("/dashboard/functions").await.expect(200);
        list.texts("tbody tr").into_iter().find(|row| row.starts_with(name)).expect("a row")
    };
    assert!(row("stumbles").await.contains("runs of stumbles"), "it has not run");
    for _ in 0..12 {
        let request = InvokeRequest { request_body: "a".to_owned(), ..Default::default() };
        admin.invoke(&house.me, function, request).await?;
    }
    assert!(row("stumbles").await.contains("✕ 10 failed of 10"), "{}", row("stumbles").await);
    assert!(row("shout").await.contains("1, none failed"), "{}", row("shout").await);
    Ok(())
}
