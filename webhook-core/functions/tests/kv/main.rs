//! What functions of both languages keep between their calls.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Method};
use webhook_core::{
    AccountId, Clock, FunctionId, Timestamp,
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    function::{FunctionError, FunctionRuntime, Invocation, ScriptLimits, Trial},
    model::{Checks, Driver, Function, FunctionSpec, Request},
    store::{DocumentStore, memory::MemoryStore},
};
use webhook_functions::{js::JsRuntime, lua::LuaRuntime};

/// A runtime of each language.
type Runtimes = [(Driver, Arc<dyn FunctionRuntime>); 2];
type Tested = Result<(), Box<dyn std::error::Error>>;

/// A clock that stands still. Scripts run on threads of their own, where tokio's paused time
/// is not.
#[derive(Debug)]
struct StoppedClock(AtomicI64);

#[async_trait]
impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_secs(self.0.load(Ordering::Relaxed))
    }

    async fn sleep_until(&self, _moment: Timestamp) {}
}

struct World {
    store: Arc<MemoryStore>,
    clock: Arc<StoppedClock>,
    limits: ScriptLimits,
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(StoppedClock(AtomicI64::new(1_000)));
        let mut limits = ScriptLimits::default();
        (limits.kv_calls, limits.kv_keys, limits.kv_value_bytes) = (6, 3, 100);
        Self { store: Arc::default(), clock, limits }
    }

    fn runtimes(&self) -> Result<Runtimes, std::io::Error> {
        let (clock, store) = (self.clock.clone(), self.store.clone());
        let lua = LuaRuntime::builder().limits(self.limits.clone()).threads(1);
        let lua =
            lua.clock(clock.clone()).store(store.clone()).forwarder(Arc::new(Nowhere)).build()?;
        let js = JsRuntime::builder().limits(self.limits.clone()).clock(clock).store(store);
        let js = js.forwarder(Arc::new(Nowhere));
        Ok([(Driver::Lua, Arc::new(lua)), (Driver::Js, Arc::new(js.build()?))])
    }

    async fn function(&self, driver: Driver) -> Result<Function, webhook_core::Error> {
        let now = self.clock.now();
        let spec = FunctionSpec::new("f", driver, "");
        let (id, account_id) = (FunctionId::generate(), AccountId::generate());
        let function = Function::new(id, account_id, now, spec);
        let documents: &dyn DocumentStore = &*self.store;
        documents.create(account_id, &function).await?;
        Ok(function)
    }
}

/// A call of the function with this source.
fn call(function: &Function, source: &str) -> Invocation {
    let request = Request {
        method: Method::POST,
        extra_path: String::new(),
        raw_query: String::new(),
        headers: HeaderMap::new(),
        body: Bytes::new(),
    };
    Invocation {
        account_id: function.account_id,
        function_id: function.id,
        revision: 1,
        driver: function.spec.driver,
        source: Arc::from(source),
        config: Arc::default(),
        metadata: BTreeMap::new(),
        checks: Checks::default(),
        request,
        response: None,
        trial: None,
    }
}

/// The body that a call of the function leaves, or why it fails.
async fn run(
    runtime: &dyn FunctionRuntime,
    function: &Function,
    source: &str,
) -> Result<String, FunctionError> {
    let outcome = runtime.run(call(function, source)).await.result?;
    Ok(String::from_utf8_lossy(&outcome.request.body).into_owned())
}

/// A forwarder that no request may reach.
#[derive(Debug)]
struct Nowhere;

#[async_trait]
impl Forwarder for Nowhere {
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        panic!("{} was sent", request.url)
    }
}

