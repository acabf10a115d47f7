import { momentText, parseMoment } from '../lib/moments.ts';
import { clipped } from './clipped.ts';
import type { Moments } from './operation.ts';

/**
 * Returns the value with every moment in its normal form, so that later code never meets another form; arrays and objects are
 * changed in place. Values that are not strings are left to the validators.
 * @throws Invalid, naming the field, for a time that does not exist or cannot be stored.
 */
export function normalMoments(moments: Moments, value: unknown, path: string): unknown {
  if (moments === true)
    return typeof value === 'string' ? momentText(parseMoment(value, path || 'body').ms) : value;
  const { members, items, values } = moments;
  if (Array.isArray(value)) {
    if (items)
      for (const [index, item] of value.entries())
        value[index] = normalMoments(items, item, `${path}[${index}]`);
  } else if (typeof value === 'object' && value !== null) {
    const record = value as Record<string, unknown>;
    const normalize = (name: string, inner: Moments) => {
      record[name] = normalMoments(inner, record[name], path ? `${path}.${clipped(name)}` : clipped(name));
    };
    for (const name in members) if (Object.hasOwn(record, name)) normalize(name, members[name]!);
    if (values) for (const name in record) normalize(name, values);
  }
  return value;
}
