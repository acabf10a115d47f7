import type { Sql } from '../../../db/index.ts';
import { commitmentTo, type PartName } from '../record/parts.ts';
import { erasureIn, type ToldErasure } from '../record/told-erasures.ts';
import { type CoveringRow, type EventRow, eventStore } from './events.store.ts';

/** An event of which a part cannot be read. */
export type LackingRow = Pick<
  EventRow,
  'tenant_id' | 'stream_id' | 'sequence' | 'v' | 'salt' | 'resource_proof'
> &
  Record<`${PartName}_key`, Buffer | null>;

/** An erasure, by the number of the event that tells of it. */
export interface Covering extends ToldErasure {
  readonly sequence: number;
}

/** Whether an erasure of the chain says why a part cannot be read; `purged` when the event is no longer there. */
export type Coverage = (row: LackingRow, part: PartName) => Covering | 'purged' | undefined;

/** Looks up what the chain tells of events of which parts cannot be read. */
export async function coverageOf(sql: Sql, rows: readonly LackingRow[]): Promise<Coverage> {
  if (rows.length === 0) return () => undefined;
  const found = new Map((await eventStore(sql).coverings(rows)).map((row) => [nameOf(row), row]));
  return (row, part) => {
    const covering = found.get(nameOf(row));
    if (covering?.run_id != null) return 'purged';
    return covering && coveringOf(row, part, covering);
  };
}

/** From version 2 on, the part itself says whose it was; before, only the mark does. */
function coveringOf(row: LackingRow, part: PartName, covering: CoveringRow): Covering | undefined {
  const [content, sequence] = [covering[`${part}_told`], covering[`${part}_told_at`]];
  const told = content === null ? undefined : erasureIn(content);
  if (told === undefined || sequence === null) return undefined;
  if (row.v > 1 && !isOwner(row, part, told)) return undefined;
  return { ...told, sequence };
}

function isOwner(row: LackingRow, part: PartName, { owner }: ToldErasure): boolean {
  const commitment = row[`${part}_key`];
  if (typeof owner !== 'string' || commitment === null) return false;
  const proof = part === 'content' ? row.resource_proof : null;
  return (
    commitmentTo(Buffer.from(owner, 'hex'), { part, salt: row.salt }, proof)?.equals(commitment) === true
  );
}

const nameOf = ({
  tenant_id,
  stream_id,
  sequence,
}: Pick<EventRow, 'tenant_id' | 'stream_id' | 'sequence'>): string =>
  `${tenant_id}\n${stream_id}\n${sequence}`;