#[tokio::test]
async fn a_trial_works_on_a_copy_and_sends_nothing() -> Tested {
    let world = World::new();
    for (driver, runtime) in world.runtimes()? {
        let function = world.function(driver).await?;
        let counts = pick(
            driver,
            r#"local kv = require("kv"); r:SetRequestBody(tostring(kv.incr("calls")))"#,
            r#"r.body = String(kv.incr("calls"))"#,
        );
        assert_eq!(run(&*runtime, &function, counts).await?, "1", "{driver}");
        let tried = async |trial: &Arc<Trial>, source: &str| {
            let call = Invocation { trial: Some(trial.clone()), ..call(&function, source) };
            runtime.run(call).await.result.map(|outcome| outcome.request.body)
        };
        // Each trial begins with what is stored, and its runs see each other.
        for _ in 0..2 {
            let trial = Arc::default();
            for expected in ["2", "3"] {
                assert_eq!(tried(&trial, counts).await?, expected, "{driver}");
            }
        }
        let removes = pick(
            driver,
            r#"local kv = require("kv"); kv.delete("calls"); kv.set("a", "x")
            r:SetRequestBody(tostring(kv.get("calls")) .. kv.get("a"))"#,
            r#"kv.delete("calls"); kv.set("a", "x"); r.body = `${kv.get("calls") ?? "nil"}${kv.get("a")}`"#,
        );
        assert_eq!(tried(&Arc::default(), removes).await?, "nilx", "{driver}");
        let fills = pick(
            driver,
            r#"local kv = require("kv"); for i = 1, 4 do assert(kv.set("k" .. i, "v")) end"#,
            r#"for (let i = 1; i <= 4; i++) kv.set("k" + i, "v")"#,
        );
        let full = tried(&Arc::default(), fills).await.expect_err("it has three keys").to_string();
        assert!(full.contains("has 3 keys already"), "{driver}: {full}");
        let sends = pick(
            driver,
            r#"local http = require("http"); assert(http.get("http://127.0.0.1:9"))"#,
            r#"await fetch("http://127.0.0.1:9")"#,
        );
        let refused = tried(&Arc::default(), sends).await.expect_err("it sends").to_string();
        assert!(refused.contains("only tried sends no requests"), "{driver}: {refused}");
        assert_eq!(run(&*runtime, &function, counts).await?, "2", "{driver}: nothing was stored");
    }
    Ok(())
}

/// The source in the language of the function.
fn pick<'a>(driver: Driver, lua: &'a str, js: &'a str) -> &'a str {
    if driver == Driver::Lua { lua } else { js }
}

#[tokio::test]
async fn values_last_from_one_call_to_the_next() -> Tested {
    let world = World::new();
    for (driver, runtime) in world.runtimes()? {
        let function = world.function(driver).await?;
        let source = pick(
            driver,
            r#"local kv = require("kv")
            local last = kv.get("last")
            kv.set("last", "\255 " .. kv.incr("calls"))
            kv.set("gone", "x"); kv.delete("gone")
            r:SetRequestBody((last or "none"):gsub("\255", "bytes") .. " " .. tostring(kv.get("gone")))"#,
            r#"const last = kv.get("last", true);
            const shown = last ? "bytes " + String.fromCharCode(last[2]) : "none";
            kv.set("last", new Uint8Array([255, 32, 48 + kv.incr("calls")]));
            kv.set("gone", "x"); kv.delete("gone");
            r.body = `${shown} ${kv.get("gone") ?? "nil"}`"#,
        );
        for expected in ["none nil", "bytes 1 nil", "bytes 2 nil"] {
            assert_eq!(run(&*runtime, &function, source).await?, expected, "{driver}");
        }
        let other = world.function(driver).await?;
        assert_eq!(run(&*runtime, &other, source).await?, "none nil", "{driver}: keys of its own");
    }
    Ok(())
}

