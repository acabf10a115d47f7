/** What arrives from the server, and what becomes of edits then: pure functions on the cells of a record. */
import { cellKey, counterSub, elementCell, seriesOf, sinceOf, type Cell } from '../cells.ts';
import { nodeOf } from '../hlc.ts';
import { isCovered, isSame, merge, tombstoneOf, type RecordCells } from '../merge.ts';
import type { StoredCell } from './store.ts';

export type StoredRecord = RecordCells<StoredCell>;

export const recordOf = (cells: Iterable<StoredCell>): StoredRecord =>
  new Map([...cells].map((cell) => [cellKey(cell), cell]));

/** Merges a cell that the server has. An edit that says more than it is still to be pushed. */
export function arrive(record: StoredRecord, cell: Cell): void {
  const key = cellKey(cell);
  const known = record.get(key);
  merge(record, { ...cell, dirty: false, acked: true });
  const joined = record.get(key);
  if (joined === undefined) return;
  const dirty = (known?.dirty ?? false) && !isSame(joined, cell);
  if (joined.dirty !== dirty || !joined.acked) record.set(key, { ...joined, dirty, acked: true });
}

/** Merges a cell that was edited here. */
export function edit(record: StoredRecord, cell: Cell): void {
  const acked = record.get(cellKey(cell))?.acked ?? false;
  merge(record, { ...cell, dirty: true, acked });
}

/** Marks a cell as pushed, unless it was edited meanwhile. */
export function acknowledge(record: StoredRecord, pushed: Cell): void {
  const key = cellKey(pushed);
  const now = record.get(key);
  if (now) record.set(key, { ...now, dirty: now.dirty && !isSame(now, pushed), acked: true });
}

/** What a record becomes when a replica begins again with everything that the server has. */
export interface Reconciled {
  readonly record: StoredRecord;
  /** Edits of what was deleted long ago: they are given up. */
  readonly dropped: StoredCell[];
  /** Edits that the server has never had: they need new clock readings, since it cannot tell them from deleted ones. */
  readonly unknown: StoredCell[];
}

/**
 * Compares a record with the server's cells of it. The server's cells replace those that it has had. What this node itself counted
 * remains, because totals that went back would be used twice.
 */
export function reconcile(local: StoredRecord, server: readonly Cell[], nodeId: string): Reconciled {
  const record: StoredRecord = new Map();
  for (const cell of server) arrive(record, cell);
  const dropped: StoredCell[] = [];
  const unknown: StoredCell[] = [];
  const isGone = server.length === 0 && [...local.values()].some(({ acked }) => acked);
  for (const cell of local.values())
    if (cell.kind === 't' && cell.dirty && server.length > 0) merge(record, cell);
  for (const [key, cell] of local) {
    if (cell.kind === 't' || isCovered(cell, tombstoneOf(record))) continue;
    if (record.has(key) || (cell.kind === 'c' && record.has(cellKey({ ...cell, sub: seriesOf(cell) })))) {
      if (cell.dirty || cell.sub.startsWith(`${nodeId}|`))
        merge(record, { ...cell, dirty: true, acked: true });
    } else if (cell.dirty && !cell.acked && !isGone) unknown.push(cell);
    // The removal of an element that is gone has come true already.
    else if (cell.dirty && cell.removed === '') dropped.push(cell);
  }
  return { record, dropped, unknown };
}

/**
 * Moves edits to new clock readings, in their old order. Adds that nobody has seen and that are taken back already are left out.
 */
export function restamped(cells: readonly StoredCell[], stamp: () => string): StoredCell[] {
  const renewed = new Map<string, string>();
  const timeOf = ({ hlc, removed }: Cell) => (removed === '' ? hlc : removed);
  return [...cells]
    .sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1))
    .filter(({ removed, acked }) => removed === '' || acked)
    .map((cell) => {
      const hlc = stamp();
      renewed.set(timeOf(cell), hlc);
      return { ...at(hlc, cell, renewed), dirty: true, acked: cell.acked };
    });
}

function at(hlc: string, cell: StoredCell, renewed: ReadonlyMap<string, string>): Cell {
  if (cell.kind === 'c') {
    const since = sinceOf(cell);
    const series = counterSub(nodeOf(cell.hlc), renewed.get(since) ?? since);
    return { ...cell, hlc, sub: series + cell.sub.slice(seriesOf(cell).length) };
  }
  if (cell.kind !== 's') return { ...cell, hlc };
  return cell.removed === '' ? elementCell(cell, cell.value, hlc) : { ...cell, removed: hlc };
}
