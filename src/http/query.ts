import { Invalid } from '../lib/errors.ts';
import { pairs } from './form.ts';
import type { Operation, Parameter } from './operation.ts';

export type Query = Record<string, string | string[]>;

/**
 * The query parser of an operation. A parameter that it does not know or that is given twice is an error that names
 * it: a misspelt filter must not list everything. A tolerant operation leaves out what it does not know.
 */
export function queryReader({ parameters, tolerant }: Operation): (text: string) => Query {
  const known = new Map<string, Parameter>();
  for (const parameter of parameters) if (parameter.in === 'query') known.set(parameter.name, parameter);
  return (text) => {
    const query: Query = {};
    if (text === '') return query;
    for (const [name, value] of pairs(text, 'query')) {
      const parameter = known.get(name);
      if (!parameter) {
        if (tolerant) continue;
        throw Invalid(`${clipped(name)}: unknown`);
      }
      const before = query[name];
      if (parameter.array) query[name] = Array.isArray(before) ? [...before, value] : [value];
      else if (before !== undefined) throw Invalid(`${name}: given more than once`);
      else query[name] = value;
    }
    return query;
  };
}

/** Names that clients make up are repeated in messages, but not at any length. */
export function clipped(name: string): string {
  return name.length > 64 ? `${name.slice(0, 63)}…` : name;
}
