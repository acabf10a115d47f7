import type { ChangeInput } from '../../../../generated/sync/types.ts';
import { byteLength, NotCanonical } from '../../../../sdk/src/sync/canonical.ts';
import { type Cell, recordKey } from '../../../../sdk/src/sync/cells.ts';
import { cellsOf } from '../../../../sdk/src/sync/changes.ts';
import { type Hlc, pack } from '../../../../sdk/src/sync/hlc.ts';
import { Invalid } from '../../../lib/errors.ts';
import { inSlices } from '../../../lib/slices.ts';
import { mostTaggedBytes } from '../limits.ts';

/** A cell on its way into the database. */
export interface Arrival extends Omit<Cell, 'kind'> {
  /** Besides the kinds of cells: `r` is an add that a hook replaced, and the next one, `a`, takes its place. */
  readonly kind: Cell['kind'] | 'r' | 'a';
  readonly isReplaced: boolean;
}

/** What a push brings. */
export interface Arrivals {
  readonly cells: readonly Arrival[];
  /** The latest clock reading of the changes, as a stamp. */
  readonly highest: bigint;
  /** The latest clock reading by table. */
  readonly tables: ReadonlyMap<string, string>;
  /** How many changes each table has. */
  readonly counts: Readonly<Record<string, number>>;
  readonly replaced: number;
  /** Bytes, roughly. */
  readonly weight: number;
}

/** @param stored the changes as hooks left them, in the same order */
export async function arrivalsOf(
  changes: readonly ChangeInput[],
  stored: readonly ChangeInput[],
): Promise<Arrivals> {
  const perChange = await inSlices(changes, (change, at) => cellsAt(change, stored[at]!, at));
  checkTagged(perChange);
  const cells = uncovered(perChange.flat());
  const counts = new Map<string, number>();
  for (const { table } of changes) counts.set(table, (counts.get(table) ?? 0) + 1);
  const tables = new Map<string, string>();
  for (const { table, hlc, removed } of cells) {
    const latest = removed > hlc ? removed : hlc;
    if (latest > (tables.get(table) ?? '')) tables.set(table, latest);
  }
  return {
    cells,
    highest: highestOf(changes),
    tables,
    counts: Object.fromEntries(counts),
    replaced: changes.filter((change, at) => change !== stored[at]).length,
    weight: cells.reduce((sum, { value }) => sum + value.length + overhead, 0),
  };
}

/** A short request could name a long element and many tags, and each of them is stored with the element. */
function checkTagged(perChange: readonly (readonly Arrival[])[]): void {
  let bytes = 0;
  for (const [cell, ...others] of perChange)
    if (others.length > 0 && cell!.removed !== '') bytes += byteLength(cell!.value) * others.length;
  if (bytes > mostTaggedBytes)
    throw Invalid(
      `Changes: elements must have at most ${mostTaggedBytes} bytes, counted for each further tag`,
    );
}

/** The bytes that a cell takes besides its value, roughly. */
const overhead = 512;

function cellsAt(change: ChangeInput, stored: ChangeInput, at: number): Arrival[] {
  try {
    const isReplaced = change !== stored;
    const cells = cellsOf(stored);
    if (!isReplaced || stored.crdt_type !== 'set')
      return cells.map((cell): Arrival => ({ ...cell, isReplaced }));
    const [original] = cellsOf(change);
    const [replacement] = cells;
    const { sub } = replacement!;
    return [
      { ...original!, kind: 'r', isReplaced },
      // The tag is given with the arrival.
      { ...replacement!, kind: 'a', sub: sub.slice(0, sub.indexOf('|')), isReplaced },
    ];
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    const member = change.crdt_type === 'set' ? 'set_op.element' : 'value';
    throw Invalid(`Changes[${at}].${member}: ${error.message}`);
  }
}

/** Leaves out what a deletion of the same push covers. */
function uncovered(cells: readonly Arrival[]): readonly Arrival[] {
  const deletions = new Map<string, string>();
  for (const { kind, table, pk, hlc } of cells) {
    const key = recordKey(table, pk);
    if (kind === 't' && hlc > (deletions.get(key) ?? '')) deletions.set(key, hlc);
  }
  if (deletions.size === 0) return cells;
  const deletionOf = ({ table, pk }: Arrival) => deletions.get(recordKey(table, pk)) ?? '';
  return cells.filter((cell) => cell.kind === 't' || cell.hlc > deletionOf(cell));
}

const zero: Pick<Hlc, 'timestamp' | 'counter'> = { timestamp: 0, counter: 0 };

function highestOf(changes: readonly ChangeInput[]): bigint {
  let highest = zero;
  for (const { hlc } of changes) {
    const isLater =
      hlc.timestamp > highest.timestamp ||
      (hlc.timestamp === highest.timestamp && hlc.counter > highest.counter);
    if (isLater) highest = hlc;
  }
  return pack(highest);
}

/** The earliest clock reading among the cells that must be known if a deletion as late as it was forgotten; empty if there is none. */
export const oldestOf = (cells: readonly Arrival[]): string =>
  cells.reduce(
    (oldest, { kind, hlc, removed }) =>
      kind !== 't' && kind !== 'a' && removed === '' && (oldest === '' || hlc < oldest) ? hlc : oldest,
    '',
  );
