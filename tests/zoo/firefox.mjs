/**
 * What readers do, in Firefox: `node firefox.mjs EXECUTABLE URL` prints a JSON object, name → whether it worked.
 *
 * Playwright needs a Firefox of its own, which can't be installed from a package archive; Puppeteer drives any.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const viewer = createRequire(new URL("../../viewer/package.json", import.meta.url));
const { default: puppeteer } = await import(pathToFileURL(viewer.resolve("puppeteer-core")).href);

const [executablePath, url] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
const page = await browser.newPage();
const errors = [];
page.on("pageerror", (error) => errors.push(String(error)));
await page.setViewport({ width: 900, height: 700 });

const within = (selector) => `model-graph >>> ${selector}`;
const node = (id) => page.waitForSelector(within(`.mg-stage [data-id="${id}"]`));
const widthOf = async (id) => (await (await node(id)).boundingBox()).width;
const shown = (id) => page.$(within(`.mg-stage [data-id="${id}"]`)).then((found) => found !== null);
const until = (condition, ...values) => page.waitForFunction(condition, { timeout: 60_000 }, ...values);
const selected = (id) =>
  until((id) => document.querySelector("model-graph").widget.selected === id, id);

const results = {};
async function tryTo(name, action) {
  try {
    results[name] = (await action()) ?? true;
  } catch (error) {
    results[name] = String(error);
  }
}

await page.goto(url);
await tryTo("a click opens", async () => {
  await (await node("layers.0")).click();
  await node("layers.0.mlp");
});
await tryTo("the node is selected", () => selected("layers.0").then(() => true));
await tryTo("keys open and close", async () => {
  await page.evaluate(() => document.querySelector("model-graph").widget.focus(
    document.querySelector("model-graph").shadowRoot.querySelector('.mg-stage [data-id="layers.1"]'),
  ));
  await page.keyboard.press(" ");
  await node("layers.1.mlp");
  await page.keyboard.press(" ");
  await until(() => document.querySelector("model-graph").shadowRoot.querySelector('.mg-stage [data-id="layers.1.mlp"]') === null);
});
await tryTo("search finds and opens", async () => {
  await page.keyboard.press("/");
  await page.waitForSelector(within('[role="combobox"]'));
  await page.keyboard.type("2.mlp.up");
  await page.waitForSelector(within('[role="option"]'));
  await page.keyboard.press("Enter");
  await selected("layers.2.mlp.up");
  await page.keyboard.press("Escape");
});
await tryTo("Ctrl and the wheel zoom about the pointer", async () => {
  await page.keyboard.press("0");
  await page.evaluate(() => scrollTo(0, 0));
  const before = await (await node("embed")).boundingBox();
  await page.mouse.move(before.x + before.width / 2, before.y + before.height / 2);
  await page.keyboard.down("Control");
  await page.mouse.wheel({ deltaY: -30 });
  await page.keyboard.up("Control");
  const after = await (await node("embed")).boundingBox();
  const moved = after.x + after.width / 2 - before.x - before.width / 2;
  return after.width > before.width * 1.1 && Math.abs(moved) < 1.5;
});
await tryTo("a drag moves the picture and is no click", async () => {
  const before = await (await node("embed")).boundingBox();
  await page.mouse.move(before.x + before.width / 2, before.y + 5);
  await page.mouse.down();
  await page.mouse.move(before.x + before.width / 2 + 60, before.y + 45, { steps: 5 });
  await page.mouse.up();
  const after = await (await node("embed")).boundingBox();
  return Math.abs(after.x - before.x - 60) < 3 && Math.abs(after.y - before.y - 40) < 3;
});
await tryTo("buttons show the whole picture again", async () => {
  const before = await widthOf("embed");
  await page.keyboard.press("0");
  return (await widthOf("embed")) !== before;
});
await tryTo("? helps, and Escape closes it", async () => {
  await page.keyboard.press("?");
  await page.waitForSelector(within("dialog[open]"));
  await page.keyboard.press("Escape");
  await until(() => document.querySelector("model-graph").shadowRoot.querySelector("dialog[open]") === null);
});
await tryTo("a lens has bars, and a table beside the picture that sorts", async () => {
  await page.setViewport({ width: 1300, height: 900 });
  await (await page.$$(within(".mg-toolbar > button"))).at(-1).click();
  const choice = await page.waitForSelector(within(".mg-menu ::-p-text(Parameters)"));
  await choice.click();
  await page.waitForSelector(within(".mg-stage .mg-bar"));
  await page.keyboard.press("Escape");
  await (await page.waitForSelector(within(".mg-lens-button"))).click();
  const table = await page.waitForSelector(within(".mg-costs.mg-beside"));
  const [stage, costs] = [await (await page.$(within(".mg-stage"))).boundingBox(), await table.boundingBox()];
  if (costs.x < stage.x + stage.width) return "the table lies over the picture";
  await (await page.$(within(".mg-cost-rows thead button"))).click();
  const names = await page.$$eval(within(".mg-cost-rows tbody th"), (rows) => rows.map((row) => row.textContent));
  await page.keyboard.press("Escape");
  return names.length > 2 && String(names) === String(names.toSorted((one, other) => one.localeCompare(other)));
});
await tryTo("a link restores the view", async () => {
  await page.evaluate(() => { location.hash = "#Encoder?at=layers.1.mlp.up"; });
  await selected("layers.1.mlp.up");
  await node("layers.1.mlp.up");
});
await tryTo("a copy of the page works", async () => {
  await page.evaluate(() => {
    const content = document.querySelector("main");
    content.replaceWith(content.cloneNode(true));
  });
  await page.waitForSelector(within(".mg-stage svg"));
  if (await shown("layers.0.mlp")) return "the copy has not the page's own picture";
  await (await node("layers.0")).click();
  await node("layers.0.mlp");
});
await tryTo("print has the page's own picture", async () => {
  const pdf = await page.pdf();
  return pdf.length > 10_000;
});
results["no error was raised"] = errors.length === 0 || errors.join("\n");
await browser.close();
process.stdout.write(JSON.stringify(results));
