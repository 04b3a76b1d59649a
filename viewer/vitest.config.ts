import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Traced graphs that the sweep looks at: a few small ones, or those that tests/test_pictures.py has just traced. */
const folder = process.env.MODELDIAGRAMS_GRAPHS ?? join(import.meta.dirname, "test/graphs");
const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
const graphs = Object.fromEntries(files.sort().map((file) => [file, readFileSync(join(folder, file), "utf8")]));

export default defineConfig({
  test: { include: ["test/**/*.test.ts"], provide: { graphs }, testTimeout: 60_000 },
});
