/** Merging in memory, with decoding: what a replica does with what it pulls. */
import * as Automerge from '@automerge/automerge';
import * as Y from 'yjs';
import type { Change } from '../../sdk/src/services/sync/types.ts';
import { recordKey, type Cell } from '../../sdk/src/sync/cells.ts';
import { cellsOf } from '../../sdk/src/sync/changes.ts';
import { tick, type Hlc } from '../../sdk/src/sync/hlc.ts';
import { merge, type RecordCells } from '../../sdk/src/sync/merge.ts';
import { atLeast, forOrientation, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired } from '../statistics.ts';

const [nodes, keys] = [10, 1_000];

interface Edit {
  readonly node: number;
  readonly key: string;
  readonly value: string;
}

/** Edits of all nodes, scattered over all keys. */
const editsOf = (count: number): Edit[] =>
  Array.from({ length: count }, (_, at) => ({
    node: at % nodes,
    key: `note-${(at * 7_919) % keys}`,
    value: `The title that was written by edit ${at}`,
  }));

/** The edits as changes, each as it arrives: its own text. */
function asChanges(edits: readonly Edit[]): string[] {
  const clocks = Array.from({ length: nodes }, (_, at): Hlc => ({
    timestamp: 0,
    counter: 0,
    node_id: `node-${at}`,
  }));
  return edits.map(({ node, key, value }, at) => {
    const hlc = (clocks[node] = tick(clocks[node]!, 1_795_168_000_000 + Math.floor(at / 50)));
    const change = {
      table: 'notes',
      pk: key,
      field: 'title',
      crdt_type: 'lww',
      hlc,
      node_id: hlc.node_id,
      value,
    };
    return JSON.stringify(change satisfies Change);
  });
}

/** The edits as the updates that the documents of the nodes emit. */
function asUpdates(edits: readonly Edit[]): Uint8Array[] {
  const updates: Uint8Array[] = [];
  const documents = Array.from({ length: nodes }, (_, at) => {
    const document = new Y.Doc();
    document.clientID = at + 1;
    document.on('update', (update) => void updates.push(update));
    return document.getMap('notes');
  });
  for (const { node, key, value } of edits) documents[node]!.set(key, value);
  return updates;
}

function asAutomergeChanges(edits: readonly Edit[]): Uint8Array[] {
  const start = Automerge.from<Record<string, string>>({});
  const documents = Array.from({ length: nodes }, () => Automerge.clone(start));
  const first = Automerge.getAllChanges(start);
  const later = edits.map(({ node, key, value }) => {
    documents[node] = Automerge.change(documents[node]!, (notes) => void (notes[key] = value));
    return Automerge.getLastLocalChange(documents[node])!;
  });
  return [...first, ...later];
}

/** Changes per second. */
function speed(count: number, work: () => number): Promise<number> {
  const start = performance.now();
  const held = work();
  const seconds = (performance.now() - start) / 1000;
  if (held !== keys) throw new Error(`${held} keys instead of ${keys}`);
  return Promise.resolve(count / seconds);
}

function merged(changes: readonly string[]): number {
  const records = new Map<string, RecordCells>();
  for (const text of changes) {
    for (const cell of cellsOf(JSON.parse(text) as Change)) {
      const key = recordKey(cell.table, cell.pk);
      let record = records.get(key);
      if (!record) records.set(key, (record = new Map<string, Cell>()));
      merge(record, cell);
    }
  }
  return records.size;
}

function mapped(changes: readonly string[]): number {
  const records = new Map<string, Change>();
  for (const text of changes) {
    const change = JSON.parse(text) as Change;
    records.set(recordKey(change.table, change.pk), change);
  }
  return records.size;
}

function applied(updates: readonly Uint8Array[]): number {
  const document = new Y.Doc();
  for (const update of updates) Y.applyUpdate(document, update);
  return document.getMap('notes').size;
}

function appliedByAutomerge(changes: readonly Uint8Array[]): number {
  let document = Automerge.init<Record<string, string>>();
  for (const change of changes) [document] = Automerge.applyChanges(document, [change]);
  return Object.keys(document).length;
}

export async function* mergeInMemory(): AsyncIterable<Row> {
  const path = 'merge in memory with decoding, 10 nodes, 1,000 keys';
  const edits = editsOf(sized(50_000, keys));
  const changes = asChanges(edits);
  const own = () => speed(changes.length, () => merged(changes));
  const map = await paired(own, () => speed(changes.length, () => mapped(changes)));
  const figures = ({ a, b }: { a: number; b: number }) => `${round(a)} against ${round(b)} changes/s`;
  yield atLeast(map.ratio, 0.4, { path, baseline: 'a plain map with JSON.parse', measured: figures(map) });

  const updates = asUpdates(edits);
  const yjs = await paired(own, () => speed(updates.length, () => applied(updates)));
  yield atLeast(yjs.ratio, 1.2, { path, baseline: 'a map of Yjs', measured: figures(yjs) });

  const few = asAutomergeChanges(editsOf(keys));
  const automerge = await paired(own, () => speed(few.length, () => appliedByAutomerge(few)), 1);
  yield forOrientation(automerge.ratio, {
    path,
    baseline: 'a document of Automerge',
    measured: figures(automerge),
  });
}
