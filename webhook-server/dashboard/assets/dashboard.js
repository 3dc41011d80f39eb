// What the pages can do beyond links and forms: copying, and keys. Nothing needs it.
"use strict";
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  });
}
// A function that takes something out has to change each webhook, unless somebody says otherwise.
for (const choice of document.querySelectorAll("select[name=function_id]")) {
  choice.addEventListener("change", () => {
    const must = choice.form.elements.function_must;
    if (must && choice.selectedOptions[0].text.endsWith("(redacts)")) must.value = "change";
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
// Code has numbered lines, and Tab indents it. Escape and then Tab leaves, Shift and Tab goes
// back at any time, so that the keyboard is never caught.
for (const [number, code] of document.querySelectorAll("textarea[data-code]").entries()) {
  const gutter = document.createElement("pre");
  gutter.className = "gutter";
  gutter.setAttribute("aria-hidden", "true");
  const box = document.createElement("div");
  box.className = "code";
  code.before(box);
  box.append(gutter, code);
  const help = document.createElement("p");
  help.className = "help";
  help.id = `code-help-${number}`;
  help.textContent = "Tab indents; Escape and then Tab leaves.";
  box.after(help);
  code.setAttribute("aria-describedby", `${code.getAttribute("aria-describedby") ?? ""} ${help.id}`.trim());
  const wrong = Number(code.dataset.line ?? 0);
  let shown = 0;
  const count = () => {
    const lines = code.value.split("\n").length;
    if (lines === shown) return;
    shown = lines;
    gutter.replaceChildren(...Array.from({ length: lines }, (_, at) => {
      const line = document.createElement("span");
      line.textContent = at + 1 === wrong ? `✕ ${at + 1}` : at + 1;
      if (at + 1 === wrong) line.className = "wrong";
      return line;
    }));
  };
  let leaving = false;
  code.addEventListener("input", count);
  code.addEventListener("scroll", () => { gutter.scrollTop = code.scrollTop; });
  code.addEventListener("blur", () => { leaving = false; });
  code.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      leaving = true;
    } else if (event.key === "Tab" && !event.shiftKey && !leaving) {
      event.preventDefault();
      // Unlike setRangeText this can be undone.
      document.execCommand("insertText", false, "  ");
    } else if (event.key !== "Shift" && event.key !== "Tab") {
      leaving = false;
    }
  });
  count();
  if (wrong > 0) code.scrollTop = (code.scrollHeight / shown) * Math.max(0, wrong - 5);
}
