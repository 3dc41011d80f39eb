// Looks at every page of a running server in Chromium, in both themes and widths.
//
//   node look.mjs LINK KEY FOLDER     LINK signs in with the API key KEY; screenshots go to
//                                     FOLDER, and those that the documentation shows to the
//                                     folder IMAGES, if it is set
//
// Then it does what the pages are for by keyboard alone.
//
// Anything that the content security policy refuses, that the console calls an error, or
// that axe finds against WCAG 2.2 AA ends it with a status other than 0.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { press, tabTo, tasks, type } from "./tasks.mjs";

const [link, key, folder] = process.argv.slice(2);
const images = process.env.IMAGES;
const base = new URL(link).origin;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const wrong = [];

const browser = await chromium.launch({
  executablePath: process.env.TEST_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"],
});
let state = await (async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  const state = await context.storageState();
  await context.close();
  return state;
})();

async function open(scheme, width, script = true) {
  const context = await browser.newContext({
    storageState: state,
    colorScheme: scheme,
    reducedMotion: "reduce",
    viewport: { width, height: 900 },
    javaScriptEnabled: script,
  });
  // The test that runs this has a limit of its own; a busy machine is no error of a page.
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  const note = (what) => wrong.push(`${page.url()} (${scheme}, ${width}): ${what}`);
  page.on("console", (message) => message.type() === "error" && note(message.text()));
  page.on("pageerror", (error) => note(String(error)));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  return { context, page, note };
}

// What there is to look at: the links of the first pages.
const { context, page } = await open("light", 1280);
const found = async (path, selector) => {
  await page.goto(base + path);
  return page.$$eval(selector, (links) => links.map((link) => link.getAttribute("href")));
};
const paths = new Map(Object.entries({ overview: "/dashboard" }));
for (const path of await found("/dashboard", "nav[aria-label=Main] a")) {
  if (path !== "/dashboard") paths.set(path.split("/").pop(), path);
}
const [bucket] = await found("/dashboard/buckets", "a.row");
paths.set("bucket", bucket);
paths.set("bucket-settings", `${bucket}/settings`);
const of_bucket = await found(bucket, ".node h3 a");
paths.set("input", of_bucket.find((path) => path.includes("/inputs/")));
const output = of_bucket.find((path) => path.includes("/outputs/"));
paths.set("output", output);
for (const part of ["signature", "deduplication"]) paths.set(part, `${paths.get("input")}/${part}`);
for (const part of ["signing", "auth", "health", "pausing"]) paths.set(part, `${output}/${part}`);
paths.set("signature-of-meta", `${paths.get("signature")}?provider=meta`);
paths.set("auth-by-oauth2", `${paths.get("auth")}?type=oauth2_client_credentials`);
paths.set("rules", (await found(bucket, ".steps a")).find((path) => path.endsWith("/rules")));
const [webhook] = await found("/dashboard/webhooks", "a.row");
paths.set("webhook", webhook);
paths.set("webhooks-searched", "/dashboard/webhooks?reason=rules&search=orders");
paths.set("webhook-edit", `${webhook}/edit`);
const [made] = await found("/dashboard/functions", "a.row");
paths.set("function", made);
paths.set("function-new", "/dashboard/functions/new");
paths.set("function-generate", `/dashboard/functions/generate?log=${webhook.split("/").pop()}`);
paths.set("runs", `${made}/runs`);
paths.set("versions", `${made}/versions`);
paths.set("version", `${made}/versions/1`);
paths.set("replay-new", "/dashboard/replays/new?status=failed");
paths.set("erasure-new", "/dashboard/erasures/new?status=failed");
const [run] = await found(`${made}/runs`, "a.row");
if (run) paths.set("run", run);
paths.set("notification-new", "/dashboard/notifications/new");
const [replay] = await found("/dashboard/replays", "a.row");
paths.set("replay", replay);
const [told] = await found("/dashboard/notifications", "a.row");
paths.set("notification", told);
paths.set("sign-in", "/dashboard/sign-in");
paths.set("cron-new", "/dashboard/crons/new");
const [cron] = await found("/dashboard/crons", "a.row");
if (cron) paths.set("cron", cron);
paths.set("token-new", "/dashboard/keys/tokens/new");
const [token] = await found("/dashboard/keys", "a.row");
if (token) paths.set("token", token);
paths.set("billing-details", "/dashboard/usage/billing-details");
const several = await found("/dashboard/webhooks", "a.row");
const id = (path) => path.split("/").pop();
paths.set("compare", `/dashboard/compare?a=${id(webhook)}&b=${id(several.at(-1))}`);

