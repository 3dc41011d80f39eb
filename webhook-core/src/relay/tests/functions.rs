//! Functions in the data path, over a runtime that does as its source says.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use super::*;
use crate::{
    function::{Completion, FunctionError, FunctionRuntime, Invocation, ScriptOutcome},
    id::FunctionId,
    model::{Driver, Durability, ExecutionStatus, Function, FunctionSpec, ProcessPolicy, Resend},
};

/// `set …` sets the body, `fail` fails, `fail rarely` the 31st time, `stop` stops, `print` prints, `busy` is busy the first
/// time it runs, `busy 20` twenty times, and `full` always.
#[derive(Debug, Default)]
struct Obeys {
    runs: AtomicUsize,
    bodies: Mutex<Vec<Bytes>>,
}

#[async_trait::async_trait]
impl FunctionRuntime for Obeys {
    async fn check(&self, _: Driver, _: &str) -> Result<(), FunctionError> {
        Ok(())
    }

    async fn run(&self, invocation: Invocation) -> Completion {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let Invocation { mut request, source, .. } = invocation;
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner).push(request.body.clone());
        let result = match &*source {
            "fail rarely" if run == 30 => Err(FunctionError::Script("function:1: no".to_owned())),
            "fail" => Err(FunctionError::Script("function:1: no".to_owned())),
            "busy" if run == 0 => Err(FunctionError::Busy),
            "busy 20" if run < 20 => Err(FunctionError::Busy),
            "full" => Err(FunctionError::Busy),
            source => {
                if let Some(body) = source.strip_prefix("set ") {
                    request.body = Bytes::from(body.to_owned());
                }
                Ok(ScriptOutcome {
                    request,
                    response: None,
                    response_modified: false,
                    stop_forwarding: source == "stop",
                })
            }
        };
        let logs = Vec::from_iter((&*source == "print").then(|| "a line".to_owned()));
        Completion { result, logs, duration: Duration::ZERO }
    }
}

/// A world with a function that is its input's, or its only output's.
async fn world_with(
    source: &str,
    of_input: bool,
    options: RelayOptions,
) -> (World, Function, Arc<Obeys>) {
    let id = FunctionId::generate();
    let mut world = World::with(BucketSpec::default(), InputSpec::default(), options.clone()).await;
    let runtime = Arc::new(Obeys::default());
    world.relay = Webhooks::builder(world.stores.clone())
        .forwarder(world.forwarder.clone())
        .clock(TokioClock::starting_at(START))
        .functions(runtime.clone())
        .options(options)
        .build()
        .relay()
        .clone();
    let function = function(&world, id, source);
    world.stores.documents.create(function.account_id, &function).await.expect("a new function");
    if of_input {
        let input = &mut world.bucket.inputs[0];
        input.spec.function_id = Some(id);
        let updated = world.stores.documents.update_input(function.account_id, input).await;
        updated.expect("the input is there");
    }
    world
        .output(OutputSpec {
            name: "o".to_owned(),
            destination: HOOK.to_owned(),
            function_id: (!of_input).then_some(id),
            ..OutputSpec::default()
        })
        .await;
    (world, function, runtime)
}

fn function(world: &World, id: FunctionId, source: &str) -> Function {
    let spec = FunctionSpec { payload: source.to_owned(), ..FunctionSpec::default() };
    Function::new(id, world.bucket.account_id, START, spec)
}

