// What the pages are for, by keyboard alone: a task for each screen. Each leaves what it did
// not make as it was.

// Presses Tab until what the selector says has the focus.
export async function tabTo(page, selector) {
  for (let presses = 0; presses < 300; presses += 1) {
    if (await page.evaluate((it) => document.activeElement?.matches(it), selector)) return;
    // Tab indents code: Escape lets it leave.
    if (await page.evaluate(() => document.activeElement?.matches("textarea[data-code]"))) await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
  }
  throw new Error(`${page.url()}: Tab does not lead to ${selector}`);
}

export async function press(page, selector) {
  await tabTo(page, selector);
  await Promise.all([page.waitForEvent("domcontentloaded"), page.keyboard.press("Enter")]);
}

export async function type(page, selector, text) {
  await tabTo(page, selector);
  await page.keyboard.press("Control+A");
  await page.keyboard.type(text);
}

export const tasks = ({ page, base, key, paths, webhook, send, shows, note, picture }) => ({
  "what was typed wrong is said, and signing in leads back": async () => {
    await page.goto(`${base}/dashboard/usage`);
    await press(page, ".out button");
    await page.goto(`${base}/dashboard/usage`);
    await type(page, "#key", "sk-wrong");
    await press(page, "form.edit button.main");
    if ((await page.locator("[role=alert]").count()) !== 1) note("nothing is said");
    await type(page, "#key", key);
    await press(page, "form.edit button.main");
    if (!page.url().endsWith("/dashboard/usage")) note("it does not lead back");
  },
  "five webhooks change the numbers and the bars of the overview": async () => {
    const numbers = async () => {
      await page.goto(`${base}/dashboard`);
      const [tile] = await page.locator(".tiles b").allTextContents();
      return [Number(tile), await page.locator(".bars tbody tr:last-child td:nth-child(2)").textContent()];
    };
    const [sent, bar] = await numbers();
    for (let count = 0; count < 5; count++) await send("{\"type\": \"order.paid\"}");
    let now = await numbers();
    for (let look = 0; look < 240 && now[0] < sent + 5; look++) {
      await page.waitForTimeout(250);
      now = await numbers();
    }
    if (now[0] < sent + 5 || now[1] === bar) note(`${sent}, ${bar} became ${now}`);
  },
  "a bucket is made and deleted with what is in it": async () => {
    await page.goto(`${base}/dashboard/buckets`);
    await press(page, "main .head a.main");
    await type(page, "#field-name", "by keyboard");
    await press(page, "form.edit button.main");
    await press(page, "main a[href$='/outputs/new']");
    await type(page, "#field-name", "out");
    await type(page, "#field-destination", `${base}/dev/inbox`);
    await press(page, "form.edit button.main");
    await press(page, "main .head a[href$='/settings']");
    await press(page, "section.danger button");
    if ((await page.locator("[role=alert]").count()) !== 1) note("it does not ask again");
    await tabTo(page, "section.danger [name=force]");
    await page.keyboard.press("Space");
    await press(page, "section.danger button");
    if ((await page.locator("tbody").textContent()).includes("by keyboard")) note("it is still there");
  },
  "a test webhook lights the way that it takes": async () => {
    await page.goto(base + paths.get("bucket"));
    await type(page, "#test-body", "{\"type\": \"order.refunded\"}");
    await press(page, "form[action$='/test'] button");
    const lit = await page.locator(".lane-out .lit .arrival .mark").allTextContents();
    if ((await page.locator(".lane-in .lit").count()) !== 1) note("the input is dark");
    if (!lit.some((mark) => mark.includes("sent")) || !lit.some((mark) => mark.includes("rejected"))) note(`lit: ${lit}`);
    await picture("bucket-lit");
  },
  "an output is paused, three wait, it is resumed and they are sent": async () => {
    await page.goto(base + paths.get("bucket"));
    const node = page.locator(".lane-out .node", { hasText: "audit" });
    const action = new URL(await node.locator("form[action$='/pause']").evaluate((form) => form.action)).pathname;
    await press(page, `form[action='${action}'] button`);
    if (!(await node.locator(".mark").first().textContent()).includes("paused")) note("it is not paused");
    for (let count = 0; count < 3; count++) await send("{\"paused\": true}");
    const waiting = async () => {
      await page.goto(base + paths.get("bucket"));
      return Number(/(\d+) waiting/.exec(await node.locator(".rates").textContent())[1]);
    };
    let count = await waiting();
    for (let look = 0; look < 240 && count < 3; look++) count = await waiting();
    if (count !== 3) note(`${count} wait`);
    await page.goto(`${base}/dashboard`);
    await shows("paused");
    await picture("overview-paused");
    await page.goto(base + paths.get("bucket"));
    await press(page, `form[action='${action}'] button`);
    for (let look = 0; look < 240 && count > 0; look++) {
      await page.waitForTimeout(250);
      count = await waiting();
    }
    if (count !== 0) note(`${count} still wait`);
  },
  "a filter is kept, found again and forgotten": async () => {
    await page.goto(`${base}/dashboard/webhooks`);
    await tabTo(page, "#status");
    await page.keyboard.type("failed");
    await press(page, "form.filters button");
    await tabTo(page, ".kept summary");
    await page.keyboard.press("Enter");
    await type(page, "#name", "lost orders");
    await press(page, ".kept details button");
    await page.goto(`${base}/dashboard/webhooks`);
    await press(page, ".kept a:has(+ form)");
    if (!page.url().includes("status=failed")) note("another filter");
    await picture("webhooks-kept");
    await press(page, ".kept li form button");
    if ((await page.locator(".kept li form").count()) !== 0) note("it is not forgotten");
  },
  "two webhooks are chosen and sent again, as many as was said": async () => {
    await page.goto(`${base}/dashboard/webhooks?status=sent&live=off`);
    for (const row of [1, 2]) {
      await tabTo(page, `tbody tr:nth-child(${row}) [name=log]`);
      await page.keyboard.press("Space");
    }
    await press(page, "form[action$='/replays/new'] > p button");
    await press(page, "form.edit button.main");
    await shows("2 logs of");
    await picture("replay-planned");
    await press(page, "form.edit button[name=then]");
    const sent = page.locator("dl.facts div", { hasText: "Sent" }).locator("dd");
    const state = page.locator(".head .mark");
    // Until it is over no other replay may send to the same outputs.
    for (let look = 0; look < 240 && !(await state.textContent()).includes("done"); look++) {
      await page.waitForTimeout(250);
      await page.reload();
    }
    if (!(await state.textContent()).includes("done")) note(`it is ${await state.textContent()}`);
    if ((await sent.textContent()) !== "2") note(`${await sent.textContent()} were sent`);
    await picture("replay-done");
  },
  "a replay is paused, made faster and cancelled": async () => {
    await page.goto(`${base}/dashboard/webhooks?status=sent&live=off`);
    await press(page, "a[href*='/replays/new?']");
    await type(page, "#field-rate", "1");
    await tabTo(page, "#field-interval");
    await page.keyboard.type("hour");
    await press(page, "form.edit button[name=then]");
    await press(page, ".head form button");
    await shows("paused");
    await type(page, "#field-rate", "2");
    await press(page, "form.edit button.main");
    await shows("2 per hour");
    await press(page, "section.danger button");
    await shows("cancelled");
    await picture("replay-cancelled");
  },
  "an edited copy arrives": async () => {
    await page.goto(`${base}/dashboard/webhooks?search=Ada`);
    await press(page, "a.row");
    await press(page, "main a[href$='/edit']");
    await type(page, "#field-body", "{\"edited\": \"by keyboard\"}");
    await press(page, "form.edit button.main");
    await page.goto(`${base}/dashboard/webhooks?search=by+keyboard`);
    if ((await page.locator("a.row").count()) === 0) note("it did not arrive");
    await press(page, "a.row");
    await tabTo(page, "#on");
    await page.keyboard.type("function");
    await press(page, "form[action$='/try'] button");
    await press(page, "button[name=then]");
    await shows("by keyboard");
  },
  "a version is looked at and restored": async () => {
    await page.goto(`${base}/dashboard/functions/new`);
    await type(page, "#field-name", "with a past");
    await type(page, "#field-payload", "r:SetRequestBody(\"first\")");
    await press(page, "form.edit button.main");
    await type(page, "#field-payload", "r:SetRequestBody(\"second\")");
    await press(page, "form.edit button.main");
    await press(page, "main a[href$='/versions']");
    await tabTo(page, "tbody tr:last-child a.row");
    await Promise.all([page.waitForEvent("domcontentloaded"), page.keyboard.press("Enter")]);
    await shows("second");
    await picture("version-older");
    await press(page, "form[action$='/restore'] button");
    if (!(await page.locator("#field-payload").inputValue()).includes("first")) note("it is not restored");
  },
  "a notification is made and tells of an output that is paused": async () => {
    await page.goto(`${base}/dashboard/buckets/new`);
    await type(page, "#field-name", "told");
    await press(page, "form.edit button.main");
    await page.goto(`${base}/dashboard/notifications/new`);
    await type(page, "#field-events", "output.paused");
    await tabTo(page, "#field-to_bucket");
    await page.keyboard.type("told");
    await press(page, "form.edit button.main");
    const row = page.locator("tbody tr", { hasText: "told" });
    await page.goto(base + paths.get("bucket"));
    const pause = ".lane-out .node:last-child form[action$='/pause'] button";
    await press(page, pause);
    await press(page, pause);
    for (let look = 0; look < 240; look++) {
      await page.goto(`${base}/dashboard/notifications`);
      if (!(await row.textContent()).includes("never")) break;
      await page.waitForTimeout(250);
    }
    if ((await row.textContent()).includes("never")) note("it told nothing");
    await press(page, "tbody form button");
    await picture("notifications-told");
    await press(page, "tbody a.row");
    await press(page, "section.danger button");
  },
  "the key is shown, and billing details are saved": async () => {
    await page.goto(`${base}/dashboard/keys`);
    await press(page, "form[action$='/reveal'] button");
    await shows(key);
    await page.goto(`${base}/dashboard/usage`);
    await press(page, "main .head a");
    await type(page, "#field-name", "Ada");
    await type(page, "#field-email", "ada@example.com");
    await type(page, "#field-country", "DE");
    await press(page, "form.edit button.main");
    await shows("Saved.");
  },
  "a function is made, mended and run": async () => {
    await page.goto(`${base}/dashboard/functions/new`);
    await type(page, "#field-name", "by keyboard");
    await type(page, "#field-payload", "local x = 1\nlocal y = = 2\n");
    await press(page, "form.edit button.main");
    if ((await page.locator(".gutter .wrong").textContent()) !== "✕ 2") note("the line is not marked");
    await type(page, "#field-payload", "if true then\n");
    await page.keyboard.press("Tab");
    await page.keyboard.type("r:SetRequestBody(\"changed\")\nend");
    const code = await page.locator("#field-payload").inputValue();
    if (!code.includes("\n  r:")) note(`Tab did not indent: ${code}`);
    await press(page, "form.edit button.main");
    await press(page, "button[name=then]");
    const after = await page.locator("section[role=status] ins").allTextContents();
    if (after.join() !== "+ changed") note(`the run changed ${after}`);
    await page.keyboard.press("Shift+Tab");
  },
  "a function that redacts has to change each webhook": async () => {
    await page.goto(`${base}/dashboard/functions/new`);
    await type(page, "#field-name", "no addresses");
    await type(page, "#field-payload", "-- mask what is in the body\nlocal body = r.RequestBody");
    await press(page, "form.edit button.main");
    await page.goto(`${base}${paths.get("bucket")}/outputs/new`);
    await page.locator("details").evaluateAll((all) => all.forEach((it) => (it.open = true)));
    const must = page.locator("#field-function_must");
    if ((await must.inputValue()) !== "anything") note(`it begins with ${await must.inputValue()}`);
    await page.locator("#field-function_id").selectOption({ label: "no addresses (redacts)" });
    if ((await must.inputValue()) !== "change") note(`it is ${await must.inputValue()}`);
    await picture("output-redacts");
  },
  "a token is made and its secret is shown": async () => {
    await page.goto(`${base}/dashboard/keys`);
    await press(page, "a[href$='/tokens/new']");
    await type(page, "#field-description", "by keyboard");
    await press(page, "form.edit button.main");
    if ((await page.locator("dd code").count()) !== 2) note("no secret");
    await press(page, "main a.main");
  },
  "a cron is made, runs now and is paused": async () => {
    await page.goto(`${base}/dashboard/crons/new`);
    await type(page, "#field-name", "by keyboard");
    await type(page, "#field-schedule", "30 2 * * *");
    await type(page, "#field-timezone", "Europe/Berlin");
    await type(page, "#field-destination", `${base}/dev/inbox`);
    await press(page, "form.edit button.main");
    const runs = await page.locator("ol.plain-list li").allTextContents();
    if (runs.length !== 5 || !runs.every((run) => / 02:30:00 CES?T$| 03:00:00 CEST$/.test(run))) note(`next runs: ${runs}`);
    await press(page, ".head form[action$='/run'] button");
    if ((await page.locator("tbody tr").count()) !== 1) note("it did not run");
    await press(page, ".head form[action$='/pause'] button");
    if (!(await page.locator(".head .mark").textContent()).includes("paused")) note("it is not paused");
    await picture("cron-ran");
  },
  "a domain is reserved and given back": async () => {
    await page.goto(`${base}/dashboard/domains`);
    await type(page, "#field-domain", "keyboard.example.com");
    await press(page, "form.edit button.main");
    await press(page, "tbody tr:last-child button");
    if ((await page.locator("tbody").allTextContents()).join().includes("keyboard.example")) note("it is still there");
  },
  "the command of an agent is for the bucket that was chosen": async () => {
    await page.goto(`${base}/dashboard/agents`);
    await tabTo(page, "#bucket");
    await page.keyboard.press("ArrowDown");
    const chosen = await page.locator("#bucket").inputValue();
    await press(page, "main form button");
    if (!(await page.locator("pre").textContent()).includes(`--bucket '${chosen}'`)) note("another bucket");
  },
  "two webhooks are compared": async () => {
    await page.goto(base + webhook);
    await press(page, "a[href*='/compare?']");
    await tabTo(page, "#b");
    for (let step = 0; step < 3; step++) await page.keyboard.press("ArrowDown");
    await press(page, "main form button");
    if ((await page.locator("table.sides").count()) !== 1) note("nothing is compared");
  },
});