// A webhook that is sent appears in a list that is open, without reloading.
const input = paths.get("input").split("/").pop();
await page.goto(`${base}/dashboard/webhooks`);
await page.waitForTimeout(1500);
const sent = Date.now();
await fetch(`${base}/v1/webhooks/${input}/appears-live`, { method: "POST", body: "{}" });
await page.waitForFunction(() => document.body.textContent.includes("appears-live"));
console.log(`a webhook appeared after ${Date.now() - sent} ms`);

// By keyboard alone: to the first row and into it.
await page.keyboard.press("j");
await page.keyboard.press("Enter");
await page.waitForURL(/webhooks\/[0-9a-f-]{36}/);
await context.close();

// Tasks by keyboard alone. Each leaves everything as it was.
{
  const { context, page } = await open("light", 1280);
  const shows = async (text) => {
    if (!(await page.locator("main").textContent()).includes(text)) wrong.push(`${page.url()}: no ${text}`);
  };
  const send = () => fetch(`${base}/v1/webhooks/${input}/signed`, { method: "POST", body: "{}" });

  await page.goto(base + paths.get("signature"));
  await tabTo(page, "#choice");
  await page.keyboard.type("GitLab");
  await press(page, "form[method=get] button");
  await type(page, "[name='signature.secrets.0.secret']", "a-token-of-gitlab");
  await press(page, "form[method=post] button.main");
  await shows("Saved.");
  if ((await send()).status !== 401) wrong.push("a webhook without the token was taken");
  await page.reload();
  await press(page, "#test ~ form button");
  await shows("not verified");
  if (folder) await page.screenshot({ path: `${folder}/signature-tested.png`, fullPage: true });
  await press(page, "section.danger button");
  if ((await send()).status !== 200) wrong.push("a webhook without a token was refused");

  await page.goto(`${base}/dashboard/webhooks`);
  await tabTo(page, "#reason");
  await page.keyboard.type("signature");
  await press(page, "form.filters button");
  await shows("not verified");
  if (!page.url().includes("reason=signature")) wrong.push(`${page.url()} does not say the filter`);

  await page.goto(base + paths.get("deduplication"));
  await type(page, "[name='deduplication.key']", "payload id");
  await press(page, "form.edit button.main");
  await shows("Saved.");
  await press(page, "section.danger button");

  await page.goto(base + paths.get("signing"));
  await tabTo(page, "[name='signing.format']");
  await page.keyboard.type("HMAC-SHA-256 of the body");
  await type(page, "[name='signing.secrets.0.secret']", "a-secret-of-the-shop");
  await press(page, "form.edit button.main");
  await shows("Saved.");
  await press(page, "section.danger button");

  await page.goto(base + paths.get("auth"));
  await tabTo(page, "#choice");
  await page.keyboard.type("a token");
  await press(page, "form[method=get] button");
  await type(page, "[name='auth.token']", "a-token-of-the-shop");
  await press(page, "form[method=post] button.main");
  await shows("Saved.");
  await press(page, "section.danger button");

  // A rule is built, moved, tried and left unsaved.
  await page.goto(base + paths.get("rules"));
  await press(page, "button[value='match:']");
  await type(page, "#rule > ol > li:last-child [name$='.name']", "id");
  await type(page, "#rule > ol > li:last-child [name$='.operand']", "1001");
  await page.keyboard.press("Enter");
  await page.waitForLoadState();
  await shows("payload id is “1001”");
  await press(page, "#rule > ol > li:last-child > .tools button[value^=nest]");
  await press(page, "#rule > ol > li:last-child > .tools button[value^=up]");
  await page.goto(base + paths.get("rules"));
  await press(page, "button[value=count]");
  await shows("webhooks would pass");
  if (folder) await page.screenshot({ path: `${folder}/rules-counted.png`, fullPage: true });
  await context.close();
}

