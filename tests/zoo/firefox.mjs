/**
 * What readers do, in Firefox: `node firefox.mjs EXECUTABLE FOLDER ADDRESS` prints a JSON object, name → whether it worked.
 * The first pages are opened from disk, those that need it over http.
 *
 * Long because it is a list of what readers do in one browser.
 *
 * Playwright needs a Firefox of its own, which can't be installed from a package archive; Puppeteer drives any.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const viewer = createRequire(new URL("../../viewer/package.json", import.meta.url));
const { default: puppeteer } = await import(pathToFileURL(viewer.resolve("puppeteer-core")).href);

const [executablePath, folder, address] = process.argv.slice(2);
// fingers are known to Firefox only where the machine has a touch screen, or this says so
const extraPrefsFirefox = { "dom.w3c_touch_events.enabled": 1 };
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true, extraPrefsFirefox });
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

const hidden = (selector) =>
  until((selector) => !document.querySelector("model-graph").shadowRoot.querySelector(selector)?.checkVisibility(), selector);
/** Call a function with the diagram's widget. */
const widget = (action, ...values) =>
  page.evaluate(`(${action})(document.querySelector("model-graph").widget, ...${JSON.stringify(values)})`);

/** Call a function with the element. */
const element = (action, ...values) =>
  page.evaluate(`(${action})(document.querySelector("model-graph"), ...${JSON.stringify(values)})`);

/** Click what can be seen and has a name that fits. */
async function press(name) {
  const found = await until((name) => {
    const roots = [document, ...[...document.querySelectorAll("model-graph")].map((element) => element.shadowRoot)];
    const controls = roots.flatMap((root) => [...root.querySelectorAll("button, [role^=menuitem], [role=option]")]);
    const nameOf = (control) => (control.ariaLabel ?? control.textContent).trim();
    return controls.find((control) => control.checkVisibility() && new RegExp(name).test(nameOf(control)));
  }, name);
  await found.click();
}

/** Open another page, as wide as most are. */
async function open(name, width = 900) {
  await page.setViewport({ width, height: 700 });
  await page.goto(`${address}/${name}`);
  await until(() => document.querySelector("model-graph")?.widget !== undefined);
}

async function focus(id) {
  await node(id);
  await widget("(widget, id) => widget.focus(widget.tree.find(id))", id);
}

const results = {};
async function tryTo(name, action) {
  try {
    results[name] = (await action()) ?? true;
  } catch (error) {
    results[name] = String(error);
  }
}

