// ends: fuel | compute time | line
})(); for (;;) {} (async function () {
