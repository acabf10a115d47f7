import type { ChangeInput, PushRequest } from '../../../../generated/sync/types.ts';
import { isUnset, toText } from '../../../../sdk/src/sync/hlc.ts';
import { Invalid } from '../../../lib/errors.ts';
import { mostTags } from '../limits.ts';

/** Refuses a push that breaks a rule of the contract that its schema cannot express. The message names the member. */
export function checkPush({ Changes, NodeID }: PushRequest, exempt: boolean, mostChanges: number): void {
  if (Changes.length > mostChanges) throw Invalid(`Changes: must have at most ${mostChanges} items`);
  let tags = 0;
  for (const [at, change] of Changes.entries()) {
    const problem = problemOf(change, exempt ? undefined : NodeID);
    if (problem !== undefined) throw Invalid(`Changes[${at}].${problem}`);
    tags += change.set_op?.tags?.length ?? 0;
  }
  if (tags > mostTags) throw Invalid(`Changes: must name at most ${mostTags} tags`);
}

/** @param node the node whose changes these must be, if they must be one node's */
function problemOf(change: ChangeInput, node: string | undefined): string | undefined {
  if (isUnset(change.hlc)) return 'hlc: must not be zero';
  if (node !== undefined && change.node_id !== node) return 'node_id: must be the NodeID of the push';
  if (change.hlc.node_id !== change.node_id) return 'hlc.node_id: must be the node_id of the change';
  if (change.tombstone) return change.field ? 'field: must be empty with tombstone' : undefined;
  if (!change.field) return 'field: required';
  if (!change.crdt_type) return 'crdt_type: required';
  return misplaced(change) ?? incomplete(change);
}

/** The member that carries what a type of field merges. */
const carrier = { lww: 'value', counter: 'counter_delta', set: 'set_op' } as const;

/** Of the members that carry something, a change has that of its type only. */
function misplaced(change: ChangeInput): string | undefined {
  for (const type of ['lww', 'counter', 'set'] as const)
    if (type !== change.crdt_type && (change[carrier[type]] ?? null) !== null)
      return `${carrier[type]}: only for ${type}`;
  return undefined;
}

function incomplete({ crdt_type, hlc, counter_delta, set_op }: ChangeInput): string | undefined {
  if (crdt_type === 'lww') return undefined;
  const isTooLate = (reading: string) => reading >= toText(hlc);
  if (crdt_type === 'counter') {
    if (!counter_delta) return 'counter_delta: required';
    if (counter_delta.since && isTooLate(counter_delta.since))
      return 'counter_delta.since: must be earlier than hlc';
    return undefined;
  }
  if (!set_op) return 'set_op: required';
  const { op, tags } = set_op;
  if (op === 'add') return tags ? 'set_op.tags: only for remove' : undefined;
  if (!tags) return 'set_op.tags: required';
  const late = tags.findIndex(isTooLate);
  return late < 0 ? undefined : `set_op.tags[${late}]: must be earlier than hlc`;
}
