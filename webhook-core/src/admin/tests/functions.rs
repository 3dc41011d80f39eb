//! Functions, their variables and their runs, over a runtime that only looks
//! for the word `wrong`.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::*;
use crate::{
    function::{Completion, FunctionError, Invocation, ScriptOutcome},
    model::{Driver, InvokeRequest},
};

#[derive(Debug)]
struct Words;

#[async_trait::async_trait]
impl FunctionRuntime for Words {
    async fn check(&self, driver: Driver, source: &str) -> Result<(), FunctionError> {
        match driver {
            Driver::Wasm => Err(FunctionError::NoDriver(driver)),
            _ if source == "busy" => Err(FunctionError::Busy),
            _ if source.contains("wrong") || !source.contains(' ') => {
                let reason = format!("{} characters are wrong", source.len());
                Err(FunctionError::Compile { line: 3, reason })
            }
            _ => Ok(()),
        }
    }

    async fn run(&self, invocation: Invocation) -> Completion {
        let Invocation { request, config, .. } = invocation;
        let logs = config.values().cloned().collect();
        let outcome = ScriptOutcome {
            request,
            response: None,
            response_modified: false,
            stop_forwarding: false,
        };
        Completion { result: Ok(outcome), logs, duration: Duration::ZERO }
    }
}

async fn house_of_words(options: AdminOptions) -> House {
    house_of(|builder| builder.admin_options(options).functions(Arc::new(Words))).await
}

fn spec(payload: &str) -> FunctionSpec {
    let (name, payload) = ("f".to_owned(), payload.to_owned());
    FunctionSpec { name, payload, ..FunctionSpec::default() }
}

#[tokio::test(start_paused = true)]
async fn what_is_stored_is_the_source() -> Result<(), Error> {
    let House { admin, caller, told, .. } = house_of_words(AdminOptions::default()).await;
    let made = admin.create_function(&caller, spec(&STANDARD.encode("a source"))).await?;
    assert_eq!((&*made.spec.payload, made.payload_size), ("a source", 8));
    assert_eq!(told.functions(), [], "nobody can have used it");

    tokio::time::advance(Duration::from_secs(5)).await;
    let unnamed = FunctionSpec { name: String::new(), ..spec("b source") };
    let updated = admin.update_function(&caller, made.id, unnamed).await?;
    assert_eq!((&*updated.spec.name, &*updated.spec.payload), ("f", "b source"));
    assert_eq!(updated.created, made.created);
    assert_eq!(updated.updated, made.created + Duration::from_secs(5));
    assert_eq!(told.functions(), [(caller.account_id(), made.id)]);
    assert_eq!(admin.function(&caller, made.id).await?, updated);
    assert_eq!(admin.functions(&caller).await?, [updated]);
    Ok(())
}

#[tokio::test]
async fn refusals_name_the_field_and_the_line() -> Result<(), Error> {
    let House { admin, caller, .. } = house_of_words(AdminOptions::default()).await;
    let long = "x".repeat(300);
    let labels: std::collections::BTreeMap<_, _> =
        (0..200).map(|n| (n.to_string(), String::new())).collect();
    for (said, spec) in [
        ("name: ", FunctionSpec { name: String::new(), ..spec("a source") }),
        ("name: ", FunctionSpec { name: long, ..spec("a source") }),
        ("driver: the driver wasm", FunctionSpec { driver: Driver::Wasm, ..spec("a source") }),
        ("payload: must not be empty", spec(" \n")),
        ("payload: line 3: 7 characters", spec("a wrong")),
        ("payload: line 3: 15 characters", spec(&STANDARD.encode("a wrong program"))),
        ("metadata: ", FunctionSpec { metadata: labels, ..spec("a source") }),
    ] {
        let error = admin.create_function(&caller, spec).await.expect_err(said);
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().starts_with(said), "{error}");
    }
    assert_eq!(kind(admin.create_function(&caller, spec("busy")).await), ErrorKind::Unavailable);
    assert_eq!(admin.functions(&caller).await?, []);
    Ok(())
}

