import type { Cell } from '../cells.ts';

/** A cell as a replica keeps it. */
export interface StoredCell extends Cell {
  /** Whether the server does not have its last edit. */
  readonly dirty: boolean;
  /** Whether the server has ever had it. */
  readonly acked: boolean;
}

/** What a replica remembers besides cells. */
export interface ReplicaMeta {
  readonly nodeId: string;
  /** The last reading of its clock, in text form. */
  readonly clock: string;
  /** The latest reading that the server is known to have accepted, in text form. */
  readonly seen: string;
  /** Milliseconds by which the server's clock is ahead. */
  readonly offset: number;
  /** The tables of the watermark. */
  readonly tables: readonly string[];
  /** Up to where these tables were pulled, in text form; empty before the first pull. */
  readonly watermark: string;
}

/**
 * One transaction: it reads what was committed before it and what it wrote itself. Between its calls, `work` may wait only for them,
 * because a transaction of IndexedDB ends when nothing of it is asked.
 */
export interface StoreTransaction {
  meta(): Promise<ReplicaMeta | undefined>;
  putMeta(meta: ReplicaMeta): Promise<void>;
  /** The cells of a record. */
  record(table: string, pk: string): Promise<StoredCell[]>;
  /** The cells of a table. */
  table(table: string): Promise<StoredCell[]>;
  /** The dirty cells, or the first of them. */
  dirty(limit?: number): Promise<StoredCell[]>;
  /** The number of dirty cells. */
  pending(): Promise<number>;
  put(cells: readonly StoredCell[]): Promise<void>;
  delete(cells: readonly Cell[]): Promise<void>;
}

/** Where a replica keeps its cells. `write` is durable, and takes effect as a whole or not at all. */
export interface ReplicaStore {
  read<Result>(work: (transaction: StoreTransaction) => Promise<Result>): Promise<Result>;
  write<Result>(work: (transaction: StoreTransaction) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface ReplicaStorage {
  /** Of a storage that several tabs open at once: the name by which they find one another. */
  readonly shared?: string | undefined;
  open(): Promise<ReplicaStore>;
}
