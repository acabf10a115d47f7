import type { Document } from '../contract/document.ts';

/** Maximum number of list items, map members and text characters to make up, unless the contract demands more. */
const most = { items: 3, characters: 64, repeated: 16 };

/** The document with narrower bounds: a value that fits it fits the contract, and is small enough to be made up quickly. */
export const smaller = (document: Document): Document => narrowed(document) as Document;

function narrowed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(narrowed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, narrowed(value)]));
  if (copy['type'] === 'array') copy['maxItems'] = atMost(copy['maxItems'], copy['minItems'], most.items);
  if (copy['type'] === 'object' && isSchema(copy['additionalProperties'] ?? copy['unevaluatedProperties']))
    copy['maxProperties'] = atMost(copy['maxProperties'], copy['minProperties'], most.items);
  if (copy['type'] === 'string' && copy['enum'] === undefined && copy['pattern'] === undefined)
    copy['maxLength'] = atMost(copy['maxLength'], copy['minLength'], most.characters);
  if (typeof copy['pattern'] === 'string') copy['pattern'] = shorter(copy['pattern']);
  return copy;
}

const isSchema = (node: unknown) => typeof node === 'object' && node !== null && !('not' in node);

const atMost = (bound: unknown, least: unknown, wanted: number) =>
  Math.min(
    typeof bound === 'number' ? bound : Infinity,
    Math.max(typeof least === 'number' ? least : 0, wanted),
  );

/** Returns the pattern with fewer repetitions. */
const shorter = (pattern: string) =>
  pattern.replaceAll(/\{(\d+),(\d*)\}/g, (_, least: string, upper: string) => {
    const bound = Math.max(Number(least), most.repeated);
    return `{${least},${upper === '' ? bound : Math.min(Number(upper), bound)}}`;
  });
