import type { Change, Hlc as WireHlc } from '../../services/sync/types.ts';
import { cellKey, latestOf, recordKey, type Cell } from '../cells.ts';
import { cellsOf } from '../changes.ts';
import { fromText, isUnset, receive, tick, toText, type Hlc } from '../hlc.ts';
import { merge, valueOf, viewOf, type RecordCells } from '../merge.ts';
import { acknowledge, arrive, edit, reconcile, recordOf, restamped, type StoredRecord } from './arrivals.ts';
import type { Edited } from './edits.ts';
import type { ReplicaMeta, ReplicaStore, StoredCell, StoreTransaction } from './store.ts';
import type { ReplicaFields, ReplicaRecord } from './types.ts';

/** The keys of changed records, by table. */
export type Changed = ReadonlyMap<string, ReadonlySet<string>>;

interface Deps {
  readonly store: ReplicaStore;
  readonly now: () => number;
  readonly changed: (records: Changed) => void;
  /** Called when there is less to push than before. */
  readonly pushed: () => void;
}

/** Everything that the server has of some tables. */
export interface Snapshot {
  readonly tables: readonly string[];
  readonly records: ReadonlyMap<string, ServerRecord>;
}
interface ServerRecord extends Named {
  readonly cells: RecordCells;
}
interface Named {
  readonly table: string;
  readonly pk: string;
}

/** The records of a replica: each method is one transaction of its store. */
export class Records {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  meta = async (): Promise<ReplicaMeta> => this.#deps.store.read(metaOf);

  pending = (): Promise<number> => this.#deps.store.read((transaction) => transaction.pending());

  dirty = (limit?: number): Promise<StoredCell[]> =>
    this.#deps.store.read((transaction) => transaction.dirty(limit));

  async get(table: string, pk: string): Promise<ReplicaFields | undefined> {
    return fieldsOf(await this.#deps.store.read((transaction) => transaction.record(table, pk)));
  }

  async list(table: string): Promise<ReplicaRecord[]> {
    const cells = await this.#deps.store.read((transaction) => transaction.table(table));
    const records = [...groupsOf(cells).values()].flatMap(({ pk, cells: own }) => {
      const fields = fieldsOf(own);
      return fields ? [{ pk, fields }] : [];
    });
    return records.sort((a, b) => (a.pk < b.pk ? -1 : 1));
  }

  /** Writes an edit under new readings of the clock. */
  async edit(table: string, pk: string, make: (edited: Edited) => Cell[]): Promise<void> {
    const isChanged = await this.#deps.store.write(async (transaction) => {
      const meta = await metaOf(transaction);
      const before = await transaction.record(table, pk);
      const record = recordOf(before);
      const clock = this.#clock(meta);
      const cells = make({ table, pk, nodeId: meta.nodeId, cells: record, stamp: clock.stamp });
      for (const cell of cells) edit(record, cell);
      if (cells.length > 0) await transaction.putMeta({ ...meta, clock: clock.last() });
      return save(transaction, before, record);
    });
    if (isChanged) this.#deps.changed(new Map([[table, new Set([pk])]]));
  }

  /** Merges a page of changes, and remembers up to where it reached. */
  async arrive(changes: readonly Change[], watermark: WireHlc): Promise<void> {
    const groups = groupsOf(changes.flatMap(cellsOf));
    const changed = await this.#deps.store.write(async (transaction) => {
      const meta = await metaOf(transaction);
      const saved = await Promise.all(
        [...groups.values()].map(async ({ table, pk, cells }) => {
          const before = await transaction.record(table, pk);
          const record = recordOf(before);
          for (const cell of cells) arrive(record, cell);
          return { table, pk, isChanged: await save(transaction, before, record) };
        }),
      );
      const latest = latestOfAll([...groups.values()].flatMap(({ cells }) => cells));
      const reached = isUnset(watermark) ? meta.watermark : toText(watermark);
      await transaction.putMeta({ ...this.#advanced(meta, latest), watermark: reached });
      return saved.filter(({ isChanged }) => isChanged);
    });
    this.#report(changed);
  }

  /** Marks cells as pushed, and advances the clock to the server's. */
  async acknowledge(pushed: readonly Cell[], clock: WireHlc): Promise<void> {
    await this.#deps.store.write(async (transaction) => {
      const meta = await metaOf(transaction);
      await Promise.all(
        [...groupsOf(pushed).values()].map(async ({ table, pk, cells }) => {
          const before = await transaction.record(table, pk);
          const record = recordOf(before);
          for (const cell of cells) acknowledge(record, cell);
          await save(transaction, before, record);
        }),
      );
      await transaction.putMeta(this.#advanced(meta, toText(clock)));
    });
    this.#deps.pushed();
  }

  /** Gives an edit up. */
  async drop(cell: Cell): Promise<void> {
    await this.#deps.store.write((transaction) => transaction.delete([cell]));
    this.#report([cell]);
  }

  async setOffset(offset: number): Promise<void> {
    await this.#deps.store.write(async (transaction) => {
      await transaction.putMeta({ ...(await metaOf(transaction)), offset });
    });
  }

  async setTables(tables: readonly string[]): Promise<void> {
    await this.#deps.store.write(async (transaction) => {
      await transaction.putMeta({ ...(await metaOf(transaction)), tables });
    });
  }

  /** Moves all edits to readings that the server's clock has reached. */
  async restamp(): Promise<void> {
    const moved = await this.#deps.store.write(async (transaction) => {
      const meta = await metaOf(transaction);
      const clock = this.#clock({ ...meta, clock: meta.seen });
      const edits = await transaction.dirty();
      await transaction.delete(edits);
      await transaction.put(restamped(edits, clock.stamp));
      await transaction.putMeta({ ...meta, clock: clock.last() });
      return edits;
    });
    this.#report(moved);
  }

  /** Begins again with everything that the server has. Returns the edits that are given up. */
  async resync({ tables, records }: Snapshot, watermark: WireHlc, isWhole: boolean): Promise<StoredCell[]> {
    const { changed, dropped } = await this.#deps.store.write(async (transaction) => {
      const meta = await metaOf(transaction);
      const local = (await Promise.all(tables.map((table) => transaction.table(table)))).flat();
      // Later than everything that ever arrived, also than the deletions that are forgotten.
      const advanced = this.#advanced(meta, toText(watermark));
      const clock = this.#clock(advanced);
      const dropped: StoredCell[] = [];
      const changed: Named[] = [];
      const groups = groupsOf(local);
      for (const key of new Set([...groups.keys(), ...records.keys()])) {
        const before = groups.get(key)?.cells ?? [];
        const server = [...(records.get(key)?.cells.values() ?? [])];
        const result = reconcile(recordOf(before), server, meta.nodeId);
        for (const cell of restamped(result.unknown, clock.stamp)) merge(result.record, cell);
        dropped.push(...result.dropped);
        if (await save(transaction, before, result.record))
          changed.push((groups.get(key) ?? records.get(key))!);
      }
      const reached = isWhole && !isUnset(watermark) ? toText(watermark) : meta.watermark;
      await transaction.putMeta({ ...advanced, clock: clock.last(), watermark: reached });
      return { changed, dropped };
    });
    this.#report(changed);
    return dropped;
  }

  #report(records: readonly Named[]): void {
    const changed = new Map<string, Set<string>>();
    for (const { table, pk } of records) changed.set(table, (changed.get(table) ?? new Set()).add(pk));
    if (changed.size > 0) this.#deps.changed(changed);
  }

  #wall = ({ offset }: ReplicaMeta): number => Math.max(0, this.#deps.now() + offset);

  #clock(meta: ReplicaMeta): { stamp: () => string; last: () => string } {
    let last: Hlc = { ...fromText(meta.clock), node_id: meta.nodeId };
    const wall = this.#wall(meta);
    return { stamp: () => toText((last = tick(last, wall))), last: () => toText(last) };
  }

  /** After a reading of the server was seen. */
  #advanced(meta: ReplicaMeta, latest: string): ReplicaMeta {
    if (latest === '') return meta;
    const clock = toText(receive(fromText(meta.clock), fromText(latest), this.#wall(meta)));
    return { ...meta, clock, seen: latest > meta.seen ? latest : meta.seen };
  }
}

