/** Where the bytes of blobs are. They are written once under the id of their blob, and never changed or renamed after that. */
export interface BytesDriver {
  readonly name: 'fs';
  /** An id for new bytes. */
  newId(): string;
  /** Stores bytes durably. When `source` throws, nothing is left. Returns how many bytes there were. */
  put(id: string, source: AsyncIterable<Uint8Array>): Promise<{ readonly size: number }>;
  /** The bytes from `start`, where a block begins, up to but not including `end`, in pieces of whole blocks but for the last one. */
  get(id: string, range: { readonly start: number; readonly end: number }): AsyncGenerator<Uint8Array, void>;
  /** Deletes bytes; those that are not there count as deleted. */
  delete(ids: readonly string[]): Promise<void>;
  /** What one of the shards holds, also when it is not whole, with milliseconds since the last write. */
  list(shard: number): AsyncIterable<StoredBytes>;
  /** Rejects when bytes cannot be stored now. */
  probe(): Promise<void>;
}

export interface StoredBytes {
  readonly id: string;
  readonly size: number;
  readonly ageMs: number;
}

/** The number of shards. The two last characters of an id name its shard. */
export const shards = 1024;
