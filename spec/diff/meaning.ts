/** Finds schemas with the same meaning in two documents by comparing their texts: equal schemas need no search. */
import { annotations, refName, type Schema, type Schemas } from './document.ts';

/** Keywords whose members are names of the contract. */
export const named: ReadonlySet<string> = new Set(
  'properties patternProperties dependentSchemas dependentRequired $defs schemas headers x-events x-messages'.split(
    ' ',
  ),
);
/** Keywords whose values are not schemas. */
export const literal: ReadonlySet<string> = new Set(['default', 'enum', 'const', 'x-restores']);
/** Lists whose order has no meaning. */
const sets = new Set(['required', 'enum', 'type', 'x-ignored']);

/** Returns the schema's text without annotations, with members in a fixed order. */
export function meaning(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null) return JSON.stringify(schema) ?? '';
  const text = known.get(schema) ?? JSON.stringify(plain(schema));
  known.set(schema, text);
  return text;
}

/** Whether a keyword means the same in both objects. Its value may be a map of names or a plain value instead of a schema. */
export function alike(keyword: string, one: object, other: object): boolean {
  const [was, is] = [(one as Json)[keyword], (other as Json)[keyword]];
  return was === is || meaning({ [keyword]: was }) === meaning({ [keyword]: is });
}

type Json = Readonly<Record<string, unknown>>;

/** Documents do not change during a comparison. */
const known = new WeakMap<object, string>();

function plain(node: unknown, names = false): unknown {
  if (Array.isArray(node)) return node.map((part) => plain(part));
  if (typeof node !== 'object' || node === null) return node;
  const members = Object.entries(node)
    .filter(([name]) => names || !annotations.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    members.map(([name, part]) => [name, names ? plain(part) : ofKeyword(name, part)]),
  );
}

function ofKeyword(keyword: string, value: unknown): unknown {
  const ordered = Array.isArray(value) && sets.has(keyword) ? sorted(value) : value;
  return literal.has(keyword) ? ordered : plain(ordered, named.has(keyword));
}

const sorted = (list: readonly unknown[]): unknown[] =>
  list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

export type Same = (one: Schema, other: Schema) => boolean;

/** Whether a schema of the first document means the same as one of the second, according to their texts. */
export function sameMeaning(before: Schemas, after: Schemas): Same {
  const texts = new Map(Object.entries(before).map(([name, schema]) => [name, meaning(schema)]));
  const changed = new Set(
    [...texts].filter(([name, text]) => !after[name] || meaning(after[name]) !== text).map(([name]) => name),
  );
  // A schema that refers to a changed one is changed too.
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
