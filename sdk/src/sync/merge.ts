/**
 * Merging: the state of a record is a set of cells, merging is the join of cells with the same key, and what is seen is a function of
 * the cells. Therefore changes may arrive in any order and any number of times. Only the totals of a counter can need several cells:
 * those of a node that lost its storage and counted again from the beginning.
 */
import { cellKey, seriesOf, type Cell } from './cells.ts';
import { compareBytes } from './canonical.ts';
import { nodeOf } from './hlc.ts';

/** The cells of a record by `cellKey`, without those that its deletion covers. */
export type RecordCells<C extends Cell = Cell> = Map<string, C>;

const tombstoneKey = cellKey({ field: '', kind: 't', sub: '' });

/** The clock reading of the latest deletion, or an empty text. */
export const tombstoneOf = (cells: ReadonlyMap<string, Cell>): string => cells.get(tombstoneKey)?.hlc ?? '';

/**
 * The join of two cells with the same key, of totals also with the same time: `known` itself if the other adds nothing to it, else the
 * members of `other` prevail.
 */
export function join<C extends Cell>(known: C, other: C): C {
  switch (known.kind) {
    case 'l':
      if (known.hlc !== other.hlc) return known.hlc > other.hlc ? known : other;
      // Only a broken node writes twice at one time; the order of the values keeps its readers equal.
      return compareBytes(known.value, other.value) >= 0 ? known : other;
    case 'c':
      if (known.inc >= other.inc && known.dec >= other.dec) return known;
      return { ...other, inc: Math.max(known.inc, other.inc), dec: Math.max(known.dec, other.dec) };
    case 's':
      return known.removed >= other.removed ? known : other;
    case 't':
      return known.hlc >= other.hlc ? known : other;
  }
}

/** Whether two cells with the same key say the same. */
export const isSame = (a: Cell, b: Cell): boolean =>
  a.hlc === b.hlc && a.value === b.value && a.inc === b.inc && a.dec === b.dec && a.removed === b.removed;

/** Whether the deletion at `tombstone` covers a cell. At the same time, the deletion wins. */
export const isCovered = ({ kind, hlc }: Cell, tombstone: string): boolean =>
  kind !== 't' && hlc <= tombstone;

/** Whether a cell that no deletion covers counts for what is seen. */
export const isLive = ({ kind, removed }: Cell): boolean => kind !== 't' && removed === '';

/** Merges a cell into its record, and returns whether that changed anything. */
export function merge<C extends Cell>(record: RecordCells<C>, cell: C): boolean {
  if (isCovered(cell, tombstoneOf(record))) return false;
  if (cell.kind === 'c') return mergeTotals(record, cell);
  const key = cellKey(cell);
  const known = record.get(key);
  const joined = known === undefined ? cell : join(known, cell);
  if (joined === known) return false;
  if (cell.kind === 't')
    for (const [other, { kind, hlc }] of record) if (kind !== 't' && hlc <= cell.hlc) record.delete(other);
  record.set(key, joined);
  return true;
}

/**
 * The totals of a node are the largest that it has told. Usually those are its latest. If they fell, it depends on the deletions of the
 * record which of them count, so both are kept: the latest, and all that are larger than every later one.
 */
function mergeTotals<C extends Cell>(record: RecordCells<C>, cell: C): boolean {
  const series = seriesOf(cell);
  const keyAt = (rank: number) => cellKey({ field: cell.field, kind: 'c', sub: rankedSub(series, rank) });
  const known: C[] = [];
  for (let next = record.get(keyAt(0)); next !== undefined; next = record.get(keyAt(known.length)))
    known.push(next);
  const kept = essential(known, cell);
  if (kept.length === known.length && kept.every((one, at) => one === known[at])) return false;
  for (const [rank, one] of kept.entries()) {
    const sub = rankedSub(series, rank);
    record.set(keyAt(rank), one.sub === sub ? one : { ...one, sub });
  }
  for (let rank = kept.length; rank < known.length; rank += 1) record.delete(keyAt(rank));
  return true;
}

const rankedSub = (series: string, rank: number): string => (rank === 0 ? series : `${series}|${rank}`);

/** Of known totals, latest first, and new ones: those that are larger than all later ones. */
function essential<C extends Cell>(known: readonly C[], added: C): C[] {
  const same = known.find(({ hlc }) => hlc === added.hlc);
  const joined = same === undefined ? added : join(same, added);
  const all = [...known.filter((one) => one !== same), joined].sort((a, b) => (a.hlc > b.hlc ? -1 : 1));
  let [inc, dec] = [-1, -1];
  return all.filter((one) => {
    const isLarger = one.inc > inc || one.dec > dec;
    [inc, dec] = [Math.max(inc, one.inc), Math.max(dec, one.dec)];
    return isLarger;
  });
}

