import type { Model } from './model.ts';
import { matches } from './pattern.ts';
import type { Pacing, Suspension } from './pacing.ts';

/** Rows looked at between two looks at the clock. */
const ROWS = 10_000;

/** Ids of a type that stand literally in active policies; in the place of a subject also those that name no kind. */
export function idsInPolicies(model: Model, type: string, asSubject: boolean): string[] {
  const ids: string[] = [];
  for (const policy of model.policies.active()) {
    for (const matcher of policy.literal) {
      if (matcher.form !== 'id') continue;
      if (matcher.kind === type || (matcher.kind === null && asSubject)) ids.push(matcher.id);
    }
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

/** Full mode: every known id of a type: in unexpired tuples and assignments, in any place, and in policies. */
export function* knownIds(
  model: Model,
  type: string,
  asSubject: boolean,
  now: number,
  pacing: Pacing,
): Suspension<Set<string>> {
  const { nodes, tuples, assignments, strings, any } = model.facts;
  const wanted = strings.find(type);
  const ids = new Set(idsInPolicies(model, type, asSubject));
  const note = (node: number) => {
    // Texts, not their numbers, which may mean something else after a pause.
    if (nodes.type[node] === wanted && nodes.id[node] !== any) ids.add(strings.text(nodes.id[node]!));
  };
  for (const table of [tuples, assignments]) {
    for (let from = 0; from < table.length; from += ROWS) {
      const to = Math.min(from + ROWS, table.length);
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
