/** Changes, as they travel, to cells and back. */
import type { Change, ChangeInput, CrdtType } from '../services/sync/types.ts';
import { canonical, longestElement, longestValue } from './canonical.ts';
import {
  counterCell,
  counterSub,
  elementCell,
  elementCells,
  registerCell,
  sinceOf,
  tombstoneCell,
  type Cell,
} from './cells.ts';
import { fromText, toText } from './hlc.ts';

/**
 * The cells of a change that follows the contract. There are none for a kind of field that this version does not know, which a reader
 * skips. Throws `NotCanonical` for a value that is not I-JSON, or too deep or too long.
 */
export function cellsOf(change: Change | ChangeInput): Cell[] {
  const { table, pk } = change;
  const hlc = toText(change.hlc);
  if (change.tombstone) return [tombstoneCell(table, pk, hlc)];
  const field = change.field ?? '';
  switch (change.crdt_type) {
    case 'lww':
      return [registerCell(table, pk, field, hlc, canonical(change.value ?? null, longestValue))];
    case 'counter': {
      const { inc, dec, since } = change.counter_delta ?? {};
      const sub = counterSub(change.node_id, since ?? '');
      return [counterCell({ table, pk, field }, { hlc, sub, inc: inc ?? 0, dec: dec ?? 0 })];
    }
    case 'set': {
      if (!change.set_op) return [];
      const { op, element, tags } = change.set_op;
      const text = canonical(element, longestElement);
      if (op === 'add') return [elementCell({ table, pk, field }, text, hlc)];
      return elementCells({ table, pk, field }, text, tags ?? [], hlc);
    }
    default:
      return [];
  }
}

/** A change of a kind that this version knows. */
export type KnownChange = Change & { readonly crdt_type: CrdtType };

/** The change that brings a cell to another node. An add that was removed travels as its removal. */
export function changeOf(cell: Cell): KnownChange {
  const { table, pk, field, kind } = cell;
  const hlc = fromText(kind === 's' && cell.removed !== '' ? cell.removed : cell.hlc);
  const { node_id } = hlc;
  switch (kind) {
    case 't':
      return { table, pk, field: '', crdt_type: 'lww', hlc, node_id, tombstone: true };
    case 'l':
      return { table, pk, field, crdt_type: 'lww', hlc, node_id, value: JSON.parse(cell.value) as unknown };
    case 'c': {
      const since = sinceOf(cell);
      const counter_delta = { inc: cell.inc, dec: cell.dec, ...(since !== '' && { since }) };
      return { table, pk, field, crdt_type: 'counter', hlc, node_id, counter_delta };
    }
    case 's': {
      const element = JSON.parse(cell.value) as unknown;
      const set_op =
        cell.removed === ''
          ? { op: 'add' as const, element }
          : { op: 'remove' as const, element, tags: [cell.hlc] };
      return { table, pk, field, crdt_type: 'set', hlc, node_id, set_op };
    }
  }
}
