//! Built-in functions whose one call could go on for as long as it likes: the
//! limit of time ends each of them, and not the watchdog that answers for what
//! cannot be ended.

use std::time::{Duration, Instant};

use webhook_core::function::{FunctionError, ScriptLimits};
use webhook_functions::js::JsRuntime;

use crate::complete;

/// Each takes minutes to years when nothing looks at the time meanwhile.
const SCRIPTS: &[(&str, &str)] = &[
    ("replaceAll, a long text at each place", "'a'.repeat(1e6).replaceAll('a', 'b'.repeat(1e6))"),
    ("replaceAll, a long text between all", "'a'.repeat(1e6).replaceAll('', 'b'.repeat(1e6))"),
    ("replaceAll, a long text for a pattern", "'a'.repeat(1e6).replaceAll(/a/g, 'b'.repeat(1e6))"),
    (
        "replaceAll, long texts of a function",
        "'a'.repeat(1e6).replaceAll('a', () => 'b'.repeat(1e6))",
    ),
    ("join of a long text", "new Array(1e6).fill('a').join('b'.repeat(1e6))"),
    ("replaceAll, a template at each place", "'x'.repeat(1e6).replaceAll('', '$&'.repeat(4e6))"),
    (
        "replaceAll, an object",
        "'a'.repeat(8e6).replaceAll({ toString: () => 'a'.repeat(4e6) + 'b' }, '')",
    ),
    (
        "replaceAll, a text object",
        "'a'.repeat(8e6).replaceAll(new String('a'.repeat(4e6) + 'b'), '')",
    ),
    (
        "replaceAll, another text the second time",
        "let n = 0; const f = () => 0; f.toString = () => 'a'.repeat(n++ ? 4e6 : 1) + 'b'; 'a'.repeat(8e6).replaceAll(f, '')",
    ),
    (
        "replaceAll, found everywhere",
        "for (;;) 'a'.repeat(8e6).replaceAll('a'.repeat(2e6) + 'b', 'x')",
    ),
    ("replaceAll, a pattern's template", "'x'.repeat(1e6).replaceAll(/(?:)/g, '$1'.repeat(4e6))"),
    ("replace, a pattern's template", "'x'.repeat(1e6).replace(/(?:)/g, '$&'.repeat(4000))"),
    ("Symbol.replace", "/(?:)/g[Symbol.replace]('x'.repeat(1e6), '$&'.repeat(4e6))"),
    (
        "replace, an object",
        "'a'.repeat(8e6).replace({ toString: () => 'a'.repeat(4e6) + 'b' }, '')",
    ),
    ("split, an object", "'a'.repeat(8e6).split({ toString: () => 'a'.repeat(4e6) + 'b' })"),
    (
        "split, another text the second time",
        "let n = 0; 'a'.repeat(8e6).split({ get [Symbol.split]() {}, toString: () => 'a'.repeat(4e6) + 'b' })",
    ),
    ("indexOf, an object", "'a'.repeat(8e6).indexOf({ toString: () => 'a'.repeat(4e6) + 'b' })"),
    (
        "includes, no pattern",
        "'a'.repeat(8e6).includes({ [Symbol.match]: false, toString: () => 'a'.repeat(4e6) + 'b' })",
    ),
    (
        "lastIndexOf, an object",
        "'a'.repeat(8e6).lastIndexOf({ toString: () => 'b' + 'a'.repeat(4e6) })",
    ),
    ("lastIndexOf", "'a'.repeat(8e6).lastIndexOf('b' + 'a'.repeat(4e6))"),
    (
        "sort of a long text in each place",
        "const s = 'a'.repeat(8e6), t = ('a' + s).slice(1); new Array(2e5).fill(s).fill(t, 1e5).sort()",
    ),
    (
        "toSorted of numbers",
        "const a = []; for (let i = 0; i < 4e5; i++) a[i] = i * 7919 % 400009; for (;;) a.toSorted()",
    ),
    (
        "indexOf in a list of long texts",
        "const s = 'a'.repeat(8e6); new Array(1e6).fill(s + 'b').indexOf(s + 'c')",
    ),
    (
        "includes in a list of long texts",
        "const s = 'a'.repeat(8e6); new Array(1e6).fill(s + 'b').includes(s + 'c')",
    ),
    (
        "lastIndexOf in a list of long texts",
        "const s = 'a'.repeat(8e6); new Array(1e6).fill(s + 'b').lastIndexOf(s + 'c')",
    ),
    ("a set of one long text", "new Set(new Array(1e6).fill('a'.repeat(8e6)))"),
    ("a map asked for a long text", "const m = new Map(), s = 'a'.repeat(8e6); for (;;) m.get(s)"),
    (
        "typed sort",
        "const t = new Float64Array(3e6); for (let i = 0; i < 1e5; i++) t[i * 30] = i; for (;;) t.sort()",
    ),
    ("repeat and join", "for (;;) new Array(1e6).fill('a').join('bcd')"),
    ("pad", "for (;;) 'a'.padStart(8e6, 'bc').padEnd(8e6, 'd')"),
    ("fill", "for (;;) new Array(1e6).fill(1)"),
    ("Array.from", "for (;;) Array.from({ length: 1e6 })"),
    ("JSON", "const a = new Array(5e5).fill(1); for (;;) JSON.parse(JSON.stringify(a))"),
    ("typed fill", "const t = new Uint8Array(3e7); for (;;) t.fill(1)"),
    ("typed from a list", "const t = { length: 3e7 }; for (;;) new Uint8Array(t)"),
    (
        "typed from a list that is longer the second time",
        "let n = 0; new Uint8Array({ get length() { return n++ ? 3e7 : 1; } }); for (;;) new Uint8Array({ length: 4e6 })",
    ),
    ("typed from a long list", "const a = []; a.length = 3e7; new Uint8Array(a)"),
    ("typed from", "for (;;) Uint8Array.from({ length: 3e7 })"),
    ("typed set", "for (;;) new Uint8Array(3e7).set({ length: 3e7 })"),
    ("numbers of many digits", "const s = '9'.repeat(8e6); for (;;) parseInt(s)"),
    ("back references", "for (;;) /^(a*)(?:\\1)*b/.test('a'.repeat(8e6))"),
    ("back references, counted", "/(a{1000,})\\1+b/.test('a'.repeat(8e6))"),
    ("classes of letters", "new RegExp('[\\\\p{L}\\\\p{N}]'.repeat(600), 'iu')"),
    ("classes of letters in one", "new RegExp('[' + '\\\\p{L}\\\\P{L}'.repeat(800) + ']', 'iv')"),
    (
        "entries of a large object",
        "const o = {}; for (let i = 0; i < 1e5; i++) o['k' + i] = i; for (;;) Object.entries(o)",
    ),
];

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
async fn no_step_of_the_library_goes_on_past_the_limit() {
    let mut limits = ScriptLimits::default();
    limits.compute_time = Duration::from_millis(200);
    limits.total_time = Duration::from_secs(30);
    let runtime = JsRuntime::builder().limits(limits).build().expect("threads");
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut wrong = Vec::new();
    for (name, source) in SCRIPTS.iter().filter(|(name, _)| name.contains(&only)) {
        let started = Instant::now();
        // A script that does nothing with the webhook would fail in the end.
        let result = complete(&runtime, &format!("r; {source}")).await.result;
        let took = started.elapsed();
        println!("{name}: {took:?} {result:?}");
        // A busy machine gives a thread its turn late; the watchdog comes after 30 s.
        if took > Duration::from_secs(10) {
            wrong.push(format!("{name} took {took:?}"));
        }
        // What is done before a limit is reached is fine, too.
        if !matches!(result, Ok(_) | Err(FunctionError::Limit(_))) {
            wrong.push(format!("{name}: {result:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
