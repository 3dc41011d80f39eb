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

/// Runs a script until its engine would be kept, and then on; returns the bodies that it left.
async fn repeated(runtime: &JsRuntime, source: &str) -> Vec<String> {
    let call = invocation(source);
    let mut bodies = Vec::new();
    for _ in 0..5 {
        let left = runtime.run(call.clone()).await.result;
        let left = left.unwrap_or_else(|error| panic!("{source}: {error}"));
        bodies.push(String::from_utf8_lossy(&left.request.body).into_owned());
    }
    bodies
}

/// A runtime with one thread.
fn single() -> JsRuntime {
    JsRuntime::builder().running_calls(1, 1).build().expect("threads")
}

fn made(runtime: &JsRuntime) -> usize {
    runtime.shared.made.load(std::sync::atomic::Ordering::Relaxed)
}

#[tokio::test]
async fn an_engine_is_kept_for_a_source_that_leaves_nothing() {
    for source in [
        "if (r.method !== 'POST') r.stopForwarding()",
        "const a = JSON.parse(r.body); a.n.push(3); r.body = a",
        "r.body = JSON.parse(r.body).n.map((n) => n + 1).join('-')",
        "function transform(payload) { payload.n.push(3); return payload }",
        "addHandler('transform', (request) => { request.body.n.push(3); return request })",
        "function handler(webhook) { webhook.payload.n.push(3); return webhook }",
        "r.setHeader('x-a', crypto.sha256(r.body)); r.body = `${cfg.get('TOKEN')}`",
        "await new Promise((f) => setTimeout(f, 1)); r.body = new URL('http://a/b').pathname",
        "console.log(r.query.a, r.headers['x-token']); r.body = r.metadata.bucket_name",
        "class A extends Map {} const found = new A([[1, 2]]); r.body = [...found.keys()].join()",
        "try { null.a } catch (error) { error.more = 1; r.body = error.name }",
        "function f() { f.calls = (f.calls ?? 0) + 1 } f(); r.body = String(f.calls)",
        "const a = JSON.parse(r.body), k = 'n'; a[k].push(a[k][0]); r.body = a[k].map((n) => n + 1).join('-')",
        "const a = {}; for (const k in JSON.parse(r.body)) a[k] = new Map([[k, /a/.test(k)]]).get(k); r.body = a",
        "const k = 'x-token'; r.headers[k] = new URL('http://a/?b=c').searchParams.get('b'); r.body = Date.UTC(2024)",
        "const { name } = JSON.parse(r.body); delete r.headers['x-token']; r.body = name + 'é'.normalize()",
    ] {
        let runtime = single();
        let bodies = repeated(&runtime, source).await;
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{source}: {bodies:?}");
        // One for the first call, one that is kept, and one that is made ahead.
        assert!(made(&runtime) <= 3, "{source}: {} engines", made(&runtime));
    }
}

