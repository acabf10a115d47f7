import type { Verification } from '../../../../generated/audit/server.ts';
import type { VerifyReport } from '../../../../generated/audit/types.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { Invalid, NotFound, RateLimited } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { createPlaces } from '../places-at-once.ts';
import type { KnownStream } from '../streams/known-streams.ts';
import { streamStore } from '../streams/streams.store.ts';
import { serviceFor } from '../writes.ts';
import { verificationStore } from './verification.store.ts';
import { notVerified, verifyChain } from './verifier.ts';

/** The verifications that a process makes at once. */
const mostAtOnce = 2;

const mostRemarks = 10;

/** Verification: checks that the chain is intact. */
export const verification = (deps: Pick<Deps, 'db' | 'sealer' | 'known' | 'write'>) => {
  const places = createPlaces(mostAtOnce, () =>
    RateLimited('too many verifications are running', { retryAfter: 1 }),
  );

  return {
    async verify({ body = { stream_id: undefined, from_seq: 0, to_seq: 0 } }, context) {
      const { stream_id, from_seq: from = 0, to_seq: to = 0 } = body;
      if (to !== 0 && from > to) throw Invalid('from_seq is after to_seq');
      const { stream, headless } = await streamsOf(deps, context, stream_id);
      const report = await places.take(context.tenant, async () =>
        told(stream === undefined ? notVerified() : await verifyChain(deps, stream, { from, to }), headless),
      );
      const alarmed = stream ?? { id: headless[0] ?? '', tenant: context.tenant, app: context.app };
      if (!report.valid && alarmed.id !== '') await tellOfFaults(deps, alarmed, report);
      return report;
    },
  } satisfies Verification<Context>;
};

/** What a request asks about: the stream that it names or the caller's own, and streams whose rows somebody removed. */
interface Asked {
  /** Undefined when there is none. */
  readonly stream: KnownStream | undefined;
  readonly headless: readonly string[];
}

async function streamsOf(
  { db, known }: Pick<Deps, 'db' | 'known'>,
  context: Context,
  id: string | undefined,
): Promise<Asked> {
  const store = verificationStore(db.sql);
  if (id === undefined) {
    const { tenant, app } = context;
    return { stream: await known.find(tenant, app), headless: await store.headless(tenant, app) };
  }
  const row = await streamStore(db.sql).find(viewOf(context), id);
  if (row !== undefined) return { stream: known.known(row), headless: [] };
  const headless = await store.headless(context.tenant, context.app);
  if (!headless.includes(id)) throw NotFound('stream');
  return { stream: undefined, headless: [id] };
}

/** Adds to a report what it cannot say with numbers. */
function told(report: VerifyReport, headless: readonly string[]): VerifyReport {
  if (headless.length === 0) return report;
  const remarks = headless
    .slice(0, mostRemarks)
    .map((id) => `the row of ${id} is missing: its events are stored, but where they ended is not known`);
  return {
    ...report,
    valid: false,
    stream_id: report.stream_id ?? headless[0]!,
    // A report on nothing says no more than they do.
    remarks: [...(report.verified === 0 ? [] : report.remarks), ...remarks],
  };
}

/** Tells subscribers of a finding: once, not as often as somebody asks. */
const tellOfFaults = (
  { write }: Pick<Deps, 'write'>,
  stream: Pick<KnownStream, 'id' | 'tenant' | 'app'>,
  { gap_count, tampered_count, remarks }: VerifyReport,
) =>
  write(serviceFor(stream.tenant, stream.app), async ({ sql, emit }) => {
    const { id } = stream;
    if (await verificationStore(sql).alarm(stream, gap_count + tampered_count + remarks.length))
      emit('audit.integrity.failed', id, { stream_id: id, gap_count, tampered_count });
  });
