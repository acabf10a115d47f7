import { cellKey, type Cell } from '../cells.ts';
import type { ReplicaMeta, ReplicaStorage, ReplicaStore, StoredCell, StoreTransaction } from './store.ts';

/** A cell as IndexedDB holds it: its index contains only rows that have `dirty`, and cannot hold booleans. */
type Row = Omit<StoredCell, 'dirty'> & { readonly key: string; readonly dirty?: 1 };

const rowOf = ({ dirty, ...cell }: StoredCell): Row => ({
  ...cell,
  key: cellKey(cell),
  ...(dirty && { dirty: 1 }),
});
const cellOf = ({ key: _, dirty, ...cell }: Row): StoredCell => ({ ...cell, dirty: dirty === 1 });
const keyOf = (cell: Cell): IDBValidKey => [cell.table, cell.pk, cellKey(cell)];

const answerOf = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error!);
  });

const endOf = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('the transaction was aborted'));
  });

/** Keeps a replica in the browser's IndexedDB under a name. Tabs of one origin that use the same name share it. */
export function indexedDbStorage(name: string): ReplicaStorage {
  const database = `plinth-sync-${name}`;
  return {
    shared: database,
    async open() {
      const request = indexedDB.open(database, 1);
      request.onupgradeneeded = () => {
        const cells = request.result.createObjectStore('cells', { keyPath: ['table', 'pk', 'key'] });
        cells.createIndex('dirty', 'dirty');
        request.result.createObjectStore('meta');
      };
      return storeIn(await answerOf(request));
    },
  };
}

function storeIn(database: IDBDatabase): ReplicaStore {
  // A later version of this program in another tab may change the stores.
  database.onversionchange = () => database.close();
  const run = async <Result>(
    mode: 'readonly' | 'readwrite',
    work: (transaction: StoreTransaction) => Promise<Result>,
  ): Promise<Result> => {
    const transaction = database.transaction(['cells', 'meta'], mode, { durability: 'strict' });
    const end = endOf(transaction);
    try {
      const result = await work(transactionOn(transaction));
      await end;
      return result;
    } catch (error) {
      end.catch(() => undefined);
      if (transaction.error === null) abort(transaction);
      throw error;
    }
  };
  return {
    read: (work) => run('readonly', work),
    write: (work) => run('readwrite', work),
    close: async () => database.close(),
  };
}

/** A transaction that has ended already cannot be aborted, which is all the same. */
function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    return;
  }
}

function transactionOn(transaction: IDBTransaction): StoreTransaction {
  const cells = transaction.objectStore('cells');
  const meta = transaction.objectStore('meta');
  const all = async (source: IDBObjectStore | IDBIndex, range: IDBKeyRange, limit?: number) =>
    (await answerOf(source.getAll(range, limit) as IDBRequest<Row[]>)).map(cellOf);
  const dirty = IDBKeyRange.only(1);
  // Arrays come after all texts in the order of keys.
  const within = (...prefix: string[]) => IDBKeyRange.bound(prefix, [...prefix, []]);
  return {
    meta: () => answerOf(meta.get('meta') as IDBRequest<ReplicaMeta | undefined>),
    putMeta: async (value) => void (await answerOf(meta.put(value, 'meta'))),
    record: (table, pk) => all(cells, within(table, pk)),
    table: (table) => all(cells, within(table)),
    dirty: (limit) => all(cells.index('dirty'), dirty, limit),
    pending: () => answerOf(cells.index('dirty').count(dirty)),
    put: async (stored) => void (await Promise.all(stored.map((cell) => answerOf(cells.put(rowOf(cell)))))),
    delete: async (gone) => void (await Promise.all(gone.map((cell) => answerOf(cells.delete(keyOf(cell)))))),
  };
}