#[tokio::test]
async fn nothing_is_left_in_an_engine_that_is_kept() {
    // The name of a prototype is put together: a source that has it as a word has a new engine.
    for source in [
        "try { leak; r.body = 'found' } catch { r.body = 'none' } leak = 1",
        "try { leak; r.body = 'found' } catch { r.body = 'none' } leak = undefined",
        "r.body = typeof console; delete console; leak = 1",
        "r.body = typeof console.log.leak; console.log.leak = 1",
        "r.body = typeof console.leak; console.leak = 1",
        "r.body = typeof [].map.leak; [].map.leak = 1",
        "r.body = typeof ''.at.leak + typeof [].at.leak; ''.at.leak = [].at.leak = 1",
        "r.body = typeof JSON.leak; JSON.leak = 1",
        "r.body = typeof JSON.parse; JSON.parse = null",
        "r.body = typeof JSON.parse.leak; JSON.parse.leak = 1",
        "r.body = typeof Math.max; Math.max = 1",
        "r.body = Math.max(1, 2) + typeof Math.leak; Object.assign(Math, { max: () => 9, leak: 1 })",
        "r.body = String(Object.isExtensible(Error)); Object.preventExtensions(Error)",
        "r.body = String(Object.isFrozen(console)); Object.freeze(console)",
        "r.body = typeof Object.keys.leak; Object.keys.leak = 1",
        "r.body = typeof crypto.sha256.leak; crypto.sha256.leak = 1",
        "r.body = typeof Object.values(crypto)[0].leak; Object.values(crypto)[0].leak = 1",
        "r.body = typeof URL.leak; URL.leak = 1",
        "const url = new URL('http://a'); r.body = typeof url.toString.leak; url.toString.leak = 1",
        "r.body = typeof r.setHeader.leak; r.setHeader.leak = 1",
        "r.body = String(Object.keys(process.env).length); process.env.leak = 1",
        "r.body = typeof new Map().get.leak; new Map().get.leak = 1",
        "const next = [].values().next; r.body = typeof next.leak; next.leak = 1",
        "const p = (async () => {})(); r.body = typeof p.then.leak; p.then.leak = 1",
        "function* f() {} r.body = typeof f().next.leak; f().next.leak = 1",
        "r.body = typeof cfg.get.leak; cfg.get.leak = 1",
        "const own = r; own.body = typeof r; r = 1; r = own",
        "r.body = typeof fetch.leak; fetch.leak = 1",
        "r.body = typeof setTimeout(() => {}, 1); r.body = String(setTimeout(() => {}, 1))",
        "const a = 'text'; let b = 'none'; try { a.leak = 1 } catch { b = 'refused' } r.body = b + r.body.length; r.body = b",
        "r.body = JSON.stringify({ n: 0.5 }); JSON.parse('{\"n\":5e-1}')",
        "r.body = typeof Array.isArray; Array.isArray = 1; r.body += typeof Array.from; Array = 1",
        "r.body = typeof Symbol.leak; Symbol.leak = 1",
        "r.body = typeof (() => {}).call.leak; (() => {}).call.leak = 1",
        "r.body = typeof crypto.subtle.sign.leak; crypto.subtle.sign.leak = 1",
        "r.body = typeof /a/.test.leak; /a/.test.leak = 1",
        "const b = r.bodyBytes; r.body = typeof b.at.leak + typeof b.join.leak; b.at.leak = b.join.leak = 1",
        "r.body = typeof 'a'.matchAll(/a/g).next.leak; 'a'.matchAll(/a/g).next.leak = 1",
        "const next = new Map().keys().next; r.body = typeof next.leak; next.leak = 1",
        "const next = [].values().map((a) => a).next; r.body = typeof next.leak; next.leak = 1",
        "const k = '__pro' + 'to__'; r.body = typeof ({}).leak; ({})[k].leak = 1",
        "const k = '__pro' + 'to__'; r.body = [1].map((a) => a + 1).join(); [][k].map = () => ['spoilt']",
        "const k = '__pro' + 'to__'; r.body = typeof new Error('a').leak; new Error('a')[k].leak = 1",
        "const k = '__pro' + 'to__'; r.body = typeof 'a'.big + typeof 'a'.leak; delete 'a'[k].at; 'a'[k].leak = 1",
        "const k = '__pro' + 'to__', f = () => {}; r.body = typeof f.leak; f[k].leak = 1",
        "const k = '__pro' + 'to__', f = async () => {}; r.body = typeof f.leak; f[k].leak = 1",
        "const k = '__pro' + 'to__', f = async () => {}; r.body = typeof f().leak; f()[k].leak = 1",
        "const k = '__pro' + 'to__', m = /a/; r.body = typeof m.leak; m[k].leak = 1",
        "const k = '__pro' + 'to__', m = new Map().keys(); r.body = typeof m.leak; m[k].leak = 1",
        "const k = '__pro' + 'to__', m = new URL('http://a').searchParams; r.body = typeof m.leak; m[k].leak = 1",
        "const k = '__pro' + 'to__', m = new Blob(['a']).stream(); r.body = typeof m.leak; m[k].leak = 1",
        "const k = '__pro' + 'to__', b = r.bodyBytes; r.body = typeof b.leak; b[k][k].leak = 1",
        "const k = 'construc' + 'tor'; r.body = typeof ''[k].leak; ''[k].leak = 1",
        "const k = 'construc' + 'tor'; r.body = typeof [][k].isArray; [][k].isArray = 1",
        "const k = '__pro' + 'to__'; try { null.a } catch (e) { r.body = typeof e.leak; e[k].leak = 1 }",
        "const k = '__pro' + 'to__'; try { JSON.parse('{') } catch (e) { r.body = typeof e.leak; e[k].leak = 1 }",
        "const k = '__pro' + 'to__'; try { await Promise.any([]) } catch (e) { r.body = typeof e.leak; e[k].leak = 1 }",
        "const k = '__pro' + 'to__'; try { decodeURI('%') } catch (e) { r.body = typeof e.leak; e[k].leak = 1 }",
        "const k = ['__pro' + 'to__', 'leak']; r.body = typeof 1[k[1]]; 1[k[0]][k[1]] = 1",
        "function* f() {} const k = '__pro' + 'to__'; r.body = typeof f().leak; f()[k][k].leak = 1",
        "const k = 'log'; r.body = typeof console[k].leak; console[k].leak = 1",
        "const q = new URL('http://a?b=c').searchParams; r.body = typeof q.get.leak; q.get.leak = 1",
        "const s = new Blob(['a']).stream(); r.body = typeof s.getReader.leak; s.getReader.leak = 1",
        "r.body = typeof new Date().getTime.leak; new Date().getTime.leak = 1",
        "if (r.method === 'GET') addHandler('transform', (a) => a); r.body = 'a'",
    ] {
        let runtime = single();
        let bodies = repeated(&runtime, source).await;
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{source}: {bodies:?}");
    }
}

