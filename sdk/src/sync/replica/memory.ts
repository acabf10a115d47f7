import { cellKey, recordKey, type Cell } from '../cells.ts';
import type { ReplicaMeta, ReplicaStorage, ReplicaStore, StoredCell, StoreTransaction } from './store.ts';

/** What a transaction wrote, in order. */
export interface Written {
  readonly put: StoredCell[];
  readonly deleted: Cell[];
  meta?: ReplicaMeta;
}

/** The cells of a replica in memory. */
export class CellTables {
  readonly #tables = new Map<string, Map<string, Map<string, StoredCell>>>();
  readonly #dirty = new Map<string, StoredCell>();
  #size = 0;
  meta: ReplicaMeta | undefined;

  get size(): number {
    return this.#size;
  }

  get pending(): number {
    return this.#dirty.size;
  }

  dirty(limit = Infinity): StoredCell[] {
    const some: StoredCell[] = [];
    for (const cell of this.#dirty.values()) if (some.push(cell) >= limit) break;
    return some;
  }

  record(table: string, pk: string): StoredCell[] {
    return [...(this.#tables.get(table)?.get(pk)?.values() ?? [])];
  }

  table(table: string): StoredCell[] {
    return [...(this.#tables.get(table)?.values() ?? [])].flatMap((record) => [...record.values()]);
  }

  all(): StoredCell[] {
    return [...this.#tables.keys()].flatMap((table) => this.table(table));
  }

  find(cell: Cell): StoredCell | undefined {
    return this.#tables.get(cell.table)?.get(cell.pk)?.get(cellKey(cell));
  }

  put(cell: StoredCell): void {
    const records = this.#tables.get(cell.table) ?? new Map<string, Map<string, StoredCell>>();
    this.#tables.set(cell.table, records);
    const cells = records.get(cell.pk) ?? new Map<string, StoredCell>();
    records.set(cell.pk, cells);
    const before = cells.size;
    cells.set(cellKey(cell), cell);
    this.#size += cells.size - before;
    const key = fullKey(cell);
    if (cell.dirty) this.#dirty.set(key, cell);
    else this.#dirty.delete(key);
  }

  delete(cell: Cell): void {
    const cells = this.#tables.get(cell.table)?.get(cell.pk);
    if (cells?.delete(cellKey(cell))) this.#size -= 1;
    if (cells?.size === 0) this.#tables.get(cell.table)?.delete(cell.pk);
    this.#dirty.delete(fullKey(cell));
  }
}

const fullKey = (cell: Cell): string => `${recordKey(cell.table, cell.pk)}\n${cellKey(cell)}`;

/** A store whose cells are in memory. `commit` makes a transaction durable before it is acknowledged. */
export function storeOf(
  cells: CellTables,
  commit: (written: Written) => Promise<void>,
  close: () => Promise<void>,
): ReplicaStore {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
  return {
    read: (work) => inTurn(() => work(transactionOn(cells, [], { put: [], deleted: [] }))),
    write: (work) =>
      inTurn(async () => {
        const undo: (() => void)[] = [];
        const written: Written = { put: [], deleted: [] };
        try {
          const result = await work(transactionOn(cells, undo, written));
          if (undo.length > 0) await commit(written);
          return result;
        } catch (error) {
          for (const step of undo.reverse()) step();
          throw error;
        }
      }),
    close: () => inTurn(close),
  };
}

function transactionOn(cells: CellTables, undo: (() => void)[], written: Written): StoreTransaction {
  const undoes = (cell: Cell) => {
    const before = cells.find(cell);
    undo.push(() => (before ? cells.put(before) : cells.delete(cell)));
  };
  return {
    meta: async () => cells.meta,
    async putMeta(meta) {
      const before = cells.meta;
      undo.push(() => (cells.meta = before));
      cells.meta = written.meta = meta;
    },
    record: async (table, pk) => cells.record(table, pk),
    table: async (table) => cells.table(table),
    dirty: async (limit) => cells.dirty(limit),
    pending: async () => cells.pending,
    async put(all) {
      for (const cell of all) {
        undoes(cell);
        cells.put(cell);
        written.put.push(cell);
      }
    },
    async delete(all) {
      for (const cell of all) {
        undoes(cell);
        cells.delete(cell);
        written.deleted.push(cell);
      }
    },
  };
}

/** Keeps a replica as long as the program runs. */
export function memoryStorage(): ReplicaStorage {
  const cells = new CellTables();
  const nothing = () => Promise.resolve();
  return { open: async () => storeOf(cells, nothing, nothing) };
}
