/** What an edit writes: pure functions from the cells of a record to new cells. */
import { canonical, longestElement, longestValue, NotCanonical } from '../canonical.ts';
import {
  counterCell,
  counterSub,
  elementCell,
  registerCell,
  seriesOf,
  sinceOf,
  tombstoneCell,
  type Cell,
} from '../cells.ts';
import { isLive, tombstoneOf } from '../merge.ts';
import type { ReplicaFields } from './types.ts';

/** The record of an edit, its cells, and a clock whose every reading is later than all of them. */
export interface Edited {
  readonly table: string;
  readonly pk: string;
  readonly nodeId: string;
  readonly cells: ReadonlyMap<string, Cell>;
  readonly stamp: () => string;
}

const largestTotal = 2 ** 40 - 1;

export const registers = ({ table, pk, stamp }: Edited, values: ReplicaFields): Cell[] =>
  Object.entries(values).map(([field, value]) =>
    registerCell(table, pk, named(field), stamp(), checked(field, value, longestValue)),
  );

/**
 * Adds to the totals of this node. After a deletion of the record, its totals begin anew. If it has told several, because its storage was
 * lost, it goes on with the largest.
 */
export function addition({ table, pk, nodeId, cells, stamp }: Edited, field: string, by: number): Cell[] {
  if (!Number.isSafeInteger(by)) throw new TypeError(`${field}: the step of a counter must be an integer`);
  const own = [...cells.values()].filter(
    (cell) =>
      cell.kind === 'c' && cell.field === field && seriesOf(cell) === counterSub(nodeId, sinceOf(cell)),
  );
  const last = own.reduce<Cell | undefined>((a, b) => (a && a.hlc > b.hlc ? a : b), undefined);
  const sub = last?.sub ?? counterSub(nodeId, tombstoneOf(cells));
  const told = own.filter((cell) => seriesOf(cell) === sub);
  const totals = {
    inc: Math.max(0, ...told.map(({ inc }) => inc)) + Math.max(by, 0),
    dec: Math.max(0, ...told.map(({ dec }) => dec)) + Math.max(-by, 0),
  };
  if (totals.inc > largestTotal || totals.dec > largestTotal)
    throw new RangeError(`${field}: the totals of a counter are at most ${largestTotal}`);
  return [counterCell({ table, pk, field: named(field) }, { hlc: stamp(), sub, ...totals })];
}

export const additions = (
  { table, pk, stamp }: Edited,
  field: string,
  elements: readonly unknown[],
): Cell[] =>
  elements.map((element) =>
    elementCell({ table, pk, field: named(field) }, checked(field, element, longestElement), stamp()),
  );

/** Takes back all adds of the elements that are known here. */
export function removals({ cells, stamp }: Edited, field: string, elements: readonly unknown[]): Cell[] {
  const gone = new Set(elements.map((element) => checked(field, element, longestElement)));
  return [...cells.values()]
    .filter((cell) => cell.kind === 's' && cell.field === field && isLive(cell) && gone.has(cell.value))
    .map((cell) => ({ ...cell, removed: stamp() }));
}

export const deletion = ({ table, pk, stamp }: Edited): Cell[] => [tombstoneCell(table, pk, stamp())];

const control = /[\u0000-\u001f\u007f]/;

function named(field: string): string {
  if (typeof field !== 'string' || field === '' || field.length > 128 || isBad(field))
    throw new TypeError(`${JSON.stringify(field)}: a field is named by 1 to 128 printable characters`);
  return field;
}

/** Returns the key of a record, and throws for one that the server would refuse. */
export function keyed(pk: string): string {
  if (typeof pk !== 'string' || pk === '' || pk.length > 256 || isBad(pk))
    throw new TypeError(`${JSON.stringify(pk)}: a record has a key of 1 to 256 printable characters`);
  return pk;
}

const isBad = (text: string): boolean => control.test(text) || /[\ud800-\udfff]/u.test(text);

function checked(field: string, value: unknown, longest: number): string {
  try {
    return canonical(value, longest);
  } catch (error) {
    if (error instanceof NotCanonical) throw new TypeError(`${field}: ${error.message}`);
    throw error;
  }
}
