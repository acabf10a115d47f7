/** Which schemas mean the same in two documents, told by their text: what is equal need not be searched. */
import { isSealed, refName, type Schema, type Schemas } from './document.ts';

/** Keywords that neither side of a conversation can be refused for. */
const annotations = new Set(['description', 'summary', 'title', 'examples', 'example', 'readOnly', 'tags']);

/** The schema's text without annotations, members in one order. Answers are read with unknown members ignored. */
export function meaning(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null) return JSON.stringify(schema) ?? '';
  const text = known.get(schema) ?? JSON.stringify(plain(schema));
  known.set(schema, text);
  return text;
}

/** Documents are not changed while they are compared. */
const known = new WeakMap<object, string>();

function plain(node: unknown, names = false): unknown {
  if (Array.isArray(node)) return node.map((part) => plain(part));
  if (typeof node !== 'object' || node === null) return node;
  const members = Object.entries(node)
    .filter(([name]) => names || !annotations.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  // The members of `properties` are names of the contract, not keywords.
  return Object.fromEntries(
    members.map(([name, part]) => [name, plain(part, !names && name === 'properties')]),
  );
}

export type Same = (one: Schema, other: Schema) => boolean;

/** Whether a schema of the first document means what one of the second does, as far as their texts tell. */
export function sameMeaning(before: Schemas, after: Schemas): Same {
  const texts = new Map(Object.entries(before).map(([name, schema]) => [name, meaning(schema)]));
  const changed = new Set(
    [...texts].filter(([name, text]) => !after[name] || meaning(after[name]) !== text).map(([name]) => name),
  );
  // What refers to something changed is changed too.
  for (let size = -1; size !== changed.size;) {
    size = changed.size;
    for (const [name, text] of texts) if (namesIn(text).some((used) => changed.has(used))) changed.add(name);
  }
  return (one, other) => {
    const text = meaning(one);
    return text === meaning(other) && !namesIn(text).some((used) => changed.has(used) || !texts.has(used));
  };
}

const namesIn = (text: string): string[] =>
  [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => refName(reference));

/**
 * The schema as a client reads an answer by it: members that it does not know are ignored, and so is that forms which were
 * told apart by their seals no longer are.
 */
export function opened<Node>(node: Node): Node {
  if (Array.isArray(node)) return node.map((part: unknown) => opened(part)) as Node;
  if (typeof node !== 'object' || node === null) return node;
  const members = Object.entries(node).filter(
    ([name]) => name !== 'unevaluatedProperties' || !isSealed(node as Schema),
  );
  return Object.fromEntries(
    members.map(([name, part]) => [name === 'oneOf' ? 'anyOf' : name, opened(part as unknown)]),
  ) as Node;
}
