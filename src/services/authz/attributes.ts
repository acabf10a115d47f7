import { Invalid } from '../../lib/errors.ts';

const mostBytes = 16_384;
const deepest = 8;
const mostKeys = 256;

/** Rejects attributes larger than 16 KiB serialised, deeper than 8 levels or with more than 256 keys in total. The error names `field`. */
export function checkAttributes(attributes: object, field: string): void {
  // Most requests carry no attributes.
  for (const _ in attributes) return judge(attributes, field);
}

function judge(attributes: object, field: string): void {
  if (depthOf(attributes) > deepest) throw Invalid(`${field}: nested deeper than ${deepest} levels`);
  if (keysOf(attributes) > mostKeys) throw Invalid(`${field}: more than ${mostKeys} keys`);
  if (Buffer.byteLength(JSON.stringify(attributes)) > mostBytes)
    throw Invalid(`${field}: larger than 16 KiB`);
}

/** Returns the levels of nesting, and stops counting once the limit is exceeded. */
function depthOf(value: unknown, above = 0): number {
  if (typeof value !== 'object' || value === null || above > deepest) return above;
  return Object.values(value).reduce(
    (most: number, member) => Math.max(most, depthOf(member, above + 1)),
    above + 1,
  );
}

/** Returns the number of keys in all objects together. The depth has been checked before. */
function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  const own = Array.isArray(value) ? 0 : members.length;
  return members.reduce((sum: number, member) => sum + keysOf(member), own);
}
