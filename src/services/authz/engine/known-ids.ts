import type { Model } from './model.ts';
import { matches } from './pattern.ts';
import type { Pacing, Suspension } from './pacing.ts';

/** Rows examined between two checks of the clock. */
const rowsPerLook = 10_000;

/** Policies examined between two checks of the clock. Each names at most 300 ids. */
const policiesPerLook = 20;

/** Returns the ids of a type that appear literally in active policies. For subjects, this includes ids that name no kind. */
export function* idsInPolicies(
  model: Model,
  type: string,
  asSubject: boolean,
  pacing: Pacing,
): Suspension<string[]> {
  const ids: string[] = [];
  for (const [at, policy] of model.policies.active().entries()) {
    if (at % policiesPerLook === 0) yield* pacing.pause();
    for (const [id, kinds] of policy.ids) if (kinds.has(type) || (asSubject && kinds.has(''))) ids.push(id);
    for (const userset of policy.usersets) if (userset.type === type) ids.push(userset.id);
    for (const resource of policy.rule.resources) {
      const colon = resource.indexOf(':');
      const id = resource.slice(colon + 1);
      if (colon >= 0 && id !== '' && !id.includes('*') && matches(resource.slice(0, colon), type))
        ids.push(id);
    }
  }
  return ids;
}

/** Full mode: returns every known id of a type, from any position in unexpired tuples and assignments, and from policies. */
export function* knownIds(
  model: Model,
  type: string,
  asSubject: boolean,
  now: number,
  pacing: Pacing,
): Suspension<Set<string>> {
  const { nodes, tuples, assignments, strings, any } = model.facts;
  const wanted = strings.find(type);
  const ids = new Set(yield* idsInPolicies(model, type, asSubject, pacing));
  const note = (node: number) => {
    // Stores texts rather than their numbers, which may be reused after a pause.
    if (nodes.type[node] === wanted && nodes.id[node] !== any) ids.add(strings.text(nodes.id[node]!));
  };
  for (const table of [tuples, assignments]) {
    for (let from = 0; from < table.length; from += rowsPerLook) {
      const to = Math.min(from + rowsPerLook, table.length);
      for (let row = from; row < to; row++) {
        if (table.left[row]! < 0 || !(table.expires[row]! > now)) continue;
        note(table.left[row]!);
        note(table.right[row]!);
      }
      yield* pacing.pause();
    }
  }
  return ids;
}
