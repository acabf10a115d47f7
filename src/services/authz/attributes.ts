import { Invalid } from '../../lib/errors.ts';

const BYTES = 16_384;
const DEPTH = 8;
const KEYS = 256;

/** Refuses attributes beyond 16 KiB serialised, 8 levels of nesting or 256 keys in all; `field` is named in the refusal. */
export function checkAttributes(attributes: object, field: string): void {
  // Most requests carry none.
  for (const _ in attributes) return judge(attributes, field);
}

function judge(attributes: object, field: string): void {
  if (depthOf(attributes) > DEPTH) throw Invalid(`${field}: nested deeper than ${DEPTH} levels`);
  if (keysOf(attributes) > KEYS) throw Invalid(`${field}: more than ${KEYS} keys`);
  if (Buffer.byteLength(JSON.stringify(attributes)) > BYTES) throw Invalid(`${field}: larger than 16 KiB`);
}

/** Levels of nesting, counted no further than matters. */
function depthOf(value: unknown, above = 0): number {
  if (typeof value !== 'object' || value === null || above > DEPTH) return above;
  return Object.values(value).reduce(
    (most: number, member) => Math.max(most, depthOf(member, above + 1)),
    above + 1,
  );
}

/** Keys of all objects together, to the depth that was judged before. */
function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  const own = Array.isArray(value) ? 0 : members.length;
  return members.reduce((sum: number, member) => sum + keysOf(member), own);
}
