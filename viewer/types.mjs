/** Generates the types of the formats, generated/*.ts, from their published schemas: `npm run types`. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile } from "json-schema-to-typescript";

const file = (path) => join(import.meta.dirname, path);

/** File → schema, and the name of its type. */
const FORMATS = {
  format: ["graph", "Graph"],
  overlay: ["overlay", "Overlay"],
  recording: ["recording", "PageRecording"],
};

mkdirSync(file("generated"), { recursive: true });
for (const [name, [format, type]] of Object.entries(FORMATS)) {
  // the title contains the format's version and would become the type's name
  const { title, ...schema } = JSON.parse(readFileSync(file(`../docs/${format}.schema.json`), "utf8"));
  const bannerComment = `/** ${title}. Made by types.mjs from docs/${format}.schema.json. */`;
  const types = await compile(schema, type, { additionalProperties: false, bannerComment });
  writeFileSync(file(`generated/${name}.ts`), types);
}
