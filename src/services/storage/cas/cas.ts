import type { Cas } from '../../../../generated/storage/server.ts';
import type { Context } from '../../../http/context.ts';
import { createCommitLines } from '../bytes/commit-lines.ts';
import { createOutgoing } from '../bytes/outgoing.ts';
import { parseChecksums } from '../content/checksums.ts';
import { etagOf } from '../content/entity-tag.ts';
import type { Deps } from '../deps.ts';
import { checkSize } from '../objects/admission.ts';
import { plainFields } from '../objects/object-fields.ts';
import type { ObjectRow } from '../objects/objects.store.ts';
import { isKnown, rangeHeaders, spanOf } from '../objects/reading.ts';
import { contentHeaders } from '../objects/responses.ts';
import { defaultQuota, writer } from '../usage.ts';
import { type Added, type CasPut, casStore } from './cas.store.ts';

type CasDeps = Pick<Deps, 'db' | 'settings' | 'intake' | 'quotas' | 'transfers' | 'readBlob'>;

/** Content-addressed storage: content under its own hash. */
export function cas(deps: CasDeps) {
  const { db, settings, intake, quotas } = deps;
  const outgoing = createOutgoing(deps);
  const quota = defaultQuota(settings);
  const most = settings.maxObjectBytes;
  const puts = createCommitLines<string, CasPut, Added>({
    nameOf: (tenant) => tenant,
    together: (tenant, writes) => db.statement((sql) => casStore(sql).putAll(tenant, writes, quota)),
  });
  return {
    async put({ ref, body, ...headers }, context) {
      const expected = parseChecksums(headers['X-Store-Checksum']);
      checkSize(headers['Content-Length'], most);
      const stored = await intake.take(
        { tenant: context.tenant, source: body, expected, most },
        async (received) => {
          const commit = puts.commit(context.tenant, { author: writer(context), ref, received });
          return { ...(await quotas.noting(context, undefined, commit)), received };
        },
      );
      context.reply.status(stored.created ? 201 : 200);
      const { sha256, size } = stored.received;
      const { deduplicated, refs: references } = stored;
      return { hash: `sha256:${sha256}`, size, deduplicated, references };
    },

    async get({ hash, ...request }, context) {
      const entry = await find(context.tenant, hash);
      if (isKnown(request, entry, context)) return;
      const span = spanOf(request, entry);
      const pieces = outgoing.ofBlobs(context.tenant, [{ id: entry.blob_id, span }]);
      const content = await outgoing.begun(context.tenant, pieces);
      rangeHeaders(context.reply, span, entry.size);
      contentHeaders(context.reply, entry, span);
      return content;
    },

    async head({ hash }, { tenant, reply }) {
      const entry = await find(tenant, hash);
      contentHeaders(reply, entry, { start: 0, end: entry.size });
    },

    async delete({ hash, ref }, context) {
      await db.statement((sql) => casStore(sql).delete({ author: context, ref, quota }, digitsOf(hash)));
    },
  } satisfies Cas<Context>;

  /** An entry as an object that never changes. */
  async function find(tenant: string, hash: string): Promise<ObjectRow> {
    const sha256 = digitsOf(hash);
    const { created_at, ...entry } = await casStore(db.sql).get(tenant, sha256);
    return {
      ...{ ...plainFields, ...entry, key: '', segments: 0, etag: etagOf(sha256), checksum: hash },
      ...{ last_modified: created_at, cache_control: 'private, max-age=31536000, immutable' },
    };
  }
}

const digitsOf = (hash: string) => hash.slice(hash.indexOf(':') + 1);
