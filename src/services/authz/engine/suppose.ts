import { expiryOf } from './fact-table.ts';
import type { Model } from './model.ts';
import type { TupleKey } from './types.ts';

/** Answers a question as if the tuple existed. Afterwards the facts are as before. */
export function supposeTuple<Answer>({ facts }: Model, key: TupleKey, ask: () => Answer): Answer {
  const before = facts.findTuple(key);
  const saved =
    before < 0 ? undefined : { id: facts.tuples.ids.get(before), expires: facts.tuples.expires[before]! };
  facts.putTuple({ ...key, id: '', expires_at: null });
  try {
    return ask();
  } finally {
    const row = facts.findTuple(key);
    if (saved === undefined) {
      facts.tuples.delete(row);
    } else {
      facts.tuples.ids.set(row, saved.id);
      facts.tuples.expires[row] = saved.expires;
    }
  }
}

/** Answers a question as if the subject held the role everywhere. Afterwards the facts are as before. */
export function supposeRole<Answer>(
  { facts }: Model,
  subject: { readonly subject_kind: string; readonly subject_id: string },
  role_id: string,
  ask: () => Answer,
): Answer {
  const node = facts.nodes.findNamed(subject.subject_kind, '', subject.subject_id);
  const role = facts.strings.find(role_id);
  const { assignments } = facts;
  const twin = (node < 0 ? [] : facts.assignmentsOf(node)).find(
    (row) => assignments.role[row] === role && assignments.right[row] === facts.everything,
  );
  const saved =
    twin === undefined
      ? undefined
      : { id: assignments.ids.get(twin), expires: assignments.expires[twin] ?? Infinity };
  const assumed = { ...subject, id: 'supposed', role_id, resource_type: null, resource_id: null };
  facts.putAssignment({ ...assumed, expires_at: null });
  try {
    return ask();
  } finally {
    if (saved === undefined) facts.deleteAssignment(assumed);
    else facts.putAssignment({ ...assumed, id: saved.id, expires_at: expiryText(saved.expires) });
  }
}

const expiryText = (expires: number) => (expires === expiryOf(null) ? null : new Date(expires).toISOString());
