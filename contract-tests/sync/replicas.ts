/** Set-up for the tests of sync: changes and their clocks, pushed through the SDK to the mock and to the server. */
import type { ChangeInput } from '../../generated/sync/types.ts';
import type { Credential } from '../harness.ts';

type Sender = Pick<Credential, 'plinth'>;

let counter = 0;

/** A write of the node at this moment. */
export function write(node_id: string, more: Partial<ChangeInput> = {}): ChangeInput {
  counter = (counter + 1) % 65_536;
  return {
    ...{ table: 'notes', pk: 'note-17', field: 'title', crdt_type: 'lww', value: 'Shopping' },
    ...{ hlc: { timestamp: Date.now(), counter, node_id }, node_id, ...more },
  } as ChangeInput;
}

export const push = ({ plinth }: Sender, NodeID: string, ...Changes: ChangeInput[]) =>
  plinth.sync.changes.push({ body: { NodeID, Changes } });

/** A watermark of a data set that nobody has. */
export const foreign = { timestamp: 1795168000100, counter: 3, node_id: '@00000000' };
export const foreignText = '01a1f859d864-0003-@00000000';

/** Stores the record of the examples, and nothing that changes while the tests run. */
export async function leaveRecords(sender: Sender): Promise<void> {
  await push(sender, 'phone-1', write('phone-1'));
}
