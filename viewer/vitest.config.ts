import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Traced graphs that sweeps look at: a few small ones, or those that tests/pictures has just traced. */
const folder = process.env.MODELDIAGRAMS_GRAPHS ?? join(import.meta.dirname, "test/graphs");
const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
const graphs = Object.fromEntries(files.sort().map((file) => [file, readFileSync(join(folder, file), "utf8")]));

/** Whether sweeps are as long as in `make zoo`. */
const long = process.env.MODELDIAGRAMS_SWEEPS === "long";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    provide: { graphs, long },
    // a process imports everything once; tests that change what is imported reset it
    isolate: false,
    // against endless loops only: a busy machine may take ten times as long
    testTimeout: 600_000,
  },
});
