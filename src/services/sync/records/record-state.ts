import type { FieldState, RecordState } from '../../../../generated/sync/types.ts';
import type { Cell } from '../../../../sdk/src/sync/cells.ts';
import { fromText, nodeOf } from '../../../../sdk/src/sync/hlc.ts';
import { type FieldView, valueOf, viewOf } from '../../../../sdk/src/sync/merge.ts';

/** The most fields of a record that a response has. */
const mostFields = 1_000;
/** The most elements of a set, nodes of a counter and adds of an element that a response has. */
const mostElements = 10_000;
const mostTags = 1_000;

/**
 * The state of a record. Of one that is cut, the cells are the first ones in the order of its fields.
 * @param sums the values of its counters when it is cut, because their nodes may be missing
 */
export function recordState(
  { table, pk }: Pick<Cell, 'table' | 'pk'>,
  cells: readonly Cell[],
  sums?: ReadonlyMap<string, number>,
): RecordState {
  const { tombstone, fields } = viewOf(cells);
  const shown = [...fields].slice(0, mostFields);
  const isCut = sums !== undefined;
  return {
    ...{ table, pk },
    fields: Object.fromEntries(shown.map(([name, view]) => [name, fieldState(view, isCut, sums?.get(name))])),
    tombstone: cells.every(({ kind }) => kind === 't'),
    tombstone_hlc: tombstone === '' ? null : fromText(tombstone),
    truncated: isCut || fields.size > mostFields,
  };
}

function fieldState(view: FieldView, isCut: boolean, sum: number | undefined): FieldState {
  const base = { type: view.type, hlc: fromText(view.hlc), node_id: nodeOf(view.hlc) };
  const none = { counter_state: null, set_state: null };
  if (view.type === 'lww') return { ...base, value: valueOf(view), ...none };
  if (view.type === 'counter') {
    const [inc, dec] = [firstOf(view.inc), firstOf(view.dec)];
    return { ...base, value: sum ?? valueOf(view), ...none, counter_state: { inc, dec } };
  }
  const elements = view.elements.slice(0, mostElements);
  const entries = elements.map(({ element, tags }) => ({
    element: JSON.parse(element) as unknown,
    tags: tags.slice(0, mostTags),
  }));
  const truncated =
    isCut || view.elements.length > mostElements || elements.some(({ tags }) => tags.length > mostTags);
  const value = entries.map(({ element }) => element);
  return { ...base, value, ...none, set_state: { entries, truncated } };
}

const firstOf = (totals: ReadonlyMap<string, number>): Record<string, number> =>
  Object.fromEntries([...totals].slice(0, mostElements));
