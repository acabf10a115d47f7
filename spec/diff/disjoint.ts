/** Finds schemas that have no value in common. */
import { isSealed, type Schema } from './document.ts';
import type { Judge } from './judge.ts';
import { typesOf } from './reasons.ts';
import { same } from './values.ts';

/** Whether two schemas are disjoint: they share no type, or both require a member that has no common value. */
export function areDisjoint(judge: Judge, first: Schema, second: Schema, depth = 0): boolean {
  const [one, other] = [judge.resolve(first), judge.resolve(second)];
  const [types, theirs] = [typesOf(one), typesOf(other)];
  const number = (type: string) => (type === 'integer' ? 'number' : type);
  if (types && theirs && !types.some((type) => theirs.map(number).includes(number(type)))) return true;
  const [values, known] = [valuesOf(one), valuesOf(other)];
  if (values && known && !values.some((value) => known.some((it) => same(it, value)))) return true;
  // The remaining checks apply only to objects.
  if (depth > 6 || [types, theirs].some((list) => list?.length !== 1 || list[0] !== 'object')) return false;
  const needs = (schema: Schema, against: Schema) =>
    isSealed(against) &&
    !against.patternProperties &&
    schema.required?.some((name) => !Object.hasOwn(against.properties ?? {}, name));
  if (needs(one, other) || needs(other, one)) return true;
  return (one.required ?? []).some((name) => {
    const [own, its] = [one.properties?.[name], other.properties?.[name]];
    return own && its && other.required?.includes(name) && areDisjoint(judge, own, its, depth + 1);
  });
}

export const valuesOf = (schema: Schema): readonly unknown[] | undefined =>
  'const' in schema ? [schema.const] : schema.enum;
