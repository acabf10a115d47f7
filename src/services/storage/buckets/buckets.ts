import type { Buckets } from '../../../../generated/storage/server.ts';
import type { Context } from '../../../http/context.ts';
import { Forbidden } from '../../../lib/errors.ts';
import { decodeListingCursor, encodeListingCursor } from '../content/listing-cursor.ts';
import type { Deps } from '../deps.ts';
import { bucketChanges } from './bucket-changes.ts';
import { bucketStore } from './buckets.store.ts';
import { newSettings } from './bucket-settings.ts';

/** Buckets: named containers of objects. */
export const buckets = ({ db, write }: Pick<Deps, 'db' | 'write'>) => {
  const changes = bucketChanges({ write });
  return {
    create: async ({ body }, context) => ({
      ...(await changes.create(context, body)),
      usage: null,
    }),

    async list({ prefix, limit, cursor }, { tenant }) {
      const after = cursor === undefined ? undefined : decodeListingCursor(cursor);
      const rows = await bucketStore(db.sql).list(tenant, { prefix, after, limit });
      const truncated = rows.length > limit;
      const page = rows.slice(0, limit).map((bucket) => ({ ...bucket, usage: null }));
      return { buckets: page, truncated, cursor: truncated ? encodeListingCursor(page.at(-1)!.name) : null };
    },

    get: ({ bucket }, { tenant }) => bucketStore(db.sql).getWithUsage(tenant, bucket),

    update: ({ bucket: ref, body }, context) =>
      write(context, async ({ sql, emit }) => {
        const bucket = await bucketStore(sql).update(context.tenant, ref, newSettings(body));
        emit('storage.bucket.updated', bucket.id, bucket);
        return { ...bucket, usage: null };
      }),

    async delete({ bucket: ref, force }, context) {
      if (force && !context.holds('storage:admin')) throw Forbidden('missing scope storage:admin');
      await changes.delete(context, ref, force);
    },
  } satisfies Buckets<Context>;
};
