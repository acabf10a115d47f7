import type { PresenceEvent } from '../../../../generated/sync/types.ts';
import type { PresenceRow } from './presence.store.ts';

/** What happened to the presence in a data set from one revision to another. */
export interface PresenceNews {
  readonly kind: 'presence';
  readonly from: number;
  readonly to: number;
  readonly events: readonly PresenceEvent[];
  /** Bytes, roughly. */
  readonly weight: number;
}

/** What readers hear of rows that changed after revision `from`: of a node that joined since then, that it joined. */
export function newsOf(rows: readonly PresenceRow[], from: number): PresenceNews {
  const events = rows.map((row): PresenceEvent => {
    const Type = !row.present ? 'leave' : row.joined_rev > from ? 'join' : 'update';
    return { Type, NodeID: row.node_id, Topic: row.topic, Data: JSON.parse(row.data) as unknown };
  });
  const weight = rows.reduce((sum, { data }) => sum + data.length + overhead, 0);
  return { kind: 'presence', from, to: rows.at(-1)!.rev, events, weight };
}

/** The bytes of an event besides its data, roughly. */
const overhead = 200;
