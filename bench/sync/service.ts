/** The service in this process, without HTTP in front. */
import type { ChangeInput } from '../../generated/sync/types.ts';
import type { Database } from '../../src/db/index.ts';
import { readSettings } from '../../src/lib/settings.ts';
import { arrivalsOf } from '../../src/services/sync/push/arrivals.ts';
import { createPushLine } from '../../src/services/sync/push/push-line.ts';
import { settings } from '../../src/services/sync/settings.ts';
import { newId } from '../../src/lib/ids.ts';

export const dataset = { tenant: 'acme', app: 'default' };
const subject = { owner: 'root:root', exempt: true, actor: 'root', requestId: 'bench' };

let counter = 0;

/** Writes of one node to records among so many. */
export function writes(count: number, records: number, node = 'node-1'): ChangeInput[] {
  return Array.from({ length: count }, () => {
    counter += 1;
    const hlc = { timestamp: Date.now(), counter: counter % 65_536, node_id: node };
    const pk = `note-${(counter * 7_919) % records}`;
    const value = `The title that was written by edit ${counter}`;
    return {
      table: 'notes',
      pk,
      field: 'title',
      crdt_type: 'lww',
      hlc,
      node_id: node,
      value,
      tombstone: false,
    };
  });
}

/** Pushes changes as the handler does. */
export function createPushing(db: Database) {
  const line = createPushLine({ db, settings: readSettings(settings, {}) });
  return async (changes: readonly ChangeInput[], to = dataset): Promise<void> => {
    const node = changes[0]!.node_id;
    const arrivals = await arrivalsOf(changes, changes);
    const pushedData = JSON.stringify({ node_id: node, merged: changes.length });
    const events = { claimed: newId('evt'), pushed: newId('evt'), pushedData };
    const { verdict } = await line.merge(to, { node, subject, arrivals, events });
    if (verdict !== 'ok') throw new Error(`a push was refused: ${verdict}`);
  };
}
