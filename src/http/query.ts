import { Invalid } from '../lib/errors.ts';
import { clipped } from './clipped.ts';
import { pairs } from './form.ts';
import type { Operation, Parameter } from './operation.ts';

export type Query = Record<string, string | string[]>;

/**
 * Builds the query parser of an operation. An unknown or repeated parameter is an error that names it: a misspelt filter must
 * not list everything. A tolerant operation ignores unknown parameters.
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
      if (Array.isArray(before)) before.push(value);
      else if (parameter.array) query[name] = [value];
      else if (before !== undefined) throw Invalid(`${name}: given more than once`);
      else query[name] = value;
    }
    return query;
  };
}
