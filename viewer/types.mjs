/** Makes generated/format.ts, the types of the graph format, from its published schema: `npm run types`. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile } from "json-schema-to-typescript";

const file = (path) => join(import.meta.dirname, path);
// the title has the format's version in it, and would name the type
const { title, ...schema } = JSON.parse(readFileSync(file("../docs/graph.schema.json"), "utf8"));
const bannerComment = `/** ${title}. Made by types.mjs from docs/graph.schema.json. */`;
const types = await compile(schema, "Graph", { additionalProperties: false, bannerComment });
mkdirSync(file("generated"), { recursive: true });
writeFileSync(file("generated/format.ts"), types);
