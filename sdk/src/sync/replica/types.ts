import type { Change, PresenceState } from '../../services/sync/types.ts';
import type { ReplicaStorage } from './store.ts';

export interface ReplicaOptions {
  /** The tables to keep, at most 32. */
  readonly tables: readonly string[];
  /** Where to keep them. What is lost with a storage is pulled again, except edits that were not pushed. */
  readonly storage: ReplicaStorage;
  /** The id of a new replica, instead of a random one. No two replicas may have the same. */
  readonly nodeId?: string | undefined;
  /** Called with each edit that is given up, because its record was deleted meanwhile or because the server refuses it. */
  readonly onDropped?: ((edit: DroppedEdit) => void) | undefined;
}

export interface DroppedEdit {
  readonly change: Change;
  /** `deleted`: the record was deleted, and that was so long ago that the deletion is forgotten. `refused`: by the server. */
  readonly reason: 'deleted' | 'refused';
  /** What the server said. */
  readonly message?: string;
}

/** Records on this device. Reading and writing work without a connection. */
export interface Replica {
  /** The id of this replica; the tabs of a browser that share a storage are one replica. */
  readonly nodeId: string;
  readonly status: ReplicaStatus;
  table(name: string): ReplicaTable;
  presence(topic: string): ReplicaPresence;
  /** Begins to push, pull and stream, and does so until it is stopped. Returns at once. */
  start(): void;
  /** Resolves when the server has every edit so far. */
  flush(): Promise<void>;
  /** Calls the listener after every change of the status; returns a function that ends this. */
  onStatus(listener: (status: ReplicaStatus) => void): () => void;
  /** Ends the connection and closes the storage. */
  stop(): Promise<void>;
}

export interface ReplicaStatus {
  readonly state: 'offline' | 'syncing' | 'live' | 'resyncing';
  /** The number of edited cells that the server does not have yet; many edits of one field are one. */
  readonly pending: number;
  /** Why it is offline, unless it was never started. */
  readonly error?: unknown;
}

/** The value of each field: of a register what was written, of a counter its sum, of a set its elements. */
export type ReplicaFields = Record<string, unknown>;

export interface ReplicaRecord {
  readonly pk: string;
  readonly fields: ReplicaFields;
}

/** A table of the replica. What is written is durable when the promise resolves. */
export interface ReplicaTable {
  /** Returns undefined for a record that does not exist or was deleted. */
  get(pk: string): Promise<ReplicaFields | undefined>;
  /** Returns the records for which the filter holds, by key. */
  list(filter?: (record: ReplicaRecord) => boolean): Promise<ReplicaRecord[]>;
  /** Writes registers: values of any JSON. Of several writes of a register, the latest wins. */
  set(pk: string, values: ReplicaFields): Promise<void>;
  /** Adds an integer to a counter, or subtracts it if it is negative. */
  increment(pk: string, field: string, by?: number): Promise<void>;
  /** Adds elements of any JSON to a set. */
  add(pk: string, field: string, ...elements: unknown[]): Promise<void>;
  /** Removes elements from a set. Elements that others add at the same time remain. */
  remove(pk: string, field: string, ...elements: unknown[]): Promise<void>;
  /** Deletes the record. What others write later brings it back. */
  delete(pk: string): Promise<void>;
  /** Calls the listener with the keys of changed records, wherever they were changed; returns a function that ends this. */
  subscribe(listener: (pks: ReadonlySet<string>) => void): () => void;
}

/** The nodes that are on a topic now. It needs a connection. */
export interface ReplicaPresence {
  /** The others on the topic, as far as they are known. */
  readonly others: readonly PresenceState[];
  /** Joins the topic, or changes what others see of this replica, until it leaves or stops. */
  set(data: unknown): Promise<void>;
  leave(): Promise<void>;
  /** Calls the listener after every change of the others; returns a function that ends this. */
  subscribe(listener: (others: readonly PresenceState[]) => void): () => void;
}
