import { isUtf8 } from 'node:buffer';
import { Invalid } from '../lib/errors.ts';
import { checkJsonText } from './text.ts';

/** Levels of arrays and objects in a body. Contracts stay far below; what recurses over a body relies on it. */
const deepest = 64;

/** Reads a JSON body. Throws `Invalid` naming what is wrong; no part of the body is repeated in the message. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw Invalid('body: must be UTF-8');
  const text = bytes.toString('utf8');
  const value = parse(text);
  if (isDeeperThan(value, deepest)) throw Invalid(`body: nested deeper than ${deepest} levels`);
  checkJsonText(text, value);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw Invalid('body: not valid JSON');
  }
}

/** Whether a value has more levels of arrays and objects than these. The parser itself does not recurse, this does, so far. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((entry) => isDeeperThan(entry, levels - 1));
  for (const name in value) {
    if (isDeeperThan((value as Record<string, unknown>)[name], levels - 1)) return true;
  }
  return false;
}