#[tokio::test]
async fn a_script_that_only_counts_runs() -> Tested {
    let world = World::new();
    for (driver, runtime) in world.runtimes()? {
        for source in pick(
            driver,
            "require('kv').incr('calls')\0local function count() require('kv').incr('calls') end count()",
            "kv.incr('calls')\0const count = () => kv.incr('calls'); count()\0\
             ['a'].forEach(() => kv.incr('calls'))\0\
             await new Promise(f => setTimeout(f, 1)); kv.incr('calls')\0\
             function count() { kv.incr('calls') } setTimeout(count, 1)",
        )
        .split('\0')
        {
            let function = world.function(driver).await?;
            assert_eq!(runtime.check(driver, source).await, Ok(()), "{driver}: {source}");
            assert_eq!(run(&*runtime, &function, source).await?, "", "{driver}: {source}");
            let read = pick(
                driver,
                "r:SetRequestBody(require('kv').get('calls'))",
                "r.body = kv.get('calls')",
            );
            assert_eq!(run(&*runtime, &function, read).await?, "1", "{driver}: {source}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_rate_is_limited_by_a_counter_that_expires() -> Tested {
    let world = World::new();
    for (driver, runtime) in world.runtimes()? {
        let function = world.function(driver).await?;
        let source = pick(
            driver,
            r#"local n = require("kv").incr("minute", 1, 60)
            r:SetRequestBody(n > 2 and "stop" or tostring(n))"#,
            r#"const n = kv.incr("minute", 1, 60); r.body = n > 2 ? "stop" : String(n)"#,
        );
        for expected in ["1", "2", "stop"] {
            assert_eq!(run(&*runtime, &function, source).await?, expected, "{driver}");
            world.clock.0.fetch_add(19, Ordering::Relaxed);
        }
        world.clock.0.fetch_add(3, Ordering::Relaxed);
        assert_eq!(run(&*runtime, &function, source).await?, "1", "{driver}");
    }
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_kept_says_why() -> Tested {
    let world = World::new();
    for (driver, runtime) in world.runtimes()? {
        let function = world.function(driver).await?;
        for (lua, js, why) in [
            (r#"kv.set("", "x")"#, r#"kv.set("", "x")"#, "kv: a key is a text of 1 to 256 bytes"),
            (
                r#"kv.set("k", ("x"):rep(101))"#,
                r#"kv.set("k", "x".repeat(101))"#,
                "kv: a value is of at most 100 bytes",
            ),
            (r#"kv.set("k", "x", -1)"#, r#"kv.set("k", "x", -1)"#, "kv: a value is kept for"),
            (
                r#"kv.set("t", "ten"); return kv.incr("t")"#,
                r#"kv.set("t", "ten"); kv.incr("t")"#,
                "kv: the value of the key is not a whole number",
            ),
            (
                r#"for i = 1, 3 do kv.set("k" .. i, i) end; return kv.set("k4", 4)"#,
                r#"for (let i = 1; i < 5; i++) kv.set("k" + i, i)"#,
                "kv: the function has 3 keys already",
            ),
        ] {
            let lua = match lua.contains("return") {
                true => lua.to_owned(),
                false => format!("return {lua}"),
            };
            let lua = format!(
                "local kv = require('kv')\nlocal _, why = (function() {lua} end)()\nr:SetRequestBody(why)"
            );
            let js = format!("try {{ {js} }} catch (e) {{ r.body = e.message }}");
            let said = run(&*runtime, &function, pick(driver, &lua, &js)).await?;
            assert!(said.starts_with(why), "{driver}: {said}");
        }
        let source = pick(
            driver,
            "for i = 1, 7 do pcall(require('kv').get, 'k') end",
            "for (let i = 1; i < 8; i++) try { kv.get('k') } catch (e) { throw e }",
        );
        let ended = run(&*runtime, &function, source).await;
        assert_eq!(ended, Err(FunctionError::Limit("kv calls, at most 6".to_owned())), "{driver}");
    }
    Ok(())
}

#[tokio::test]
async fn without_a_store_nothing_is_kept() -> Tested {
    let world = World::new();
    let runtimes: Runtimes = [
        (Driver::Lua, Arc::new(LuaRuntime::builder().threads(1).build()?)),
        (Driver::Js, Arc::new(JsRuntime::builder().build()?)),
    ];
    for (driver, runtime) in runtimes {
        let function = world.function(driver).await?;
        let source = pick(driver, "assert(require('kv').get('k'))", "kv.get('k')");
        let ended = run(&*runtime, &function, source).await.map_err(|error| error.to_string());
        let why = ended.expect_err("it fails");
        assert!(why.contains("functions may not keep values on this server"), "{driver}: {why}");
    }
    Ok(())
}
