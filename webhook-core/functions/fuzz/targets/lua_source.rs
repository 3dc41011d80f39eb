//! Whatever the text, the compiler for Lua accepts or refuses it: it does not
//! overflow its stack, and it does not panic where it does not mean to.
#![no_main]

use std::{
    panic,
    sync::{
        OnceLock,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use libfuzzer_sys::fuzz_target;
use webhook_functions::lua::{COMPILER_STACK_BYTES, check_source};

/// The compiler's one panic that is expected, and caught: a function needs more
/// registers than there are.
const OUT_OF_REGISTERS: &str = "register_allocator.rs";

/// A thread with the stack that the compiler asks for; one, because starting
/// one for each text would take longer than most texts.
struct Compiler {
    sources: SyncSender<String>,
    done: Receiver<()>,
}

// The fuzzer calls from one thread; this only satisfies the static.
static COMPILER: OnceLock<std::sync::Mutex<Compiler>> = OnceLock::new();

fn start() -> std::sync::Mutex<Compiler> {
    let abort = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let expected = info
            .location()
            .is_some_and(|location| location.file().ends_with(OUT_OF_REGISTERS));
        if !expected {
            abort(info);
        }
    }));
    let (sources, inbox) = sync_channel::<String>(0);
    let (answer, done) = sync_channel(0);
    thread::Builder::new()
        .stack_size(COMPILER_STACK_BYTES)
        .spawn(move || {
            while let Ok(source) = inbox.recv() {
                // Both ends are fine.
                let _ = check_source(&source, 64 << 10);
                if answer.send(()).is_err() {
                    return;
                }
            }
        })
        .expect("a thread");
    std::sync::Mutex::new(Compiler { sources, done })
}

fuzz_target!(|data: &[u8]| {
    let source = String::from_utf8_lossy(data).into_owned();
    let compiler = COMPILER.get_or_init(start).lock().expect("one thread");
    compiler.sources.send(source).expect("the thread lives");
    compiler.done.recv().expect("the thread lives");
});
