// setTimeout and clearTimeout, made when a script first names one of them. The host calls `kept.fire` when nothing else is to be
// done: it waits for the first of the functions and calls it.
(function ($, kept) {
  "use strict";
  const { apply, limit, now } = kept, { TypeError } = kept.engine, MOST = 1000;
  const waiting = [];
  let last = 0;
  kept.again[kept.again.length] = () => { last = 0; };
  const setTimeout = (run, after = 0, ...given) => {
    if (typeof run !== "function") throw new TypeError("setTimeout takes a function");
    if (waiting.length >= MOST) throw limit("timers, at most " + MOST);
    const due = now() + (+after > 0 ? +after : 0), id = ++last;
    let place = waiting.length;
    for (; place > 0 && waiting[place - 1].due > due; place--) waiting[place] = waiting[place - 1];
    waiting[place] = { id, due, run, given };
    return id;
  };
  const take = (place) => {
    const taken = waiting[place];
    for (let i = place + 1; i < waiting.length; i++) waiting[i - 1] = waiting[i];
    waiting.length--;
    return taken;
  };
  const clearTimeout = (id) => {
    for (let i = 0; i < waiting.length; i++) if (waiting[i].id === id) { take(i); return; }
  };
  kept.fire = () => {
    if (waiting.length === 0) return false;
    const { due, run, given } = take(0), left = due - now();
    if (left > 0) $.sleep(left / 1000);
    apply(run, undefined, given);
    return true;
  };
  return { __proto__: null, setTimeout, clearTimeout };
})
