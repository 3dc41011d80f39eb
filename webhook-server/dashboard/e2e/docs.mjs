// Looks at the rendered reference of a running server in Chromium, wide and narrow: opens
// operations, tries one, and measures whether anything leaves the window.
//
//   node docs.mjs ADDRESS KEY FOLDER     screenshots go to FOLDER
//
// What the console calls an error or the policy refuses ends it with a status other than 0.
import { chromium } from "playwright-core";

const [base, key, folder] = process.argv.slice(2);
const wrong = [];
const browser = await chromium.launch({
  executablePath: process.env.TEST_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"],
});
await Promise.all([1280, 390].map(async (width) => {
  // As a phone has it: without its word about the viewport, a page is as wide as a desk's.
  const isMobile = width < 640;
  const context = await browser.newContext({ viewport: { width, height: 900 }, isMobile, reducedMotion: "reduce" });
  // The test that runs this has a limit of its own; a busy machine is no error of a page.
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  const note = (what) => wrong.push(`${width}: ${what}`);
  page.on("console", (message) => message.type() === "error" && note(message.text()));
  page.on("pageerror", (error) => note(String(error)));
  const measure = async (when) => {
    const [over, window] = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, innerWidth]);
    if (over > 0) note(`${when}: ${over} px wider than the window`);
    if (window !== width) note(`${when}: the window counts as ${window} px wide`);
  };
  await page.goto(`${base}/docs/`);
  await page.waitForSelector(".opblock");
  await measure("closed");
  if (folder) await page.screenshot({ path: `${folder}/docs-${width}.png` });
  const text = await page.locator(".swagger-ui").textContent();
  if (/Failed to load|Could not render/.test(text)) note("the document is not rendered");

  // A call is tried with a key, as a person would.
  await page.locator("button.authorize").first().click();
  const dialog = page.locator(".auth-container", { hasText: "http, Bearer" });
  await dialog.locator("input").fill(key);
  await dialog.locator("button.authorize").click();
  await page.locator(".dialog-ux .btn-done").first().click();
  const list = page.locator(".opblock-get", { has: page.locator('[data-path="/v1/buckets"]') });
  await list.locator(".opblock-summary-control").click();
  await list.locator(".try-out__btn").click();
  await list.locator("button.execute").click();
  await list.locator(".live-responses-table .response-col_status", { hasText: "200" }).waitFor();
  await measure("tried");
  if (folder) await list.screenshot({ path: `${folder}/docs-tried-${width}.png` });

  // Those with the most parameters, the largest body and the largest answer.
  for (const [method, path] of [["get", "/v1/logs"], ["post", "/v1/buckets/{id}/outputs"], ["put", "/v1/buckets/{id}/inputs/{detailed}"]]) {
    const operation = page.locator(`.opblock-${method}`, { has: page.locator(`[data-path="${path}"]`) });
    await operation.locator(".opblock-summary-control").click();
    await operation.locator(".responses-wrapper").waitFor();
    await measure(`${method} ${path}`);
    if (folder) await operation.screenshot({ path: `${folder}/docs-${method}${path.replaceAll("/", "-").replaceAll(/[{}]/g, "")}-${width}.png` });
    await operation.locator(".opblock-summary-control").click();
  }
  const count = await page.locator(".opblock").count();
  console.log(`${width}: ${count} operations`);
  if (count < 50) note(`only ${count} operations`);
  await context.close();
}));
await browser.close();
for (const line of new Set(wrong)) console.log(line);
process.exitCode = wrong.length === 0 ? 0 : 1;