#[tokio::test(start_paused = true)]
async fn a_change_is_seen_when_it_is_told_or_when_the_snapshot_is_old() {
    let options =
        RelayOptions { route_max_age: Some(Duration::from_secs(5)), ..RelayOptions::default() };
    let (mut world, made, _) = world_with("set first", false, options).await;
    world.deliver().await;
    let mut bodies = Vec::new();
    let mut post = async |world: &mut World| {
        world.post("x").await;
        bodies.push(());
        world.forwarder.finished(bodies.len()).await;
        world.forwarder.requests()[bodies.len() - 1].body.clone()
    };
    assert_eq!(post(&mut world).await, "first");
    let change = async |world: &World, source: &str| {
        let account = made.account_id;
        let read = world.stores.documents.get::<Function>(account, made.id.as_uuid()).await;
        let known = read.expect("readable").expect("it is there").version;
        let changed = function(world, made.id, source);
        let update = [Change::update(account, &changed, known).expect("a document")];
        world.stores.documents.apply(&update).await.expect("nobody else changes it");
    };
    // By another node, which tells nobody.
    change(&world, "set second").await;
    assert_eq!(post(&mut world).await, "first");
    tokio::time::advance(Duration::from_secs(6)).await;
    assert_eq!(post(&mut world).await, "second");
    change(&world, "set third").await;
    world.relay.function_changed(made.id);
    assert_eq!(post(&mut world).await, "third");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_busy_runtime_is_a_503_that_stores_nothing_and_a_retry() {
    let (mut world, ..) = world_with("busy", true, RelayOptions::default()).await;
    world.deliver().await;
    assert_eq!(world.post("x").await.status(), 503);
    assert_eq!(world.post("y").await.status(), 200);
    world.forwarder.finished(1).await;
    assert_eq!(world.forwarder.requests()[0].body, "y");
    let account = world.bucket.account_id;
    let logs = world.stores.logs.logs(account, &crate::store::LogQuery::default()).await;
    assert!(logs.expect("readable").total <= 1, "what was refused is not stored");
    world.stop().await;

    let (mut world, _, runtime) = world_with("busy", false, RelayOptions::default()).await;
    world.deliver().await;
    assert_eq!(world.post("z").await.status(), 200);
    world.forwarder.finished(1).await;
    assert_eq!(world.forwarder.requests()[0].body, "z");
    assert_eq!(runtime.runs.load(Ordering::Relaxed), 2);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_full_pool_of_functions_uses_no_attempt() {
    let (mut world, _, runtime) = world_with("busy 20", false, RelayOptions::default()).await;
    world.deliver().await;
    assert_eq!(world.post("x").await.status(), 200);
    world.forwarder.finished(1).await;
    let log = world.outcome_of_request(0).await;
    assert_eq!(runtime.runs.load(Ordering::Relaxed), 21);
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Sent, 1));
    // Each wait was one to two seconds, and none grew as those of a retry do.
    let waited = world.relay.functions.clock.now().since(START);
    assert!((20..=42).contains(&waited.as_secs()), "{waited:?}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_stays_full_fails_the_delivery_at_its_deadline() {
    let id = FunctionId::generate();
    let (mut world, ..) = world_with("set x", false, RelayOptions::default()).await;
    let full = function(&world, id, "full");
    world.stores.documents.create(full.account_id, &full).await.expect("a new function");
    let durability =
        Durability { enabled: true, deadline: Duration::from_secs(60), ..Durability::default() };
    let full = OutputSpec {
        name: "full".to_owned(),
        destination: HOOK.to_owned(),
        function_id: Some(id),
        durability,
        ..OutputSpec::default()
    };
    let full = world.output(full).await;
    world.deliver().await;
    assert_eq!(world.post("x").await.status(), 200);
    let account = world.bucket.account_id;
    let log = loop {
        let page = world.stores.logs.logs(account, &all()).await.expect("readable");
        let mut of_output =
            page.logs.into_iter().filter(|log| log.delivery.output_id == Some(full));
        match of_output.next() {
            Some(log) if log.delivery.status.is_final() => break log,
            _ => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Failed, 0));
    let waited = world.relay.functions.clock.now().since(START);
    assert!((57..=60).contains(&waited.as_secs()), "{waited:?}");
    let reason = log.delivery.last.and_then(|last| last.error).expect("a reason");
    assert!(reason.contains("too many functions are running"), "{reason}");
    world.forwarder.finished(1).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_function_that_is_gone_fails_and_lets_nothing_through() {
    let (mut world, made, _) = world_with("set x", false, RelayOptions::default()).await;
    let account = world.bucket.account_id;
    world
        .stores
        .documents
        .delete::<Function>(account, made.id.as_uuid())
        .await
        .expect("it is there");
    world.deliver().await;
    assert_eq!(world.post("secret").await.status(), 200);
    let log = loop {
        let page = world.stores.logs.logs(account, &all()).await.expect("readable");
        match page.logs.into_iter().next() {
            Some(log) if log.delivery.status.is_final() => break log,
            _ => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    assert_eq!(log.delivery.status, DeliveryStatus::Failed);
    let last = log.delivery.last.expect("it has a reason");
    assert_eq!(last.error.as_deref(), Some("the output's function failed: function not found"));
    assert!(world.forwarder.requests().is_empty());
    world.stop().await;
}

fn all() -> crate::store::LogQuery {
    crate::store::LogQuery { limit: 10, ..crate::store::LogQuery::default() }
}

#[tokio::test(start_paused = true)]
async fn only_a_failed_input_function_is_run_again_by_force() {
    let (mut world, made, runtime) = world_with("fail", true, RelayOptions::default()).await;
    world.deliver().await;
    assert_eq!(world.post("came").await.status(), 500);
    let account = world.bucket.account_id;
    let failed = world.stores.logs.logs(account, &all()).await.expect("readable").logs.remove(0);
    let force =
        |log: &Log| Resend { log: log.delivery.id, output: None, policy: ProcessPolicy::Force };
    let again = world.relay.resend(account, force(&failed)).await.expect_err("it fails again");
    assert_eq!(again.kind(), crate::ErrorKind::Conflict);

    let change = async |world: &World, source: &str| {
        let account = made.account_id;
        let read = world.stores.documents.get::<Function>(account, made.id.as_uuid()).await;
        let known = read.expect("readable").expect("it is there").version;
        let changed = function(world, made.id, source);
        let update = [Change::update(account, &changed, known).expect("a document")];
        world.stores.documents.apply(&update).await.expect("nobody else changes it");
        world.relay.function_changed(made.id);
    };
    change(&world, "stop").await;
    world.relay.resend(account, force(&failed)).await.expect("it is kept, and stopped");
    let stopped = world.stores.logs.logs(account, &all()).await.expect("readable").logs.remove(0);
    assert_eq!(stopped.delivery.status, DeliveryStatus::Rejected);
    assert!(world.forwarder.requests().is_empty());

    change(&world, "set made").await;
    world.relay.resend(account, force(&failed)).await.expect("it is sent");
    world.forwarder.finished(1).await;
    assert_eq!(world.forwarder.requests()[0].body, "made");
    let log = world.outcome_of_request(0).await;
    let runs = runtime.runs.load(Ordering::Relaxed);
    world.relay.resend(account, force(&log)).await.expect("it is sent");
    world.forwarder.finished(2).await;
    assert_eq!(world.forwarder.requests()[1].body, "made");
    assert_eq!(runtime.runs.load(Ordering::Relaxed), runs, "once is enough");
    let bodies = runtime.bodies.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(bodies.iter().all(|body| body == "came"), "{bodies:?}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn of_runs_that_succeed_a_sample_is_recorded_and_each_that_fails() {
    let (mut world, made, _) = world_with("fail rarely", false, RelayOptions::default()).await;
    world.deliver().await;
    let account = world.bucket.account_id;
    let logs = async |world: &World| {
        let all = crate::store::LogQuery { limit: 100, ..Default::default() };
        world.stores.logs.logs(account, &all).await.expect("readable").logs
    };
    for number in 1..=40 {
        assert_eq!(world.post("x").await.status(), 200);
        while !(logs(&world).await.iter().all(|log| log.delivery.status.is_final())) {
            tokio::task::yield_now().await;
        }
        assert_eq!(logs(&world).await.len(), number);
    }
    let runs = async |world: &World| {
        world.stores.functions.executions(account, made.id, 100, 0).await.expect("readable")
    };
    let recorded = runs(&world).await;
    let (failed, succeeded): (Vec<_>, Vec<_>) =
        recorded.executions.iter().partition(|run| run.status == ExecutionStatus::Error);
    assert_eq!((failed.len(), succeeded.len()), (1, 10));
    assert!(recorded.executions.iter().all(|run| run.stands_for == 1), "{recorded:?}");
    let has_no_record = |log: &&Log| log.delivery.output_execution_id.is_none();
    assert_eq!(logs(&world).await.iter().filter(has_no_record).count(), 29);

    // In the next second the first one stands for those before it.
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(world.post("x").await.status(), 200);
    world.forwarder.finished(40).await;
    let log = world.outcome_of_request(39).await;
    let latest = runs(&world).await.executions.remove(0);
    assert_eq!(log.delivery.output_execution_id, Some(latest.id));
    assert_eq!(latest.stands_for, 30);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn each_run_that_prints_or_stops_is_recorded() {
    for source in ["print", "stop"] {
        let options = RelayOptions { recorded_runs: 0, ..RelayOptions::default() };
        let (mut world, made, _) = world_with(source, true, options).await;
        world.deliver().await;
        for _ in 0..3 {
            assert_eq!(world.post("x").await.status(), 200);
        }
        let account = world.bucket.account_id;
        let runs = world.stores.functions.executions(account, made.id, 9, 0).await;
        let runs = runs.expect("readable").executions;
        assert_eq!(runs.len(), 3, "{source}");
        assert!(runs.iter().all(|run| run.stands_for == 1), "{runs:?}");
        world.stop().await;
    }
}
