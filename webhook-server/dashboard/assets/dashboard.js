// What the pages can do beyond links and forms: copying, and keys. Nothing needs it.
"use strict";
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  });
}
// Single keys, unless something is typed or they were turned off (WCAG 2.1.4).
const off = () => localStorage.getItem("keys") === "off";
const rows = () => [...document.querySelectorAll("a.row")];
function move(step) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.indexOf(document.activeElement);
  all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + step))].focus();
}
const keys = {
  "/": () => document.querySelector("[data-search]")?.focus(),
  j: () => move(1),
  k: () => move(-1),
  r: () => document.querySelector("[data-key=r]")?.focus(),
  "?": () => alert("Keys: / filter, j and k rows, Enter opens, r to send again. K (shift) turns them off and on."),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  if (event.key === "K") {
    localStorage.setItem("keys", off() ? "on" : "off");
    return;
  }
  if (off() || !(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});
