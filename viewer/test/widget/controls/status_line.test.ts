import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { StatusLine } from "../../../src/widget/controls/status_line.js";

let hasFocus: boolean;
let buttons: HTMLButtonElement[];

beforeEach(() => {
  hasFocus = false;
  buttons = [];
  vi.useFakeTimers();
  vi.stubGlobal("document", {
    createElement: () => ({
      textContent: "",
      append(...parts: (string | HTMLButtonElement)[]) {
        buttons = parts.filter((part) => typeof part !== "string");
      },
      matches: () => hasFocus,
      addEventListener(_: string, listener: () => void) {
        this.click = listener;
      },
      click(): void {},
    }),
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("shows a wait message for slow tasks until they are done", () => {
  const status = new StatusLine();
  status.wait("Loading…");
  expect(status.element.textContent).toBe("");
  vi.runAllTimers();
  expect(status.element.textContent).toBe("Loading…");
  status.done();
  expect(status.element.textContent).toBe("");
});

it("keeps a message until the next task is done", () => {
  const status = new StatusLine();
  status.wait("Loading…");
  status.say("Nothing flows.");
  status.done();
  vi.runAllTimers();
  expect(status.element.textContent).toBe("Nothing flows.");
  status.wait("Loading…");
  status.done();
  expect(status.element.textContent).toBe("");
});

it("keeps a pinned message until it is cleared", () => {
  const status = new StatusLine();
  status.pin("viz.js did not load");
  status.wait("Loading…");
  vi.runAllTimers();
  status.done();
  expect(status.element.textContent).toBe("viz.js did not load");
  status.clear();
  expect(status.element.textContent).toBe("");
});

it("offers to stop what takes long, until it is done", () => {
  const stop = vi.fn();
  const status = new StatusLine({ stop });
  status.wait("Loading…");
  expect(status.isWaiting).toBe(false);
  vi.runAllTimers();
  expect(status.isWaiting).toBe(true);
  buttons[0]?.click();
  expect(stop).toHaveBeenCalledOnce();
  status.done();
  expect(status.isWaiting).toBe(false);
});

it("hands the focus on where its button disappears", () => {
  const onFocusLost = vi.fn();
  const status = new StatusLine({ onFocusLost });
  status.offerRetry("viz.js did not load");
  expect(onFocusLost).not.toHaveBeenCalled();
  hasFocus = true;
  status.clear();
  expect(onFocusLost).toHaveBeenCalledOnce();
});
