import { pino } from 'pino';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openDatabase } from './db/index.ts';
import { childDatabase } from './testing/database.ts';
import { childServer } from './testing/server.ts';

const log = pino({ level: 'silent' });
const patience = { timeout: 60_000 };

test.runIf(inject('engine') === 'postgres')(
  'the jobs of a worker that is killed do not wait for the end of its lease',
  { timeout: 120_000 },
  async () => {
    const place = await childDatabase(['keys']);
    onTestFinished(() => place.remove());
    const server = await childServer({
      services: ['keys'],
      env: { ...place.env, PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'), PLINTH_WORKERS: '2' },
    });
    onTestFinished(async () => void (await server.kill('SIGKILL')));
    const db = await openDatabase({ url: place.url, dataDir: place.env.PLINTH_DATA_DIR, log });
    onTestFinished(() => db.close());
    const leases = () =>
      db.sql<
        { id: string; pid: number }[]
      >`select id, split_part(worker, ':', 2)::int as pid from jobs.lease order by id`;
    await expect.poll(leases, patience).toHaveLength(2);
    const [killed, living] = await leases();
    await db.sql`
      insert into jobs.job (
        tenant_id, id, app_id, name, queue, state, rank, payload, tags, attempt, max_attempts, run_at, started_at, timeout_ms,
        backoff_type, backoff_delay_ms, backoff_max_ms, lease_id
      )
      select 'system', 'job_' || nth, 'default', 'n', 'q', 'running', 0, '{}', '{}', 1, 5, now(), now(), 60000, 'fixed', 1000, 1000,
        case when nth < 3 then ${killed!.id} else ${living!.id} end
      from generate_series(1, 3) as nth`;
    process.kill(killed!.pid, 'SIGKILL');
    await db.sql`update jobs.lease set expires_at = now() + interval '1 hour' where id = ${killed!.id}`;
    const due = () => db.sql<{ id: string }[]>`
      select id from jobs.job where state = 'pending' and run_at <= now() and lost_count = 1 order by id`;
    await expect.poll(due, patience).toEqual([{ id: 'job_1' }, { id: 'job_2' }]);
    expect((await leases()).map(({ id }) => id)).not.toContain(killed!.id);
    // A living process keeps its leases.
    expect(await db.sql`select lease_id from jobs.job where id = 'job_3'`).toEqual([
      { lease_id: living!.id },
    ]);
    expect(await server.kill('SIGTERM')).toBe(0);
  },
);
