/** The exports that programs with replicas use. A storage in a file is `@plinth/sdk/sync/file`, since browsers have none. */
export { indexedDbStorage } from './indexeddb.ts';
export type { CreateReplica } from './lazy.ts';
export { memoryStorage } from './memory.ts';
export type { ReplicaMeta, ReplicaStorage, ReplicaStore, StoredCell, StoreTransaction } from './store.ts';
export type {
  DroppedEdit,
  Replica,
  ReplicaFields,
  ReplicaOptions,
  ReplicaPresence,
  ReplicaRecord,
  ReplicaStatus,
  ReplicaTable,
} from './types.ts';
