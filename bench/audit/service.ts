/** The service in this process: what records events, without HTTP in front; and the same rows without chain and encryption. */
import { createHash } from 'node:crypto';
import type { EventInput } from '../../generated/audit/types.ts';
import type { Database } from '../../src/db/index.ts';
import { createSealer, type Sealer } from '../../src/lib/seal.ts';
import { createIntake, type Intake } from '../../src/services/audit/append/intake.ts';
import { newEvent, type NewEvent } from '../../src/services/audit/append/new-event.ts';
import { createKnownStreams, type KnownStreams } from '../../src/services/audit/streams/known-streams.ts';

export const app = 'default';
const persons = 1_000;
const minutes = 60_000;

/** What somebody sends: an event of about half a kilobyte, with one of a thousand persons. */
const inputOf = (nth: number): EventInput => ({
  timestamp: new Date(Date.now() - (nth % minutes)).toISOString(),
  action: ['document.read', 'document.updated', 'session.created', 'member.invited'][nth % 4]!,
  resource: 'document',
  actor_type: 'user',
  subject_id: null,
  severity: 'info',
  reason: null,
  category: ['data', 'auth', 'access'][nth % 3]!,
  outcome: nth % 50 === 0 ? 'denied' : 'success',
  user_id: `usr_${nth % persons}`,
  ip: `203.0.113.${nth % 250}`,
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  resource_id: `document-${nth % 10_000}`,
  metadata: { fields: ['title', 'body'], revision: nth, note: 'a sentence about what was changed and why' },
});

let nth = 0;
/** The next event, checked and with an id, as both sides store it. */
export const draft = (tenant: string): NewEvent =>
  newEvent(inputOf((nth += 1)), { tenant, app, recordedBy: 'key:bench', source: null }, '', Date.now());

export interface Log {
  readonly sealer: Sealer;
  readonly known: KnownStreams;
  readonly intake: Intake;
  /** Records events of these tenants, all or none. */
  readonly append: (drafts: readonly NewEvent[]) => Promise<unknown>;
}

/** @param mostTogether the most events of a transaction */
export function openLog(db: Database, mostTogether = 500): Log {
  const sealer = createSealer(Buffer.alloc(32, 7));
  const known = createKnownStreams({ db, sealer });
  const limits = { mostWaiting: 100_000, mostTogether };
  const intake = createIntake({ db, sealer, idempotencyMs: 3_600_000, ...limits });
  return {
    sealer,
    known,
    intake,
    async append(drafts) {
      const placed = drafts.map(async (event) => ({ event, stream: await known.of(event.tenant, app) }));
      return intake.add({ events: await Promise.all(placed) });
    },
  };
}

/** A table of the same columns and indexes, and nothing that keeps anybody from changing it. */
export async function createPlainTable(db: Database): Promise<void> {
  await db.sql`create table plain_events (like audit.events including all)`;
}

/** What stands for a person or a resource in the plain table; it is known before the measurement. */
const refs = new Map<string, string>();
function refOf(name: string | null): string | null {
  if (name === null) return null;
  const known = refs.get(name) ?? createHash('md5').update(name).digest('hex');
  refs.set(name, known);
  return known;
}

/** Inserts events as one would without a chain: one statement with many rows, and its commit. */
export async function insertPlain(db: Database, drafts: readonly NewEvent[], first: number): Promise<void> {
  const of = <Value>(value: (event: NewEvent) => Value) => drafts.map(value);
  const hash = '00'.repeat(32);
  await db.transaction(async (sql) => {
    await sql`
      insert into plain_events (
        tenant_id, stream_id, sequence, hash, id, app_id, timestamp, recorded_at, recorded_by, source, actor_type, action, resource,
        category, outcome, severity, actor, content, actor_ref, subject_ref, resource_ref
      )
      select tenant_id, 'stream_plain', sequence, decode(${hash}, 'hex'), id, ${app}, timestamp, now(), 'key:bench', null, actor_type,
        action, resource, category, outcome, severity, convert_to(actor, 'UTF8'), convert_to(content, 'UTF8'), decode(actor_ref, 'hex'),
        decode(subject_ref, 'hex'), decode(resource_ref, 'hex')
      from unnest(
        ${of(({ tenant }) => tenant)}::text[], ${drafts.map((_, at) => first + at)}::bigint[], ${of(({ id }) => id)}::text[],
        ${of(({ value }) => value.timestamp)}::timestamptz[], ${of(({ value }) => value.actor_type)}::text[],
        ${of(({ value }) => value.action)}::text[], ${of(({ value }) => value.resource)}::text[],
        ${of(({ value }) => value.category)}::text[], ${of(({ value }) => value.outcome)}::text[],
        ${of(({ value }) => value.severity)}::text[], ${of(({ actor }) => actor.toString())}::text[],
        ${of(({ content }) => content.toString())}::text[], ${of(({ actorOwner }) => refOf(actorOwner))}::text[],
        ${of(({ contentOwner }) => refOf(contentOwner))}::text[], ${of(({ value }) => refOf(value.resource_id))}::text[]
      ) as given(
        tenant_id, sequence, id, timestamp, actor_type, action, resource, category, outcome, severity, actor, content, actor_ref,
        subject_ref, resource_ref
      )`;
  });
}
