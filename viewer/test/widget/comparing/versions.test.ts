/** Which versions a documentation has, and in which order they came. */

import { afterEach, describe, expect, it, vi } from "vitest";
import { findVersions, isLater, jsonAt } from "../../../src/widget/comparing/versions.js";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("order", () => {
  const ORDERED = ["1.9", "1.10", "2.0.dev3", "2.0a1", "2.0-beta.2", "2.0rc1", "v2.0rc2", "2.0", "2.0.1", "10"];

  it.each(ORDERED.slice(1).map((name, i) => [ORDERED[i] as string, name]))("%s came before %s", (earlier, later) => {
    expect(isLater(later, earlier)).toBe(true);
    expect(isLater(earlier, later)).toBe(false);
  });

  it.each([
    ["2.0", "2"],
    ["stable", "1.0"],
    ["2.0 (stable)", "2.0"],
    ["2.0", "2.0"],
  ])("does not tell %s from %s", (one, other) => {
    expect(isLater(one, other)).toBe(false);
    expect(isLater(other, one)).toBe(false);
  });
});

describe("versions", () => {
  const ROOT = "https://docs.example/2.0/";
  const named = (versions: string) => ({ getAttribute: () => versions }) as unknown as HTMLElement;

  it("leaves out addresses that are none, and keeps the others", async () => {
    const found = await findVersions(named('{"bad": "http://[", "1.0": "../1.0/"}'), ROOT);
    expect(found).toEqual([{ name: "1.0", root: "https://docs.example/1.0/", isOwn: false }]);
  });

  it("has none where the list's address is none", async () => {
    expect(await findVersions(named("http://["), ROOT)).toEqual([]);
  });

  it("leaves out invalid addresses in a list", async () => {
    const list = [
      { version: "0", url: "http://[" },
      { version: "1.0", url: "/1.0/" },
    ];
    vi.stubGlobal("fetch", async () => new Response(JSON.stringify(list)));
    vi.stubGlobal("location", new URL(ROOT));
    expect((await findVersions(named("../switcher.json"), ROOT)).map(({ name }) => name)).toEqual(["1.0"]);
  });

  it("gives up what never loads", async () => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => {
      return new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    });
    const answer = expect(jsonAt("https://docs.example/1.0/graph.json")).rejects.toThrow();
    await vi.advanceTimersByTimeAsync(60_000);
    await answer;
  });
});
