import type { S3Credentials } from '../../../../generated/storage/server.ts';
import type { Context } from '../../../http/context.ts';
import { bucketStore } from '../buckets/buckets.store.ts';
import { decodeListingCursor, encodeListingCursor } from '../content/listing-cursor.ts';
import type { Deps } from '../deps.ts';
import { credentialStore } from './credentials.store.ts';
import { checkScopes } from './scopes.ts';
import { newAccessKeyId, newSecret, sealedSecret } from './secrets.ts';

/** S3 credentials: access keys with which S3 clients sign their requests. */
export const s3Credentials = ({ db, write, sealer }: Pick<Deps, 'db' | 'write' | 'sealer'>) =>
  ({
    async create({ body: { scopes, bucket } }, context) {
      const { tenant, app, actor, reply } = context;
      checkScopes(scopes, context);
      const secret_access_key = newSecret();
      const access_key_id = newAccessKeyId();
      const created = await write(context, async ({ sql, emit }) => {
        const bucket_id = bucket === null ? null : (await bucketStore(sql).get(tenant, bucket)).id;
        const secret = sealedSecret(sealer, { tenant_id: tenant, access_key_id }, secret_access_key);
        const own = {
          access_key_id,
          app_id: app,
          scopes: [...new Set(scopes)],
          bucket_id,
          created_by: actor,
        };
        emit('storage.s3_credential.created', access_key_id, { scopes: own.scopes, bucket_id });
        return await credentialStore(sql).create(tenant, { ...own, secret });
      });
      reply.header('Cache-Control', 'no-store');
      return { ...created, secret_access_key };
    },

    async list({ limit, cursor }, { tenant }) {
      const after = cursor === undefined ? undefined : decodeListingCursor(cursor);
      const found = await credentialStore(db.sql).list(tenant, { after, limit });
      const credentials = found.slice(0, limit);
      const truncated = found.length > limit;
      return {
        credentials,
        truncated,
        cursor: truncated ? encodeListingCursor(credentials.at(-1)!.access_key_id) : null,
      };
    },

    async delete({ accessKeyId }, context) {
      await write(context, async ({ sql, emit }) => {
        await credentialStore(sql).delete(context.tenant, accessKeyId);
        emit('storage.s3_credential.deleted', accessKeyId, {});
      });
    },
  }) satisfies S3Credentials<Context>;