const latestOfAll = (cells: readonly Cell[]): string =>
  cells.reduce((latest, cell) => (latestOf(cell) > latest ? latestOf(cell) : latest), '');

/** Adds changes to a snapshot. */
export function addTo(records: Map<string, ServerRecord>, changes: readonly Change[]): void {
  for (const { table, pk, cells } of groupsOf(changes.flatMap(cellsOf)).values()) {
    const key = recordKey(table, pk);
    const record = records.get(key) ?? { table, pk, cells: new Map<string, Cell>() };
    records.set(key, record);
    for (const cell of cells) merge(record.cells, cell);
  }
}

async function metaOf(transaction: StoreTransaction): Promise<ReplicaMeta> {
  const meta = await transaction.meta();
  if (!meta) throw new Error('the storage of the replica was emptied');
  return meta;
}

/** Writes the difference, and returns whether there is one. */
async function save(
  transaction: StoreTransaction,
  before: readonly StoredCell[],
  record: StoredRecord,
): Promise<boolean> {
  const known = new Set(before);
  const put = [...record.values()].filter((cell) => !known.has(cell));
  const gone = before.filter((cell) => !record.has(cellKey(cell)));
  if (gone.length > 0) await transaction.delete(gone);
  if (put.length > 0) await transaction.put(put);
  return gone.length + put.length > 0;
}

function groupsOf<C extends Cell>(cells: readonly C[]): Map<string, Named & { readonly cells: C[] }> {
  const groups = new Map<string, Named & { readonly cells: C[] }>();
  for (const cell of cells) {
    const { table, pk } = cell;
    const key = recordKey(table, pk);
    const group = groups.get(key);
    if (group) group.cells.push(cell);
    else groups.set(key, { table, pk, cells: [cell] });
  }
  return groups;
}

function fieldsOf(cells: readonly Cell[]): ReplicaFields | undefined {
  const { fields } = viewOf(cells);
  if (fields.size === 0) return undefined;
  return Object.fromEntries([...fields].map(([name, field]) => [name, valueOf(field)]));
}