await page.goto(`${folder}/one.html`);
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
await tryTo("a path is lit, and its way out is seen", async () => {
  await open("one.html");
  await focus("head");
  await page.keyboard.press("i");
  await press("^What leads here");
  await page.waitForSelector(within(".mg-stage .mg-dim"));
  await press("^All paths to head");
  await hidden(".mg-stage .mg-dim");
});
await tryTo("one module alone, and Escape back", async () => {
  await focus("layers.0");
  await page.keyboard.press("i");
  await press("^Show alone");
  await page.waitForSelector(within("nav"));
  await node("layers.0.attention");
  if (await shown("embed")) return "others are there, too";
  for (let i = 0; i < 3 && !(await shown("embed")); i += 1) {
    await page.keyboard.press("Escape");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return shown("embed");
});
await tryTo("the menu turns the picture, by mouse and by keys", async () => {
  await open("one.html");
  const isWide = () =>
    page.$eval(within(".mg-canvas > svg"), ({ viewBox: { baseVal } }) => baseVal.width > baseVal.height);
  const before = await isWide();
  await press("^More controls");
  await press("^Right");
  await until(() => {
    const { width, height } = document.querySelector("model-graph").shadowRoot.querySelector(".mg-canvas > svg").viewBox.baseVal;
    return width > height;
  });
  await page.keyboard.press("Home");
  await page.keyboard.press("Escape");
  await hidden(".mg-menu");
  return !before;
});
await tryTo("two fingers zoom about their middle", async () => {
  await open("one.html");
  const before = await (await node("layers.1")).boundingBox();
  const y = before.y + before.height / 2;
  const fingers = [await page.touchscreen.touchStart(430, y), await page.touchscreen.touchStart(470, y)];
  for (let i = 1; i < 5; i += 1) {
    await fingers[0].move(430 - 10 * i, y);
    await fingers[1].move(470 + 10 * i, y);
  }
  for (const finger of fingers) await finger.end();
  const after = await (await node("layers.1")).boundingBox();
  return after.width > 2 * before.width || `${before.width} became ${after.width}`;
});
await tryTo("a finger opens and selects", async () => {
  await open("one.html");
  // a finger that a busy machine lifts late is a long press, which opens nothing
  for (let i = 0; i < 5 && !(await shown("layers.0.mlp")); i += 1) {
    await (await node("layers.0")).tap();
    await page.waitForSelector(within('.mg-stage [data-id="layers.0.mlp"]'), { timeout: 10_000 }).catch(() => undefined);
  }
  await node("layers.0.mlp");
  await selected("layers.0");
});
await tryTo("hits are a list of kinds, lit while typing, chosen by keys and by mouse", async () => {
  await open("one.html");
  await press("^Search");
  await page.keyboard.type("mlp");
  const rows = () => page.$$eval(within('[role="option"]'), (all) => all.map((row) => row.textContent));
  await page.waitForSelector(within('[role="option"]'));
  await page.waitForSelector(within(".mg-stage .mg-found"));
  if (!(await rows())[0].includes("×3")) return String(await rows());
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.type("linear");
  await until(() => document.querySelector("model-graph").shadowRoot.querySelectorAll('[role="option"]').length === 7);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await selected("layers.0.attention.query");
  await page.keyboard.press("ArrowDown");
  await press("^head");
  await selected("head");
});
await tryTo("everything opened is a map, and a block of it leads to its place", async () => {
  await open("deep.html");
  await press("^More controls");
  await press("^all");
  await page.keyboard.press("Escape");
  const cell = await page.waitForSelector(within('.mg-atlas:not([hidden]) [data-cell="layers.20"] > rect'));
  await cell.click({ offset: { x: 4, y: 4 } });
  await hidden(".mg-atlas");
  await node("layers.20.mlp");
});
await tryTo("from afar, containers are blocks with names", async () => {
  await open("large.html");
  await (await page.waitForSelector(within('[data-id="layers.0"] > .mg-header'))).hover();
  await until(() => document.querySelector("model-graph").shadowRoot.querySelectorAll(".mg-stage [data-id]").length < 150);
  for (let i = 0; i < 3; i += 1) {
    await press("^Zoom out");
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  await page.waitForSelector(within(".mg-expanded.mg-block .mg-face > text"));
});
await tryTo("large models are laid out in a worker, over http and from disk", async () => {
  const made = await page.evaluateOnNewDocument(() => {
    const { Worker } = window;
    window.workers = 0;
    window.Worker = class extends Worker {
      constructor(url) {
        super(url);
        window.workers += 1;
      }
    };
  });
  const counted = [];
  for (const place of [address, folder]) {
    await page.goto(`${place}/huge.html`);
    await page.evaluate(() => document.querySelector("model-graph").toggle("layers.0"));
    await page.waitForFunction(
      () => document.querySelector("model-graph").shadowRoot.querySelector('.mg-stage [data-id="layers.0.mlp"]') === null,
    );
    counted.push(await page.evaluate(() => window.workers));
  }
  await page.removeScriptToEvaluateOnNewDocument(made.identifier);
  return String(counted) === "1,1" || `started ${counted}`;
});
await tryTo("notes are beside their nodes, by mouse and keys", async () => {
  await open("noted.html");
  await page.$eval("model-graph", (element) => element.picture().then(() => element.scrollIntoView()));
  await page.waitForSelector(".mg-note-card");
  const isShown = () => page.$(".mg-note-card:popover-open").then((card) => card !== null);
  await (await node("head")).hover();
  await page.waitForSelector(".mg-note-card:popover-open");
  await page.keyboard.press("Escape");
  await until(() => document.querySelector(".mg-note-card:popover-open") === null);
  await focus("input:x");
  for (let i = 0; i < 20 && !(await isShown()); i += 1) await page.keyboard.press("ArrowDown");
  return isShown();
});
await tryTo("a tour leads through its steps, by buttons, keys and scrolling", async () => {
  await open("tour/tour.html");
  const isAt = (index) =>
    until(
      (index) => [...document.querySelectorAll(".mg-step")].findIndex((step) => step.ariaCurrent === "step") === index,
      index,
    );
  await press("^Next step");
  await isAt(1);
  await page.waitForSelector(within(".mg-told .mg-light"));
  await page.keyboard.press("ArrowRight");
  await isAt(2);
  await node("blocks.1.up");
  await page.mouse.wheel({ deltaY: 5000 });
  await isAt(4);
});
await tryTo("words of a page light their parts", async () => {
  await open("tour/parts.html");
  await (await page.waitForSelector("::-p-text(the stem)")).hover();
  await page.waitForSelector(within(".mg-stage .mg-light"));
});
await tryTo("two versions are compared, and the list of changes leads to the picture", async () => {
  await open("versions/2.0/index.html", 1300);
  await (await node("stem")).hover();
  await press("^More controls");
  await press("^Compare with another version");
  await page.waitForSelector(within('.mg-version option[value="1.0"], .mg-version option:nth-child(3)'));
  await page.$eval(within(".mg-version"), (field) => {
    const choice = field.matches("select") ? field : field.querySelector("select");
    choice.value = [...choice.options].find((option) => option.textContent === "1.0").value;
    choice.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await page.waitForSelector(within(".mg-change-list"));
  await press("AvgPool1d");
  await selected("−pool");
  await page.keyboard.press("n");
  await until(() => document.querySelector("model-graph").widget.selected !== "−pool");
});
await tryTo("a link to what is gone says so", async () => {
  await open("one.html#Encoder?at=layers.1.mlp.gate");
  await node("layers.1.mlp");
  await until(() => document.querySelector("model-graph").shadowRoot.textContent.includes("which this model"));
});
await tryTo("a row of a lens's table leads to its box, and memory over the pass is a strip", async () => {
  await open("rich.html", 1300);
  await press("^More controls");
  await press("^Activations");
  await page.waitForSelector(within(".mg-stage .mg-bar"));
  await page.keyboard.press("Escape");
  await (await page.waitForSelector(within(".mg-lens-button"))).click();
  await press("^head");
  await selected("head");
});
await tryTo("a theme is chosen, the graph is saved, and the menu closes", async () => {
  await open("one.html");
  await press("^More controls");
  await press("^Dark");
  await until(() => {
    const stage = document.querySelector("model-graph").shadowRoot.querySelector(".mg-stage");
    return getComputedStyle(stage).backgroundColor === "rgb(21, 23, 26)";
  });
  await press("^Same as the page");
  // what a page downloads is written to a folder of the reader's: here, the link to it is seen
  await page.evaluate(() => {
    HTMLAnchorElement.prototype.click = function () {
      window.saved = this.download;
    };
  });
  await press("^JSON");
  await until(() => window.saved === "Encoder.json");
  await hidden(".mg-menu");
});
await tryTo("fullscreen is entered by its button, and left by its way out", async () => {
  await open("one.html");
  await (await node("head")).hover();
  await press("^Fullscreen");
  await until(() => document.fullscreenElement !== null);
  await press("^Fullscreen$");
  await until(() => document.fullscreenElement === null);
});
await tryTo("a next hit is gone to by its button", async () => {
  await open("one.html");
  await press("^Search");
  await page.keyboard.type("mlp up");
  await page.waitForSelector(within('[role="option"]'));
  await page.keyboard.press("Enter");
  await selected("layers.0.mlp.up");
  await press("^Next");
  await selected("layers.1.mlp.up");
});
for (const name of ["plain", "react", "vue"]) {
  await tryTo(`the element's example selects and hears of it: ${name}`, async () => {
    await open(`${name}.html`);
    await (await node("layers.0")).click();
    await until(() => document.querySelector("#chosen").textContent === "layers.0");
  });
}
await tryTo("an editor follows the element to a line of code, and the element the editor", async () => {
  await open("editor.html");
  const sourced = await element(async (element) => {
    const [session] = await element.widget.tasks.layOut();
    const { id, source } = session.traced.steps.find(({ source }) => source);
    await element.select(id);
    return { id, source };
  });
  await until(() => globalThis.sent.length > 0);
  const [message] = await page.evaluate(() => globalThis.sent);
  if (message.command !== "reveal" || message.source !== sourced.source) return JSON.stringify(message);
  const [file, line] = sourced.source.split(":");
  await element((element) => element.select(null));
  await page.evaluate((data) => postMessage(data), { file, line: Number(line) });
  await until(() => document.querySelector("model-graph").selected !== null);
  return element(
    async (element, file, line) => {
      const [first] = await element.nodesAt(file, line);
      return [first, element.widget.visibleAncestor(first)].includes(element.selected);
    },
    file,
    Number(line),
  );
});
await tryTo("the element's methods do what they say, and its events say so without bubbling", async () => {
  await open("one.html");
  await element((element) => {
    globalThis.seen = [];
    for (const name of ["select", "open", "change"]) {
      element.addEventListener(name, ({ detail }) => globalThis.seen.push([name, detail]));
      document.addEventListener(name, () => globalThis.seen.push(["bubbled"]));
    }
  });
  const seen = () => page.evaluate(() => globalThis.seen);
  await element((element) => element.open("layers.0.mlp"));
  await node("layers.0.mlp.down");
  await element((element) => element.close("layers.0"));
  await until(() => !document.querySelector("model-graph").shadowRoot.querySelector('.mg-stage [data-id="layers.0.mlp"]'));
  await element((element) => element.toggle("layers.1"));
  await node("layers.1.mlp");
  await element((element) => element.select("layers.1"));
  await element((element) => element.select(null));
  const told = (await seen()).map(([name, detail]) => [name, detail?.id ?? detail?.node?.id ?? null, detail?.isOpen]);
  const opened = told.filter(([name]) => name === "open").map(([, id, isOpen]) => `${id} ${isOpen}`);
  if (told.some(([name]) => name === "bubbled")) return "an event bubbles";
  for (const expected of ["layers.0 true", "layers.0.mlp true", "layers.0 false", "layers.1 true"]) {
    if (!opened.includes(expected)) return `no event: ${expected}`;
  }
  const changes = (await seen()).filter(([name]) => name === "change");
  if (!changes.at(-1)[1].expanded.includes("layers.1")) return JSON.stringify(changes.at(-1));
  const chosen = told.filter(([name]) => name === "select").map(([, id]) => id);
  if (String(chosen.slice(-2)) !== String(["layers.1", null])) return String(chosen);
  const refusal = await element((element) => element.select("layers.99").catch((error) => error.message));
  if (refusal !== 'no node has the id "layers.99"') return refusal;
  return element(async (element) => (await element.picture()).startsWith("<svg"));
});
results["no error was raised"] = errors.length === 0 || errors.join("\n");
await browser.close();
process.stdout.write(JSON.stringify(results));
