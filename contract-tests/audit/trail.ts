/** Things for the tests of audit: events, erasures, policies, archives and reports, made through the SDK on the mock and on the server. */
import { expect } from 'vitest';
import type { AuditEvent, EventInput, Report } from '../../generated/audit/types.ts';
import type { Credential } from '../harness.ts';

type Sender = Pick<Credential, 'plinth'>;

/** Ids of nothing. */
export const absent = {
  event: 'audit_01h455vb4pex5vsknk084sn0zz',
  stream: 'stream_01h455vb4pex5vsknk084sn0zz',
  erasure: 'erasure_01h455vb4pex5vsknk084sn0zz',
  policy: 'retpol_01h455vb4pex5vsknk084sn0zz',
  archive: 'archive_01h455vb4pex5vsknk084sn0zz',
  report: 'report_01h455vb4pex5vsknk084sn0zz',
} as const;

/** What the frame says of an `Idempotency-Key` that comes with another request. */
export const usedBefore = 'audit: idempotency key was used with another body';

/** What an event needs. */
export const anEvent = { action: 'user.updated', resource: 'user', category: 'data' } as const;

/** The first quarter of the examples. */
export const period = { from: '2026-01-01', to: '2026-04-01' } as const;

/** Records an event. */
export const recorded = async ({ plinth }: Sender, more: Partial<EventInput> = {}): Promise<AuditEvent> =>
  await plinth.audit.events.create({ body: { ...anEvent, ...more } });

/** Creates a report of the first quarter. */
export const reported = async ({ plinth }: Sender): Promise<Report> =>
  await plinth.audit.reports.soc2({ body: { period } });

/** Lets the retention archive an event of long ago, and returns the id of the archive. */
export async function archived(sender: Sender): Promise<string> {
  const { retention } = sender.plinth.audit;
  await recorded(sender, { category: 'ancient', timestamp: '2020-02-29T12:00:00Z' });
  await retention.create({ body: { category: 'ancient', duration: '720h', archive: true } });
  expect(await retention.enforce()).toMatchObject({ complete: true });
  const [archive] = await retention.archives();
  return archive!.id;
}

/** Leaves one thing of every kind, because the examples name another tenant or app, and returns their ids by kind. */
export async function leaveTrail(sender: Sender): Promise<Record<string, string>> {
  const archive = await archived(sender);
  const erasure = await sender.plinth.audit.erasures.create({
    body: { subject_id: 'usr_13', reason: 'asked', requested_by: 'dpo@acme.example' },
  });
  const { id: retpol } = await sender.plinth.audit.retention.create({
    body: { category: 'auth', duration: '2160h' },
  });
  const [{ id: report }, { id: audit }] = [await reported(sender), await recorded(sender)];
  return { archive, erasure: erasure.id, retpol, report, audit };
}

/** The events of a tenant that its tests recorded: the platform's own arrive too, a moment later. */
export const own = <Event extends { readonly source: string | null }>(events: readonly Event[]): Event[] =>
  events.filter(({ source }) => source === null);