await Promise.all(["light", "dark"].map(async (scheme) => {
  // The themes differ in their colours alone.
  const rules = scheme === "light" ? ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] : ["color-contrast"];
  for (const width of [1280, 390]) {
    const { context, page, note } = await open(scheme, width);
    for (const [name, path] of paths) {
      const answer = await page.goto(base + path);
      if (answer.status() !== 200) note(`status ${answer.status()}`);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (overflow > 0) note(`${overflow} px wider than the window`);
      await page.evaluate(axe);
      const result = await page.evaluate((rules) => axe.run(document, { runOnly: rules }), rules);
      for (const violation of result.violations) {
        note(`${violation.id}: ${violation.nodes.slice(0, 3).map((node) => `${node.html} ${node.any.map((it) => it.message).join(" ")}`).join(" | ")}`);
      }
      if (folder) await page.screenshot({ path: `${folder}/${name}-${scheme}-${width}.png`, fullPage: true });
    }
    await context.close();
  }
}));

// Without script every page is there as well.
{
  const { context, page, note } = await open("light", 1280, false);
  for (const path of paths.values()) {
    const answer = await page.goto(base + path);
    if (answer.status() !== 200 || (await page.locator("h1").count()) !== 1) note("without script");
  }
  await context.close();
}

// What the documentation shows.
if (images) {
  const { context, page } = await open("light", 1280);
  await page.setViewportSize({ width: 1280, height: 760 });
  for (const name of ["bucket", "webhook", "function"]) {
    await page.goto(base + paths.get(name));
    if (name === "function") {
      await page.locator("button[name=then]").click();
      await page.locator("section[role=status]").waitFor();
    }
    await page.screenshot({ path: `${images}/dashboard-${name}.png` });
  }
  await context.close();
}

// What the pages are for, by keyboard alone.
{
  const { context, page, note } = await open("light", 1280);
  const shows = async (text) => {
    if (!(await page.locator("main").textContent()).includes(text)) note(`no ${text}`);
  };
  const picture = (name) => folder && page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  const send = (body) => fetch(`${base}/v1/webhooks/${input}`, {
    method: "POST", body, headers: { "content-type": "application/json" },
  });
  for (const [name, task] of Object.entries(tasks({ page, base, key, paths, webhook, send, shows, note, picture }))) {
    await task().catch((error) => note(`${name}: ${String(error).split("\n")[0]}`));
  }
  // A form that was refused answers with a status that the console calls an error.
  for (let at = wrong.length - 1; at >= 0; at--) {
    if (/status of 4(00|01|12)/.test(wrong[at])) wrong.splice(at, 1);
  }
  // One of the tasks signs out, which ends the first session on the server.
  state = await context.storageState();
  await context.close();
}

// HTML that an input answers cannot read the dashboard, though it has the same origin.
{
  const { context, page } = await open("light", 1280);
  await page.goto(base + paths.get("input"));
  await page.locator("summary", { hasText: "Answer" }).click();
  await page.locator("#field-headers").fill("Content-Type: text/html");
  await page.locator("#field-body").fill("<h1>taken</h1><script>fetch('/dashboard').then(r => r.text()).then(t => document.title = t.slice(0, 99))</script>");
  await page.locator("form.edit button.main").click();
  const hijack = await context.newPage();
  await hijack.goto(`${base}/v1/webhooks/${input}`);
  await hijack.waitForTimeout(1000);
  if ((await hijack.title()) !== "") wrong.push(`the hijack ran: ${await hijack.title()}`);
  if ((await hijack.locator("h1").textContent()) !== "taken") wrong.push("the input answered something else");
  await context.close();
}
await browser.close();
for (const line of new Set(wrong)) console.log(line);
console.log(`${paths.size} pages, ${new Set(wrong).size} wrong`);
process.exitCode = wrong.length === 0 ? 0 : 1;