/** An element of a set, and its adds that were not removed, earliest first. */
export interface ElementView {
  /** In canonical form. */
  readonly element: string;
  readonly tags: string[];
}

interface Seen {
  /** The latest clock reading of the cells that are seen. */
  readonly hlc: string;
}

/** What is seen of a field, by its type. */
export type FieldView = Seen &
  (
    | { readonly type: 'lww'; readonly value: string }
    | { readonly type: 'counter'; readonly inc: Map<string, number>; readonly dec: Map<string, number> }
    | { readonly type: 'set'; readonly elements: ElementView[] }
  );

export interface RecordView {
  /** The clock reading of its latest deletion, or an empty text. */
  readonly tombstone: string;
  /** Its fields by name; none if it is deleted. */
  readonly fields: Map<string, FieldView>;
}

/** What is seen of a record. */
export function viewOf(cells: Iterable<Cell>): RecordView {
  const all = [...cells];
  const tombstone = all.reduce((latest, { kind, hlc }) => (kind === 't' && hlc > latest ? hlc : latest), '');
  const byField = new Map<string, Map<Cell['kind'], Cell[]>>();
  for (const cell of all) {
    if (!isLive(cell) || isCovered(cell, tombstone)) continue;
    const kinds = byField.get(cell.field) ?? new Map<Cell['kind'], Cell[]>();
    byField.set(cell.field, kinds);
    append(kinds, cell.kind, cell);
  }
  const fields = [...byField].sort(([a], [b]) => (a < b ? -1 : 1));
  return { tombstone, fields: new Map(fields.map(([name, kinds]) => [name, shown(kinds)])) };
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Of a field that was written with several types, the one with the latest cell is shown; at the same time, the first of these. */
const precedence = ['s', 'l', 'c'] as const;

function shown(kinds: ReadonlyMap<Cell['kind'], Cell[]>): FieldView {
  let best: FieldView | undefined;
  for (const kind of precedence) {
    const cells = kinds.get(kind);
    if (cells === undefined) continue;
    const hlc = cells.reduce((latest, cell) => (cell.hlc > latest ? cell.hlc : latest), '');
    if (best === undefined || hlc > best.hlc) best = fieldView(kind, hlc, cells);
  }
  return best!;
}

function fieldView(kind: (typeof precedence)[number], hlc: string, cells: Cell[]): FieldView {
  if (kind === 'l') return { type: 'lww', hlc, value: cells[0]!.value };
  if (kind === 's') return { type: 'set', hlc, elements: elementsOf(cells) };
  const totals = { inc: new Map<string, number>(), dec: new Map<string, number>() };
  for (const { node, inc, dec } of largestTotals(cells)) {
    totals.inc.set(node, (totals.inc.get(node) ?? 0) + inc);
    totals.dec.set(node, (totals.dec.get(node) ?? 0) + dec);
  }
  return { type: 'counter', hlc, ...totals };
}

/** The totals of each series, in the order of the nodes. */
function largestTotals(cells: Cell[]): Iterable<{ node: string; inc: number; dec: number }> {
  const bySeries = new Map<string, { node: string; inc: number; dec: number }>();
  for (const cell of cells.sort((a, b) => (a.sub < b.sub ? -1 : 1))) {
    const series = seriesOf(cell);
    const { inc, dec } = bySeries.get(series) ?? cell;
    const largest = { inc: Math.max(inc, cell.inc), dec: Math.max(dec, cell.dec) };
    bySeries.set(series, { node: nodeOf(cell.hlc), ...largest });
  }
  return bySeries.values();
}

function elementsOf(cells: Cell[]): ElementView[] {
  const tags = new Map<string, string[]>();
  for (const { value, hlc } of cells) append(tags, value, hlc);
  return [...tags]
    .map(([element, of]) => ({ element, tags: of.sort() }))
    .sort((a, b) => compareBytes(a.element, b.element));
}

/** The value of a field: what was written, the sum, or the elements. */
export function valueOf(field: FieldView): unknown {
  if (field.type === 'lww') return JSON.parse(field.value);
  if (field.type === 'set') return field.elements.map(({ element }) => JSON.parse(element) as unknown);
  const sum = (totals: Map<string, number>) => [...totals.values()].reduce((all, one) => all + one, 0);
  return sum(field.inc) - sum(field.dec);
}
