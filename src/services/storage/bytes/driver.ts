/** Where the bytes of blobs are. They are written once under the id of their blob, and never changed or renamed after that. */
export interface BytesDriver {
  readonly name: 'fs';
  /** Stores bytes durably. When `source` throws, nothing is left. Returns how many bytes there were. */
  put(id: string, source: AsyncIterable<Uint8Array>): Promise<{ readonly size: number }>;
  /** The bytes from `start`, where a block begins, up to but not including `end`, in pieces of whole blocks but for the last one. */
  get(id: string, range: { readonly start: number; readonly end: number }): AsyncGenerator<Uint8Array, void>;
  /** Deletes bytes; those that are not there count as deleted. */
  delete(ids: readonly string[]): Promise<void>;
  /** What one of the shards holds, with milliseconds since the last write. */
  list(shard: number): AsyncIterable<StoredBytes>;
  /** Deletes what an interrupted `put` left. */
  dropDraft(id: string): Promise<void>;
  /** Rejects when bytes cannot be stored now. */
  probe(): Promise<void>;
}

export interface StoredBytes {
  readonly id: string;
  readonly size: number;
  readonly ageMs: number;
  /** Whether the bytes are those of a `put` that has not ended. */
  readonly isDraft: boolean;
}

/** The number of shards. The two last characters of an id name its shard. */
export const shards = 1024;

/** The bytes that one checksum covers. */
export const blockSize = 256 * 1024;
