/**
 * The search for witnesses: values that one schema accepts and another refuses. The search walks both schemas together. At each
 * place where they differ, it tries values at the limits of the difference.
 */
import { formsOf, type Schema } from './document.ts';
import type { Judge } from './judge.ts';
import { meaning, type Same } from './meaning.ts';
import { overlaps, probes } from './probes.ts';
import { reasons, typesOf, type Reason } from './reasons.ts';

export interface Witnessed extends Reason {
  /** A value that the first schema accepts and the second refuses for this reason. */
  readonly value: unknown;
}

export interface Search {
  readonly accepting: Judge;
  readonly refusing: Judge;
  readonly same: Same;
  /** Whether the values are requests; otherwise they are answers. */
  readonly requests: boolean;
  /** Differences found so far, by pair of schemas. */
  readonly known: Map<string, unknown[]>;
  /** Recursive pairs at which the search stopped. The findings of the pairs in between are incomplete. */
  readonly cuts: Set<string>;
}

export const searchBetween = (accepting: Judge, refusing: Judge, same: Same, requests: boolean): Search => ({
  ...{ accepting, refusing, same, requests },
  known: new Map(),
  cuts: new Set(),
});

/** Returns the smallest witness for each reason, in the order of the reasons' places. Ajv has the final say on each. */
export function search(
  by: Search,
  accepting: Schema,
  refusing: Schema,
  holds = (value: unknown) => by.accepting.accepts(accepting, value) && by.refusing.refuses(refusing, value),
): Witnessed[] {
  const found = differences(by, accepting, refusing, new Set()).filter(holds);
  return smallestByReason(
    found.flatMap((value) => reasons(by.refusing, refusing, value).map((reason) => ({ ...reason, value }))),
    1,
  );
}

const keyOf = ({ place, keyword }: Reason): string => `${place} ${keyword}`;
function smallestByReason(found: readonly Witnessed[], keep: number): Witnessed[] {
  const groups = Map.groupBy(found, keyOf);
  return [...groups.keys()].sort().flatMap((key) => {
    const sized = (groups.get(key) ?? []).map((one) => ({ one, text: JSON.stringify(one.value) }));
    sized.sort((a, b) => a.text.length - b.text.length);
    return sized.slice(0, keep).map(({ one }) => one);
  });
}

export type Trail = ReadonlySet<string>;

/** Returns values that the first schema accepts and the second refuses, a few for each reason. */
export function differences(by: Search, first: Schema, second: Schema, trail: Trail): unknown[] {
  if (by.same(first, second)) return [];
  const pair = `${meaning(first)} ${meaning(second)}`;
  // A pair of schemas nested within itself has no differences beyond those of the outer pair.
  if (trail.has(pair)) {
    by.cuts.add(pair);
    return [];
  }
  const found = by.known.get(pair) ?? differing(by, first, second, new Set([...trail, pair]));
  by.cuts.delete(pair);
  if (by.cuts.size === 0) by.known.set(pair, found);
  return found;
}

function differing(by: Search, first: Schema, second: Schema, deeper: Trail): unknown[] {
  const accepting = by.accepting.resolve(first);
  const refusing = by.refusing.resolve(second);
  const others = formsOf(refusing) ?? [refusing];
  const candidates = singleForms(accepting).flatMap((form) => {
    if (others.some((other) => by.same(form, other))) return [];
    const resolved = by.accepting.resolve(form);
    if (formsOf(resolved)) return differences(by, form, second, deeper);
    return others.flatMap((other) => {
      const against = by.refusing.resolve(other);
      return formsOf(against) ? differences(by, form, other, deeper) : probes(by, resolved, against, deeper);
    });
  });
  const refused = [...candidates, ...overlaps(by, refusing)].flatMap((value) =>
    reasons(by.accepting, first, value).length > 0
      ? []
      : reasons(by.refusing, second, value).map((reason) => ({ ...reason, value })),
  );
  return [...new Set(smallestByReason(refused, 8).map(({ value }) => value))];
}

/** Returns the alternatives of a schema, or one schema per type when it has several types. */
function singleForms(schema: Schema): readonly Schema[] {
  const forms = formsOf(schema);
  if (forms) return forms;
  const types = typesOf(schema) ?? [];
  return types.length > 1 ? types.map((type) => ({ ...schema, type })) : [schema];
}
