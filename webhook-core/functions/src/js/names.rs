//! Names in the global object that lead to what the prelude makes when a script first has them.
//! The guard makes what they name.

use crate::list::list_of;

/// Modules.
pub(super) const MODULES: [&str; 11] =
    ["http", "crypto", "base64", "hex", "url", "jwt", "xml", "yaml", "csv", "kv", "time"];

/// Names of the web.
pub(super) const OF_WEB: [&str; 9] =
    list_of("URL URLSearchParams TextEncoder TextDecoder Headers atob btoa structuredClone fetch");

/// What the language has, and the host beside it.
const OTHERS: [&str; 31] = list_of(
    "Map Set WeakMap WeakSet Date ArrayBuffer DataView Uint8Array Int8Array Uint8ClampedArray \
    Uint16Array Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array \
    parseInt parseFloat decodeURI decodeURIComponent encodeURI encodeURIComponent escape \
    unescape Reflect Intl cfg console process addHandler",
);

/// All of them.
pub(super) fn late() -> impl Iterator<Item = &'static str> {
    OTHERS.into_iter().chain(MODULES).chain(OF_WEB)
}
