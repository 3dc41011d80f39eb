// ends: fuel | compute time
})(); for (;;) {} (async function () {
