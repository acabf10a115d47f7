import type { Verification } from '../../../../generated/audit/server.ts';
import type { VerifyReport } from '../../../../generated/audit/types.ts';
import { emit } from '../../../db/outbox.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { Invalid, NotFound, RateLimited } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { UnreadableKey } from '../keys/sealed-keys.ts';
import { createPlaces } from '../places-at-once.ts';
import type { KnownStream } from '../streams/known-streams.ts';
import { type StreamRow, streamStore } from '../streams/streams.store.ts';
import { verificationStore } from './verification.store.ts';
import { mostRemarks, notVerified, type VerifiedStream, verifyChain } from './verifier.ts';

/** The verifications that a process makes at once. */
const mostAtOnce = 2;

/** Verification: checks that the chain is intact. */
export const verification = (deps: Pick<Deps, 'db' | 'sealer' | 'known'>) => {
  const places = createPlaces(mostAtOnce, () =>
    RateLimited('too many verifications are running', { retryAfter: 1 }),
  );

  return {
    async verify({ body = { stream_id: undefined, from_seq: 0, to_seq: 0 } }, context) {
      const { stream_id, from_seq: from = 0, to_seq: to = 0 } = body;
      if (to !== 0 && from > to) throw Invalid('from_seq is after to_seq');
      const { stream, headless } = await streamsOf(deps, context, stream_id);
      const { report, beyond } = await places.take(context.tenant, async () => {
        const verified =
          stream === undefined
            ? { report: notVerified(), beyond: 0 }
            : await verifyChain(deps, stream, { from, to });
        return { ...verified, report: told(verified.report, headless) };
      });
      const alarmed = stream ?? { id: headless[0] ?? '', tenant: context.tenant, app: context.app };
      if (alarmed.id !== '') await tellOfFaults(deps, alarmed, report, beyond);
      return report;
    },
  } satisfies Verification<Context>;
};

/** What a request asks about: the stream that it names or the caller's own, and streams whose rows somebody removed. */
interface Asked {
  /** Undefined when there is none. */
  readonly stream: VerifiedStream | undefined;
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
    const row = await streamStore(db.sql).findOf(tenant, app);
    return {
      stream: row && verifiable(known, row),
      headless: await store.headless(tenant, app),
    };
  }
  const row = await streamStore(db.sql).find(viewOf(context), id);
  if (row !== undefined) return { stream: verifiable(known, row), headless: [] };
  const headless = await store.headless(context.tenant, context.app);
  if (!headless.includes(id)) throw NotFound('stream');
  return { stream: undefined, headless: [id] };
}

function verifiable(known: Deps['known'], row: StreamRow): VerifiedStream {
  try {
    return known.known(row);
  } catch (error) {
    if (error instanceof UnreadableKey) return { id: row.id, tenant: row.tenant_id, app: row.app_id };
    throw error;
  }
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

/**
 * Tells subscribers of a finding: once, not as often as somebody asks. What is missing beyond the head only because the request names it
 * is no finding: anybody could raise false alarms with it, behind which a true one would not be told.
 */
async function tellOfFaults(
  { db }: Pick<Deps, 'db'>,
  { id, tenant, app }: Pick<KnownStream, 'id' | 'tenant' | 'app'>,
  { tampered_count, unreadable, remarks, ...report }: VerifyReport,
  beyond: number,
): Promise<void> {
  const gap_count = report.gap_count - beyond;
  const faults = gap_count + tampered_count + unreadable + remarks.length;
  if (faults === 0) return;
  const data = { stream_id: id, gap_count, tampered_count, unreadable };
  const type = 'audit.integrity.failed';
  // Nothing is recorded in the chain, which may be broken.
  await db.transaction(async (sql) => {
    if (await verificationStore(sql).alarm({ tenant, id }, faults))
      await emit(sql, { source: '/audit', type, subject: id, tenant, app, actor: 'audit', data });
  });
}