#[tokio::test]
async fn one_that_is_in_use_stays() -> Result<(), Error> {
    let House { admin, caller, .. } = house_of_words(AdminOptions::default()).await;
    let function = admin.create_function(&caller, spec("a source")).await?;
    let bucket = admin.create_bucket(&caller, bucket_named("b")).await?;
    let using = OutputSpec { response_function_id: Some(function.id), ..output_named("o") };
    let output = admin.create_output(&caller, bucket.id, using).await?;
    let refused = admin.delete_function(&caller, function.id).await.expect_err("in use");
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    assert!(refused.to_string().contains("output \"o\" of the bucket \"b\""), "{refused}");
    admin.delete_output(&caller, bucket.id, output.id).await?;
    let using = InputSpec { function_id: Some(function.id), ..InputSpec::default() };
    let input = admin.create_input(&caller, bucket.id, using).await?;
    assert_eq!(kind(admin.delete_function(&caller, function.id).await), ErrorKind::Invalid);
    admin.delete_input(&caller, bucket.id, input.id).await?;
    admin.delete_function(&caller, function.id).await?;
    assert_eq!(kind(admin.function(&caller, function.id).await), ErrorKind::Invalid);
    assert_eq!(kind(admin.delete_function(&caller, function.id).await), ErrorKind::Invalid);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn variables() -> Result<(), Error> {
    let options = AdminOptions {
        max_functions_per_account: 1,
        max_variables_per_function: 2,
        max_variable_bytes: 5,
        ..AdminOptions::default()
    };
    let House { admin, caller, told, .. } = house_of_words(options).await;
    let id = admin.create_function(&caller, spec("a source")).await?.id;
    assert_eq!(kind(admin.create_function(&caller, spec("a source")).await), ErrorKind::Invalid);

    let put = async |key: &str, value: &str| {
        admin.put_variable(&caller, id, key.to_owned(), Secret::new(value)).await
    };
    let first = put("a/b", "one").await?;
    tokio::time::advance(Duration::from_secs(1)).await;
    let again = put("a/b", "two").await?;
    assert_eq!(again.created_at, first.created_at);
    assert_eq!(again.updated_at, first.created_at + Duration::from_secs(1));
    put("A", "").await?;
    for (key, value) in [("", "x"), ("k\n", "x"), ("A", "longer"), ("A", "\0"), ("third", "x")] {
        assert_eq!(kind(put(key, value).await), ErrorKind::Invalid, "{key:?}={value:?}");
    }
    let keys = async || -> Result<Vec<String>, Error> {
        Ok(admin.variables(&caller, id).await?.into_iter().map(|known| known.key).collect())
    };
    assert_eq!(keys().await?, ["A", "a/b"]);
    admin.delete_variable(&caller, id, "A").await?;
    assert_eq!(kind(admin.delete_variable(&caller, id, "A").await), ErrorKind::Invalid);
    assert_eq!(keys().await?, ["a/b"]);
    assert_eq!(told.functions().len(), 4, "once for each change");
    let nobody = FunctionId::generate();
    assert_eq!(kind(admin.variables(&caller, nobody).await), ErrorKind::Invalid);
    Ok(())
}

#[tokio::test]
async fn a_change_is_seen_by_the_next_run_and_runs_are_listed() -> Result<(), Error> {
    let stores = Stores::of(MemoryStore::default());
    let webhooks = Webhooks::builder(stores.clone()).functions(Arc::new(Words)).build();
    let admin = webhooks.admin();
    let (account, _) = admin.create_account("first", None).await?;
    let caller = Caller::for_account(account.id);
    let id = admin.create_function(&caller, spec("a source")).await?.id;
    for value in ["one", "two", "three"] {
        admin.put_variable(&caller, id, "KEY".to_owned(), Secret::new(value)).await?;
        let answer = admin.invoke(&caller, id, InvokeRequest::default()).await?;
        assert_eq!(answer["logs"], serde_json::json!([value]));
    }
    // Without being told, the relay does not ask the store.
    let elsewhere = Webhooks::builder(stores.clone()).build();
    let silent = elsewhere.admin();
    silent.put_variable(&caller, id, "KEY".to_owned(), Secret::new("unseen")).await?;
    let answer = admin.invoke(&caller, id, InvokeRequest::default()).await?;
    assert_eq!(answer["logs"], serde_json::json!(["three"]));

    let request = ExecutionQuery { limit: 2, offset: 1 };
    let page = admin.executions(&caller, id, &request).await?;
    assert_eq!((page.executions.len(), page.total, page.limit, page.offset), (2, 4, 2, 1));
    let run = page.executions[1].clone();
    assert_eq!(admin.execution(&caller, run.id).await?, run);
    assert_eq!(admin.execution_of(&caller, id, run.id).await?, run);

    let (second, _) = admin.create_account("second", None).await?;
    let second = Caller::for_account(second.id);
    let other = admin.create_function(&second, spec("a source")).await?.id;
    assert_eq!(kind(admin.execution_of(&second, other, run.id).await), ErrorKind::Invalid);
    assert_eq!(kind(admin.executions(&second, id, &request).await), ErrorKind::Invalid);
    // It is in the cache, but another account's.
    let invoked = admin.invoke(&second, id, InvokeRequest::default()).await;
    assert_eq!(kind(invoked), ErrorKind::Invalid);
    let wrong = ExecutionQuery { limit: 0, offset: 0 };
    assert_eq!(kind(admin.executions(&caller, id, &wrong).await), ErrorKind::Invalid);
    Ok(())
}
