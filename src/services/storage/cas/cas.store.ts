import { constrained } from '../../../db/constraints.ts';
import type { Sql } from '../../../db/index.ts';
import type { Author } from '../../../db/write.ts';
import { newId } from '../../../lib/ids.ts';
import { blobMembers } from '../bytes/blobs.store.ts';
import { type Outcome, outcomeOf } from '../bytes/commit-lines.ts';
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

/** Received content to add a reference to. The content is added, too, when there is no such entry. */
export interface CasPut {
  /** Who puts it, as `writer` tells within the request: several requests share a commit. */
  readonly author: ReturnType<typeof writer>;
  readonly ref: string;
  readonly received: Received;
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

  /** Adds references to received contents of a tenant. Only a quota refuses all of them together. */
  async putAll(tenant: string, puts: readonly CasPut[], quota: DefaultQuota): Promise<Outcome<Added>[]> {
    const rows = await constrained(
      constraints,
      sql<(Added & { readonly refused: string | null })[]>`
        select blob_id, created, deduplicated, refs, refused
        from storage.put_cas_all(${tenant}, ${puts.map(putFields)}::jsonb, ${quota}::jsonb)
        order by place`,
    );
    return rows.map(({ refused, ...added }) => outcomeOf(refused, added));
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

/** A put as the commit function takes it. */
const putFields = ({ author, ref, received: { size, sha256, blob } }: CasPut) => ({
  ...{ author, ref, size, sha256, event: newId('evt') },
  ...blobMembers(blob),
});
