/** Reads the XML that draw.ts writes, into a tree: no doctype, no comments, nothing that is not well-formed. */
export interface XmlElement {
  name: string;
  /** Values as they are written, with their entities. */
  attributes: Map<string, string>;
  children: (XmlElement | string)[];
}

const TOKEN = /<(\/?)([\w:-]+)([^>]*?)(\/?)>|([^<]+)/g;
const ATTRIBUTE = /([\w:-]+)="([^"]*)"/g;

/** The root element. */
export function parseXml(text: string): XmlElement {
  const top: XmlElement = { name: "", attributes: new Map(), children: [] };
  const open = [top];
  for (const [, closing, name, attributes, empty, words] of text.matchAll(TOKEN)) {
    const around = open[open.length - 1] ?? top;
    if (words !== undefined) around.children.push(words);
    else if (closing === "/") open.pop();
    else {
      const element: XmlElement = { name: name ?? "", attributes: parseAttributes(attributes ?? ""), children: [] };
      around.children.push(element);
      if (empty !== "/") open.push(element);
    }
  }
  const [root] = top.children;
  if (root === undefined || typeof root === "string" || open.length !== 1) {
    throw new Error(`expected one XML element, got ${text.slice(0, 60)}`);
  }
  return root;
}

function parseAttributes(text: string): Map<string, string> {
  return new Map([...text.matchAll(ATTRIBUTE)].map(([, name, value]) => [name ?? "", value ?? ""]));
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** Text without entities. */
export function unescapeText(text: string): string {
  return text.replace(/&([\w#]+);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}
