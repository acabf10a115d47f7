/** Differences between two objects of a document that no rule reads. Each may break a client, so none is ignored. */
import type { Draft } from './break.ts';
import { annotations } from './document.ts';
import { alike } from './meaning.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns the names of the differences, except those in `judged`, which other rules decide. */
export function unjudged(before: object, after: object, judged: readonly string[]): string[] {
  const [was, is] = [before as Json, after as Json];
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...names].filter(
    (name) => !judged.includes(name) && !annotations.has(name) && !alike(name, was, is),
  );
}

export const remaining = (place: string, names: readonly string[]): Draft[] =>
  names.map((change) => ({
    ...{ place, change, certain: false, outcome: '' },
    message: `${change} changed, and no rule says what that does to clients`,
  }));
