import type { Database, Sql } from '../../db/index.ts';

/** Changes the database behind the back of its triggers, as somebody with all rights there could. */
export const tamper = (db: Pick<Database, 'transaction'>, change: (sql: Sql) => Promise<unknown>) =>
  db.transaction(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await change(sql);
  });

/** Keeps the service's events in its outbox, as a consumer that has not had them would. */
export const keepEvents = ({ sql }: Pick<Database, 'sql'>) =>
  sql`insert into plinth.relay_positions (service, consumer) values ('audit', 'test')`;

/**
 * Fills an empty stream with a chain that is intact, written by the database alone, because the service would take minutes for it. The
 * events belong to nobody; each has `bytes` bytes of metadata.
 */
export const fillStream = (
  db: Pick<Database, 'maintenance'>,
  { id, tenant, app }: { readonly id: string; readonly tenant: string; readonly app: string },
  { count, bytes }: { readonly count: number; readonly bytes: number },
) =>
  db.maintenance((sql) =>
    sql.unsafe(`
      do $$
      declare
        before bytea := decode(repeat('00', 32), 'hex');
        salt bytea := decode(repeat('00', 16), 'hex');
        actor bytea := '\\x00'::bytea || convert_to('{"ip":null,"user_agent":null,"user_id":null}', 'UTF8');
        content bytea := '\\x00'::bytea || convert_to(
          '{"metadata":{"t":"' || repeat('x', ${bytes}) || '"},"reason":null,"resource_id":null,"subject_id":null}', 'UTF8');
        digests text := format('"actor":"%s","actor_key":null', encode(sha256(actor), 'hex'));
        contents text := format('"content":"%s","content_key":null', encode(sha256(content), 'hex'));
        event text;
      begin
        for n in 1..${count} loop
          event := 'audit_' || right('${id}', 12) || lpad(n::text, 14, '0');
          before := sha256('\\x00'::bytea || convert_to(format(
            '{"action":"a",%s,"actor_type":"user","app_id":"${app}","category":"data",%s,"id":"%s","outcome":"success","prev_hash":"%s",'
            '"recorded_at":"2026-01-20T08:30:00.000Z","recorded_by":"key:test","resource":"r","salt":"AAAAAAAAAAAAAAAAAAAAAA",'
            '"sequence":%s,"severity":"info","source":null,"stream_id":"${id}","tenant_id":"${tenant}",'
            '"timestamp":"2026-01-20T08:30:00.000Z","v":1}',
            digests, contents, event, encode(before, 'hex'), n), 'UTF8'));
          insert into audit.events (
            tenant_id, stream_id, sequence, hash, id, app_id, timestamp, recorded_at, recorded_by, actor_type, action, resource, category,
            outcome, severity, salt, actor, content
          ) values (
            '${tenant}', '${id}', n, before, event, '${app}', '2026-01-20T08:30:00Z', '2026-01-20T08:30:00Z', 'key:test', 'user', 'a', 'r',
            'data', 'success', 'info', salt, actor, content
          );
        end loop;
        update audit.streams set head_seq = ${count}, head_hash = before, head_at = '2026-01-20T08:30:00Z' where id = '${id}';
      end $$`),
  );
