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
  /** What distinguishes the cells of a field: empty, `<node>|<since>`, or `<hash of the element>|<tag>`. */
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
export const sinceOf = ({ sub }: Pick<Cell, 'sub'>): string => sub.slice(sub.indexOf('|') + 1);

/** An add of an element, which is given in canonical form. */
export const elementSub = (element: string, tag: string): string => `${base64url(sha256(element))}|${tag}`;

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

/** The add `tag` of an element in canonical form, perhaps removed. */
export const elementCell = (
  { table, pk, field }: Pick<Cell, 'table' | 'pk' | 'field'>,
  element: string,
  tag: string,
  removed = '',
): Cell => ({
  ...{ table, pk, field, kind: 's', sub: elementSub(element, tag), hlc: tag, value: element },
  ...{ inc: 0, dec: 0, removed },
});

export const tombstoneCell = (table: string, pk: string, hlc: string): Cell => ({
  ...{ table, pk, field: '', kind: 't', sub: '', hlc, value: '', inc: 0, dec: 0, removed: '' },
});

/** The latest clock reading in a cell. */
export const latestOf = ({ hlc, removed }: Cell): string => (removed > hlc ? removed : hlc);
