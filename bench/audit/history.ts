/** A long history, written by one statement: events whose parts belong to nobody, with hashes that nobody computed. */
import type { Database } from '../../src/db/index.ts';
import { analyze } from '../jobs/place.ts';
import { app, type Log } from './service.ts';

/** The days over which the events are spread. */
const days = 90;

/** Stores `count` events of a tenant, the newest of them now. */
export async function seed(db: Database, log: Log, tenant: string, count: number): Promise<void> {
  const { id } = await log.known.of(tenant, app);
  const step = 50_000;
  for (let from = 1; from <= count; from += step) {
    const to = Math.min(from + step - 1, count);
    await db.maintenance(
      (sql) => sql`
        insert into audit.events (
          tenant_id, stream_id, sequence, hash, id, app_id, timestamp, recorded_at, recorded_by, actor_type, action, resource, category,
          outcome, severity, salt, actor, content, resource_ref
        )
        select ${tenant}, ${id}, n, decode(repeat('00', 32), 'hex'), 'audit_' || md5(${tenant} || n), ${app},
          now() - (${count}::integer - n) * (interval '${sql.unsafe(String(days))} days' / ${count}::integer), now(), 'key:bench', 'user',
          (array['document.read', 'document.updated', 'session.created', 'member.invited'])[1 + n % 4], 'document',
          (array['data', 'auth', 'access'])[1 + n % 3], case when n % 50 = 0 then 'denied' else 'success' end,
          case when n % 100 = 0 then 'warning' else 'info' end, decode(repeat('00', 16), 'hex'),
          '\\x00'::bytea || convert_to('{"ip":"203.0.113.7","user_agent":null,"user_id":"usr_' || n % 1000 || '"}', 'UTF8'),
          '\\x00'::bytea || convert_to('{"metadata":{"revision":' || n || '},"reason":null,"resource_id":"document-1","subject_id":null}', 'UTF8'),
          decode(md5('document-' || n % 1000), 'hex')
        from generate_series(${from}::integer, ${to}::integer) as n`,
    );
  }
  await db.sql`update audit.streams set head_seq = ${count}, head_hash = decode(repeat('00', 32), 'hex'), head_at = now() where id = ${id}`;
  await analyze(db);
}
