import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { printAlone } from "../../../src/widget/menu/print.js";

const page = new EventTarget();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal(
    "CSSStyleSheet",
    class {
      replaceSync() {}
    },
  );
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  const element = () => ({ attachShadow: () => ({ append() {} }), remove() {}, content: { firstElementChild: null } });
  const body = { append() {} };
  vi.stubGlobal("document", { title: "Docs", adoptedStyleSheets: [], body, createElement: element });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function shown() {
  return [document.title, document.adoptedStyleSheets.length];
}

it("leaves the page as it was where printing is blocked", () => {
  vi.stubGlobal("print", () => undefined);
  printAlone("", { width: 1, height: 1 }, "Net");
  expect(shown()).toEqual(["Net", 1]);
  vi.runAllTimers();
  expect(shown()).toEqual(["Docs", 0]);
});

it("waits for a dialog that is open", () => {
  vi.stubGlobal("print", () => page.dispatchEvent(new Event("beforeprint")));
  printAlone("", { width: 1, height: 1 }, "Net");
  vi.runAllTimers();
  expect(shown()).toEqual(["Net", 1]);
  page.dispatchEvent(new Event("afterprint"));
  expect(shown()).toEqual(["Docs", 0]);
});
