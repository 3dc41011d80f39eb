use std::time::{Duration, Instant};

use webhook_core::function::{FunctionError, FunctionRuntime};

use super::fixture::{complete, invocation, runtime};
use crate::js::JsRuntime;

#[tokio::test]
async fn nothing_is_left_for_the_next_call() {
    let runtime = JsRuntime::builder().running_calls(1, 1).build().expect("threads");
    let spoil = invocation(
        "globalThis.kept = 1; implicit = 2; var declared = 3; Array.prototype.map = () => 'spoilt'; \
         Object.prototype.inherited = 4; JSON.parse = null; Object.defineProperty(r, 'own', { value: 5 }); cfg.own = 6; String.prototype.toWellFormed = null; \
         RegExp.prototype.exec = null; Reflect.apply = null; delete globalThis.console",
    );
    for _ in 0..3 {
        runtime.run(spoil.clone()).await.result.expect("may spoil its own");
        let mut look = invocation(
            "r.body = [typeof kept, typeof implicit, typeof declared, [1].map((x) => x + 1), {}.inherited, \
             typeof JSON.parse, 'own' in r, cfg.own, typeof console, /a/.test('a')].join()",
        );
        look.account_id = spoil.account_id;
        look.function_id = spoil.function_id;
        let left = runtime.run(look).await.result.expect("unspoilt");
        assert_eq!(
            left.request.body,
            "undefined,undefined,undefined,2,,function,false,,object,true"
        );
    }
}

#[tokio::test]
async fn a_script_that_spoils_the_library_still_gets_its_request_through() {
    let spoilt = "const owners = [Array, String, Object, RegExp, Map, Promise].map((c) => c.prototype), \
        { ownKeys } = Reflect; \
        for (let i = 0; i < owners.length; i++) { const keys = ownKeys(owners[i]); \
        for (let j = 0; j < keys.length; j++) try { owners[i][keys[j]] = () => { throw new Error('spoilt') } } catch {} } \
        const names = ownKeys(globalThis); \
        for (let j = 0; j < names.length; j++) try { globalThis[names[j]] = null } catch {}";
    let completion =
        complete(&runtime(), &format!("const own = r; {spoilt}; own.body = 'x'")).await;
    assert_eq!(completion.result.expect("runs").request.body, "x");
}

#[tokio::test]
async fn the_prelude_cannot_be_imported() {
    let source = "URL; crypto.subtle; const left = []; for (const name of ['base', 'modules', 'web', 'subtle', \
        'styles', 'locales', 'texts', 'collections', 'binary', 'dates']) { try { const found = await import(name); left.push(found.part, found.take()); } catch {} } \
        r.body = left.map((found) => typeof found).join()";
    let left = complete(&runtime(), source).await.result.expect("runs").request.body;
    let found = String::from_utf8_lossy(&left).into_owned();
    assert!(found.split(',').all(|kind| kind.is_empty() || kind == "undefined"), "{found}");
}

#[tokio::test]
async fn what_is_made_late_is_bounded_in_a_spoilt_library_as_well() {
    let mut limits = webhook_core::function::ScriptLimits::default();
    limits.compute_time = Duration::from_millis(200);
    let runtime = JsRuntime::builder().limits(limits).build().expect("threads");
    let spoil = "Reflect.apply = Reflect.defineProperty = () => {}; performance = { now: () => 0 }; \
        Array.prototype[Symbol.iterator] = function* () {}; Object.freeze = (o) => o;";
    for source in [
        "for (;;) crypto.sha512('a'.repeat(8e6))",
        "for (;;) new URL('http://a.example/' + 'b'.repeat(1e6))",
        "for (;;) xml.encode({ a: 'b'.repeat(4e6) })",
        "const bytes = new Uint8Array(4e6); for (;;) bytes.indexOf(1)",
        "const bytes = r.bodyBytes.constructor.from(new Uint8Array(4e6)); for (;;) bytes.join()",
        "const long = 'a'.repeat(4e6), map = new Map([[long, 1]]); for (;;) map.get('a'.repeat(4e6))",
        "for (;;) Date.parse('2024-01-01' + ' '.repeat(4e6))",
        "const text = 'ab,'.repeat(350010), part = 'ab,'.repeat(70); for (;;) text.split(part)",
        "for (;;) parseFloat('1'.repeat(4e6))",
        "const list = []; list.length = 4e6; for (;;) Reflect.apply(Math.max, null, list)",
    ] {
        let ended = complete(&runtime, &format!("{spoil} {source}")).await;
        let limit = matches!(ended.result, Err(FunctionError::Limit(_)));
        assert!(limit && ended.duration < Duration::from_secs(2), "{source}: {ended:?}");
    }
}

