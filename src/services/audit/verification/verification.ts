import type { Verification } from '../../../../generated/audit/server.ts';
import type { VerifyReport } from '../../../../generated/audit/types.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { Invalid, NotFound, RateLimited } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { createPlaces } from '../places-at-once.ts';
import { noHash } from '../record/record.ts';
import type { KnownStream } from '../streams/known-streams.ts';
import { streamStore } from '../streams/streams.store.ts';
import { serviceFor } from '../writes.ts';
import { nothingVerified, verifyChain } from './verifier.ts';

/** The verifications that a process makes at once. */
const mostAtOnce = 2;

/** Verification: checks that the chain is intact. */
export const verification = (deps: Pick<Deps, 'db' | 'sealer' | 'known' | 'write'>) => {
  const places = createPlaces(mostAtOnce, () =>
    RateLimited('too many verifications are running', { retryAfter: 1 }),
  );

  return {
    async verify({ body = { stream_id: undefined, from_seq: 0, to_seq: 0 } }, context) {
      const { stream_id, from_seq: from = 0, to_seq: to = 0 } = body;
      if (to !== 0 && from > to) throw Invalid('from_seq is after to_seq');
      const stream = await streamOf(deps, context, stream_id);
      if (stream === undefined) return nothingVerified(null, noHash);
      const report = await places.take(context.tenant, () => verifyChain(deps, stream, { from, to }));
      if (!report.valid) await tellOfFaults(deps, stream, report);
      return report;
    },
  } satisfies Verification<Context>;
};

/** The stream that a request names, or the caller's own; undefined when nothing was recorded there yet. */
async function streamOf(
  { db, known }: Pick<Deps, 'db' | 'known'>,
  context: Context,
  id: string | undefined,
): Promise<KnownStream | undefined> {
  if (id === undefined) return known.find(context.tenant, context.app);
  const { tenant_id, app_id } = await streamStore(db.sql).get(viewOf(context), id);
  const stream = await known.find(tenant_id, app_id);
  if (stream === undefined) throw NotFound('stream');
  return stream;
}

const tellOfFaults = (
  { write }: Pick<Deps, 'write'>,
  { id, tenant, app }: KnownStream,
  { gap_count, tampered_count }: VerifyReport,
) =>
  write(serviceFor(tenant, app), async ({ emit }) =>
    emit('audit.integrity.failed', id, { stream_id: id, gap_count, tampered_count }),
  );