#[tokio::test]
async fn a_call_finds_its_own_request_in_an_engine_that_is_kept() {
    let runtime = single();
    let source = "r.body = [r.body, r.path, r.query.a, r.headers['x-token'], r.metadata.bucket_name, \
        cfg.get('TOKEN'), r.verified, r.eventType, r.bodyBytes.length, JSON.stringify(JSON.parse(r.body))].join('|')";
    let mut call = invocation(source);
    for number in 0..6 {
        let (body, text) = (format!("{{\"n\":{number}.50}}"), format!("v{number}"));
        call.request.body = body.clone().into();
        call.request.extra_path = format!("/{text}");
        call.request.raw_query = format!("a={text}");
        call.request.headers = super::fixture::headers(&[]);
        call.request.headers.insert("x-token", text.parse().expect("a value"));
        call.metadata.insert("bucket_name".to_owned(), text.clone());
        call.config = std::sync::Arc::new([("TOKEN".to_owned(), text.clone())].into());
        call.checks.verified = Some(number % 2 == 0);
        call.checks.event = Some(text.clone());
        let left = runtime.run(call.clone()).await.result.expect("runs").request.body;
        let verified = number % 2 == 0;
        let expected = format!(
            "{body}|/{text}|{text}|{text}|{text}|{text}|{verified}|{text}|{}|{body}",
            body.len()
        );
        assert_eq!(String::from_utf8_lossy(&left), expected);
    }
    assert!(made(&runtime) <= 3);
}

#[tokio::test]
async fn an_engine_is_dropped_after_an_error_or_a_limit_and_each_call_has_its_own_limits() {
    let runtime = single();
    let mut call = invocation(
        "const { name } = JSON.parse(r.body); if (name === 'throw') throw new Error('a'); \
        while (name === 'loop'); console.log(name); \
        for (let i = 0; i < 9; i++) try { await http.get('http://a.example/') } catch {} r.body = name",
    );
    for name in ["a", "b", "c", "throw", "d", "loop", "e", "f"] {
        call.request.body = format!("{{\"name\":\"{name}\"}}").into();
        let ended = runtime.run(call.clone()).await;
        match name {
            "throw" => assert!(matches!(ended.result, Err(FunctionError::Script(_)))),
            "loop" => assert!(matches!(ended.result, Err(FunctionError::Limit(_)))),
            _ => {
                assert_eq!(ended.result.expect("runs").request.body, name);
                assert_eq!(ended.logs, [name]);
            }
        }
    }
}
