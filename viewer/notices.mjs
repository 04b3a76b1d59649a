/** Third-party notices: the licence of every npm package in the built viewer, as recorded by the bundler. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Licences of code that viz-js bundles without a licence file. */
function bundledByViz(folder) {
  const metadata = readFileSync(join(folder, "lib", "metadata.js"), "utf8");
  const graphviz = /graphvizVersion = "([^"]+)"/.exec(metadata)?.[1];
  if (!graphviz)
    throw new Error("@viz-js/viz no longer states its Graphviz version in lib/metadata.js: mend notices.mjs");
  return [
    "MIT License, Copyright (c) Michael Daines. Permission is hereby granted, free of charge, to any person obtaining a",
    'copy of this software and associated documentation files (the "Software"), to deal in the Software without',
    "restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense,",
    "and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the",
    "following conditions: The above copyright notice and this permission notice shall be included in all copies or",
    'substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND.',
    "",
    `It contains a WebAssembly build of Graphviz ${graphviz}, Copyright (c) AT&T Intellectual Property and contributors,`,
    "under the Eclipse Public License (https://graphviz.org/license/). Its source code is available at",
    "https://gitlab.com/graphviz/graphviz. In viz.js, functions that the viewer never calls are left out of this build.",
    "",
    "It contains Expat, Copyright (c) 1998-2000 Thai Open Source Software Center Ltd and Clark Cooper, Copyright (c)",
    "2001 Expat maintainers, under the MIT License (https://github.com/libexpat/libexpat/blob/master/COPYING).",
  ].join("\n");
}

/** The package folder (…/node_modules/name or …/node_modules/@scope/name) an input file belongs to, or null. */
function packageFolder(input) {
  const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
  return match ? match[1] : null;
}

/** Licence text of a package, from its own files: packages of fonts have one for the package and one for the font. */
function licence(folder, name) {
  const files = readdirSync(folder).filter((entry) => /^licen[cs]e/i.test(entry));
  if (files.length > 0) return files.map((file) => readFileSync(join(folder, file), "utf8").trim()).join("\n\n");
  if (name === "@viz-js/viz") return bundledByViz(folder);
  throw new Error(`${name} is bundled but has no licence file: add its notice to notices.mjs`);
}

/**
 * @param {string[]} inputs paths of all bundled files, as esbuild's metafile lists them, relative to the viewer folder
 * @returns {string} the notices, packages in order of name
 */
export function notices(inputs) {
  const folders = [...new Set(inputs.map(packageFolder).filter((folder) => folder !== null))];
  const entries = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { name, text: `${name} ${version} (${license})\n\n${licence(folder, name)}\n` };
  });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const rule = `\n${"-".repeat(80)}\n\n`;
  return `The viewer of modeldiagrams contains these third-party packages.\n${rule}${entries.map((e) => e.text).join(rule)}`;
}
