import { constrained } from '../../../db/constraints.ts';
import type { Sql } from '../../../db/index.ts';
import type { Author } from '../../../db/write.ts';
import { newId } from '../../../lib/ids.ts';
import type { Received } from '../bytes/intake.ts';
import { constraints, ContentNotFound } from '../errors.ts';
import { type DefaultQuota, writer } from '../usage.ts';

/** An entry as it is stored. */
export interface Entry {
  /** Null for content without bytes. */
  readonly blob_id: string | null;
  readonly size: number;
  readonly created_at: string;
}

/** The outcome of a put. */
export interface Added {
  /** The blob that has the bytes. */
  readonly blob_id: string | null;
  /** Whether there was no such entry. */
  readonly created: boolean;
  readonly deduplicated: boolean;
  readonly refs: number;
}

export interface ReferenceChange {
  readonly author: Author;
  readonly ref: string;
  readonly quota: DefaultQuota;
}

const bytesOf = (sha256: string) => Buffer.from(sha256, 'hex');

/** Every statement about content-addressed entries. A SHA-256 is given in hexadecimal digits. */
export const casStore = (sql: Sql) => ({
  async get(tenant: string, sha256: string): Promise<Entry> {
    const [entry] = await sql<Entry[]>`
      select blob_id, size, created_at from storage.cas where tenant_id = ${tenant} and sha256 = ${bytesOf(sha256)}`;
    if (!entry) throw ContentNotFound();
    return entry;
  },

  /** Adds a reference to received content, and the content when there is no such entry. */
  async put({ author, ref, quota }: ReferenceChange, { size, sha256, blob }: Received): Promise<Added> {
    const identity = blob && { id: blob.id, size: blob.size, crc32c: blob.crc32c };
    const [added] = await constrained(
      constraints,
      sql<[Added]>`
        select blob_id, created, deduplicated, refs from storage.put_cas(
          ${author.tenant}, ${bytesOf(sha256)}, ${size}, ${ref}, ${identity}::jsonb, ${blob?.blocks ?? null}::bytea,
          ${blob?.content ?? null}::bytea, ${quota}::jsonb, ${writer(author)}::jsonb, ${newId('evt')}
        )`,
    );
    return added;
  },

  /** Removes a reference, and with the last one the entry. */
  async delete({ author, ref, quota }: ReferenceChange, sha256: string): Promise<void> {
    await constrained(
      constraints,
      sql`
        select storage.delete_cas(
          ${author.tenant}, ${bytesOf(sha256)}, ${ref}, ${quota}::jsonb, ${writer(author)}::jsonb, ${newId('evt')}
        )`,
    );
  },
});
