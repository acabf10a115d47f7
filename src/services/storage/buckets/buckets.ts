import type { Buckets } from '../../../../generated/storage/server.ts';
import type { Context } from '../../../http/context.ts';
import { Forbidden } from '../../../lib/errors.ts';
import { decodeListingCursor, encodeListingCursor } from '../content/listing-cursor.ts';
import type { Deps } from '../deps.ts';
import { BucketNotEmpty } from '../errors.ts';
import { bucketStore } from './buckets.store.ts';
import { newSettings } from './bucket-settings.ts';

/** Buckets: named containers of objects. */
export const buckets = ({ db, write }: Pick<Deps, 'db' | 'write'>) =>
  ({
    create: ({ body }, context) =>
      write(context, async ({ sql, emit }) => {
        const settings = newSettings(body);
        const bucket = await bucketStore(sql).create(context.tenant, context.app, {
          ...settings,
          name: body.name,
        });
        emit('storage.bucket.created', bucket.id, bucket);
        return { ...bucket, usage: null };
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
      await write(context, async ({ sql, emit }) => {
        const store = bucketStore(sql);
        const { id, name } = await store.lock(context.tenant, ref);
        if (!force && (await store.isUsed(context.tenant, id))) throw BucketNotEmpty();
        await store.hide(context.tenant, id);
        emit('storage.bucket.deleted', id, { id, name, forced: force });
      });
    },
  }) satisfies Buckets<Context>;
