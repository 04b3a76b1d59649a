import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { StatusLine } from "../../src/widget/parts/status_line.js";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("document", { createElement: () => ({ textContent: "" }) });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("shows a wait message for slow tasks until they are done", () => {
  const status = new StatusLine(() => undefined);
  status.wait("Loading…");
  expect(status.element.textContent).toBe("");
  vi.runAllTimers();
  expect(status.element.textContent).toBe("Loading…");
  status.done();
  expect(status.element.textContent).toBe("");
});

it("keeps a message until the next task is done", () => {
  const status = new StatusLine(() => undefined);
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
  const status = new StatusLine(() => undefined);
  status.pin("viz.js did not load");
  status.wait("Loading…");
  vi.runAllTimers();
  status.done();
  expect(status.element.textContent).toBe("viz.js did not load");
  status.clear();
  expect(status.element.textContent).toBe("");
});
