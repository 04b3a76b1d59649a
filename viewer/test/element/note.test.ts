import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Note } from "../../src/element/note.js";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("document", { createElement: () => ({ textContent: "" }) });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("says that something takes long, until it is done", () => {
  const note = new Note();
  note.wait("Loading…");
  expect(note.element.textContent).toBe("");
  vi.runAllTimers();
  expect(note.element.textContent).toBe("Loading…");
  note.done();
  expect(note.element.textContent).toBe("");
});

it("keeps what came up while something was done, until the next time", () => {
  const note = new Note();
  note.wait("Loading…");
  note.say("Nothing flows.");
  note.done();
  vi.runAllTimers();
  expect(note.element.textContent).toBe("Nothing flows.");
  note.wait("Loading…");
  note.done();
  expect(note.element.textContent).toBe("");
});

it("insists on what stays true whatever else goes on", () => {
  const note = new Note();
  note.insist("viz.js did not load");
  note.wait("Loading…");
  vi.runAllTimers();
  note.done();
  expect(note.element.textContent).toBe("viz.js did not load");
  note.clear();
  expect(note.element.textContent).toBe("");
});
