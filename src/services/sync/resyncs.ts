import type { Dataset, Subject } from './dataset.ts';
import { nodeStore } from './nodes.store.ts';
import type { Writer } from './writes.ts';

/** A node, and who uses it. */
export interface Reader {
  readonly node: string;
  readonly subject: Subject;
}

export interface Resyncs {
  /** Says in an event that a node has to begin again, at most once an hour. */
  note(dataset: Dataset, reader: Reader, reason: string): Promise<void>;
}

export const createResyncs = ({ write }: { readonly write: Writer }): Resyncs => ({
  note: (dataset, { node, subject: { owner, actor } }, reason) =>
    write({ ...dataset, actor }, async (tx) => {
      if (await nodeStore(tx.sql).noteResync(dataset, node, owner))
        tx.emit('sync.node.resync_required', node, { node_id: node, reason });
    }),
});
