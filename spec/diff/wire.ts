/** Values as written in a path, a query or a header, where they are always texts. */
import { isObject, type Parameter } from './document.ts';
import type { Judge, Texts } from './judge.ts';

/** Returns the text of a value, or undefined when it cannot be written. */
export function textOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map((item) => textOf(item) ?? '').join(',');
  if (isObject(value)) {
    const pairs = Object.entries(value).map(([name, part]) => `${name},${textOf(part) ?? ''}`);
    return pairs.join(',');
  }
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** Returns the texts as which a value is read, or undefined when a part of it cannot be written. */
export function textsOf(value: unknown): Texts | undefined {
  const parts = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [value];
  const isFlat = parts.every((part) => typeof part !== 'object' && textOf(part) !== undefined);
  if (!isFlat) return undefined;
  if (Array.isArray(value)) return value.map((item) => textOf(item) ?? '');
  if (!isObject(value)) return textOf(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, textOf(part) ?? '']));
}

/** Returns how a list or an object is written, or undefined for a type that is a single text in any style. */
export function styleOf(judge: Judge, parameter: Parameter): string | undefined {
  const { items, properties, type } = judge.resolve(parameter.schema);
  if (!items && !properties && type !== 'array' && type !== 'object') return undefined;
  const { style = parameter.in === 'query' ? 'form' : 'simple', explode = style === 'form' } = parameter;
  return `${style}${explode ? ' exploded' : ''}`;
}
