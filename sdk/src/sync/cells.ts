/** Cells: what merging and storing work on. A change is one cell, or several where it takes back several adds. */
import { base64url, sha256 } from './sha256.ts';

/** A register, the totals of one node in a counter, one add of an element of a set, or the deletion of a record. */
export type CellKind = 'l' | 'c' | 's' | 't';

export interface Cell {
  readonly table: string;
  readonly pk: string;
  /** Empty for a deletion. */
  readonly field: string;
  readonly kind: CellKind;
  /**
   * What distinguishes the cells of a field: empty, `<node>|<since>`, or `<hash of the element>|<tag>`. Of a node whose totals fell, the
   * larger ones are kept beside the latest, with another `|` and something that tells them apart.
   */
  readonly sub: string;
  /** The text form of the clock reading of the change; of a set, that of the add, which is its tag. */
  readonly hlc: string;
  /** The canonical JSON of the value of a register or of the element of a set; empty otherwise. */
  readonly value: string;
  readonly inc: number;
  readonly dec: number;
  /** The latest removal of an add; empty if there was none. */
  readonly removed: string;
}

/** The totals of a node that began anew after the deletion `since`, which is empty for those that never did. */
export const counterSub = (node: string, since: string): string => `${node}|${since}`;

/** The deletion after which the totals of a counter cell began anew, or an empty text. */
export function sinceOf(cell: Pick<Cell, 'sub'>): string {
  const series = seriesOf(cell);
  return series.slice(series.indexOf('|') + 1);
}

/** What the cells of a node's totals have in common if it told several: `<node>|<since>`. */
export function seriesOf({ sub }: Pick<Cell, 'sub'>): string {
  const end = sub.indexOf('|', sub.indexOf('|') + 1);
  return end < 0 ? sub : sub.slice(0, end);
}

/** Adds of an element, which is given in canonical form; each has its tag. Hashing takes long, and a change can name many tags. */
export function elementSubs(element: string): (tag: string) => string {
  const hash = base64url(sha256(element));
  return (tag) => `${hash}|${tag}`;
}

/** One text for the key of a cell within its record. Names of fields have no control characters. */
export const cellKey = ({ field, kind, sub }: Pick<Cell, 'field' | 'kind' | 'sub'>): string =>
  `${field}\n${kind}\n${sub}`;

/** One text for the key of a record. */
export const recordKey = (table: string, pk: string): string => `${table}\n${pk}`;

export const registerCell = (table: string, pk: string, field: string, hlc: string, value: string): Cell => ({
  table,
  pk,
  field,
  kind: 'l',
  sub: '',
  hlc,
  value,
  inc: 0,
  dec: 0,
  removed: '',
});

export const counterCell = (
  { table, pk, field }: Pick<Cell, 'table' | 'pk' | 'field'>,
  { hlc, sub, inc, dec }: Pick<Cell, 'hlc' | 'sub' | 'inc' | 'dec'>,
): Cell => ({ table, pk, field, kind: 'c', sub, hlc, value: '', inc, dec, removed: '' });

/** The add `tag` of an element in canonical form. */
export const elementCell = (
  field: Pick<Cell, 'table' | 'pk' | 'field'>,
  element: string,
  tag: string,
): Cell => elementCells(field, element, [tag])[0]!;

/** The adds `tags` of an element in canonical form, perhaps removed. */
export function elementCells(
  { table, pk, field }: Pick<Cell, 'table' | 'pk' | 'field'>,
  element: string,
  tags: readonly string[],
  removed = '',
): Cell[] {
  const subOf = elementSubs(element);
  return tags.map((tag) => ({
    ...{ table, pk, field, kind: 's', sub: subOf(tag), hlc: tag, value: element },
    ...{ inc: 0, dec: 0, removed },
  }));
}

export const tombstoneCell = (table: string, pk: string, hlc: string): Cell => ({
  ...{ table, pk, field: '', kind: 't', sub: '', hlc, value: '', inc: 0, dec: 0, removed: '' },
});

/** The latest clock reading in a cell. */
export const latestOf = ({ hlc, removed }: Cell): string => (removed > hlc ? removed : hlc);