#[tokio::test]
async fn what_is_bounded_is_not_to_be_had_without_its_bounds() {
    let source = "const natives = new Set(); \
        Object.prototype.get = Object.prototype.has = (target) => { natives.add(target) }; \
        for (const stand of [Map, Set, RegExp, String, Number, Date, ArrayBuffer, Uint8Array]) { \
        stand.x; 'x' in stand; if (stand.prototype.constructor !== stand) natives.add(stand) } \
        r.x = undefined";
    let ended = complete(&runtime(), source).await;
    let error = ended.result.expect_err("r has no field x").to_string();
    assert!(error.contains("r has no field"), "{error}");
    let left = source.replace("r.x = undefined", "r.body = String(natives.size)");
    assert_eq!(super::fixture::body(&left).await, "0");
}

#[tokio::test]
async fn an_account_with_many_calls_does_not_keep_another_waiting() {
    let runtime = JsRuntime::builder().computing(2).build().expect("threads");
    let busy = invocation("for (const end = Date.now() + 400; Date.now() < end;) {}");
    let many = futures_util::future::join_all((0..12).map(|_| runtime.run(busy.clone())));
    let other = async {
        let started = Instant::now();
        for _ in 0..5 {
            complete(&runtime, "r.body = 'x'").await.result.expect("runs");
        }
        started.elapsed()
    };
    let (_, took) = futures_util::join!(many, other);
    // In the order of arrival it would wait for more than two seconds.
    assert!(took < Duration::from_millis(1500), "{took:?}");
}

#[tokio::test]
async fn a_script_finds_what_it_names_as_one_that_may_name_anything_does() {
    let runtime = runtime();
    for source in [
        "const { name, n } = JSON.parse(r.body); r.body = `${name} has ${n.length} and ${n}`",
        "r.body = [3, 1, 2].sort().concat([4], 5).map((x) => x * 2).join('-') + [1, [2]]",
        "r.body = 'a,b'.split(',').includes('b') + 'x'.repeat(3).padStart(5, '.') + 'ab'.indexOf('b')",
        "r.body = 'a1b2'.replace(/[0-9]/g, (d) => d * 2) + /b/.test('abc') + 'a/b'.split(/\\//).length",
        "r.body = [...'a1b2'.matchAll('[0-9]')].flat().join() + 'abc'.search('c') + 'abc'.match('b').index",
        "r.body = Object.keys({ a: 1 }) + Object.entries({ a: [1] }).flat() + Number('12') + String([1])",
        "const found = await Promise.all([1, Promise.resolve(2)]); r.body = found.join()",
        "const { sort } = [], key = 'map'; r.body = [1, 2][key]((x) => x + 1).join() + typeof sort",
        "r.body = ['b', 'a'].toSorted((a, b) => a.localeCompare(b)).join() + 'é'.normalize('NFD').length",
        "r.body = [...new Set([1, 1, 2])].length + [...new Map([[1, 2]]).keys()].join() + [1, 2].at(-1)",
        "r.body = crypto.sha256('a') + base64.encode('b') + new URL('https://a.example/b?c=d').search",
        "function transform(payload) { payload.more = `${payload.name}!`; return payload }",
        "r.body = String(new RegExp('a+').exec('caab')) + Array.from({ length: 2 }).length + String.raw`a${1}`",
    ] {
        let own = complete(&runtime, source).await;
        let all = complete(&runtime, &format!("{source}\n// globalThis")).await;
        let own = own.result.unwrap_or_else(|error| panic!("{source}: {error}")).request.body;
        assert_eq!(own, all.result.expect(source).request.body, "{source}");
    }
}

#[tokio::test]
async fn what_a_script_cannot_come_to_is_not_there() {
    // The pattern's name is one that nothing in this source could be taken for.
    let source = "const found = []; for (const name of ['x']) found.push(typeof [].at, typeof [].shift, \
        typeof ''.at); r.body = found.join()";
    assert_eq!(super::fixture::body(source).await, "function,function,function");
    let natives = "const { values } = Object, { f } = { f: (o) => values(Object.entries(o)).length }; \
        r.body = String(f([]) + f('') + f(JSON))";
    assert_eq!(super::fixture::body(natives).await, "0");
}
