import { expect, it } from "vitest";
import { packed } from "../../packing.mjs";
import { unpacked } from "../../src/shared/unpack.js";

it.each(["", "a", "ab", "abc", "é\u2028</script>", "x".repeat(100_000)])("reads back %s", async (text) => {
  const made = packed(text);
  expect(made).toMatch(/^[\w!#$%,()*+\-;.=/?@^:[|\]~]+$/);
  expect(await unpacked(made)).toBe(text);
});

it("reads what Python has packed", async () => {
  expect(await unpacked("c-nI/I=tub[8SwULjwg/g/zE?JQfCY")).toBe("Grüße, 10 % Δ");
});
