import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { createEnqueue, type Enqueue } from './enqueue.ts';
import { jobStore } from './jobs.store.ts';

let db: TestDatabase;
let enqueue: Enqueue['enqueue'];
const hinted: string[] = [];
beforeAll(async () => {
  db = await testDatabase();
  ({ enqueue } = createEnqueue({ db, maxPayload: 65_536, hint: (queues) => hinted.push(...queues) }));
});
beforeEach(async () => {
  hinted.length = 0;
  await db.sql`truncate jobs.job, jobs.job_key, jobs.job_done`;
});
afterAll(() => db.close());

const jobs = () => db.sql`
  select id, tenant_id, queue, state, rank, payload, tags, attempt, unique_key, run_at <= now() as due from jobs.job order by id`;
const keyed = (key: string, more: object = {}) => enqueue([{ name: 'mail', unique_key: key, ...more }]);

test('a job is stored as it was given, and keeps every character of its payload', async () => {
  const payload = { text: 'a\0b \ud800 "\\ {}', list: [1, null, { deep: [] }] };
  const [made] = await enqueue([
    {
      name: 'mail.send',
      queue: 'mails',
      payload,
      priority: 7,
      tags: ['a, b', '{"}'],
      tenant: 'acme',
      app: 'shop',
    },
  ]);
  expect(made).toMatchObject({ created: true });
  expect(await jobs()).toEqual([
    {
      ...{
        id: made!.id,
        tenant_id: 'acme',
        queue: 'mails',
        state: 'pending',
        rank: -7,
        payload,
        tags: ['a, b', '{"}'],
      },
      ...{ attempt: 0, unique_key: null, due: true },
    },
  ]);
  expect(hinted).toEqual(['mails']);
});

test.each([
  {},
  { priority: -3, max_attempts: 1, timeout: '1h', tags: ['a', 'b,"c'], origin_id: 'run_1', tenant: 't' },
  { backoff: { type: 'fixed', delay: '1s', max: '2s' }, run_at: '2030-01-02T03:04:05.678901Z', app: 'shop' },
  { delay: '90s', payload: { text: 'ä, "\\ {}' } },
] as const)('a job alone is stored like one among others: %j', async (members) => {
  const input = { name: 'n', queue: 'q', ...members };
  const columns = db.sql`
    (to_jsonb(job) - '{id,payload,created_at,run_at}'::text[]) as members, payload::text as payload, run_at - created_at as wait,
    case when ${'run_at' in members} then run_at end as run_at`;
  const [alone] = await enqueue([input]);
  const [one] = await enqueue([input, { name: 'other' }]);
  const rows =
    await db.sql`select ${columns} from jobs.job where id in (${alone!.id}, ${one!.id}) order by id`;
  expect(rows).toHaveLength(2);
  const [first, second] = rows.map(({ wait, ...row }) => ('run_at' in members ? row : { ...row, wait }));
  expect(first).toEqual(second);
});

test('calls at once share statements, and each gets its own jobs in order', async () => {
  const all = await Promise.all(
    Array.from({ length: 300 }, (_, call) =>
      enqueue(Array.from({ length: (call % 5) + 1 }, (_, at) => ({ name: 'n', payload: { call, at } }))),
    ),
  );
  const stored = new Map((await jobs()).map((job) => [job['id'], job['payload']]));
  expect(stored.size).toBe(900);
  all.forEach((made, call) => made.forEach(({ id }, at) => expect(stored.get(id)).toEqual({ call, at })));
  for (const made of all) expect(made.map(({ id }) => id)).toEqual(made.map(({ id }) => id).sort());
});

test('a call that the database refuses does not spoil those that share its statement', async () => {
  const results = await Promise.allSettled([
    enqueue([{ name: 'good', payload: { n: 1 } }]),
    enqueue([{ name: 'bad', tenant: 'a\0b' }]),
    enqueue([{ name: 'good', payload: { n: 2 } }]),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await jobs()).toHaveLength(2);
});

describe('in the caller’s transaction', () => {
  test('a job exists when it commits, and is announced then', async () => {
    await db.transaction(async (tx) => {
      await enqueue([{ name: 'later' }], tx);
      expect(hinted).toEqual([]);
    });
    expect(hinted).toEqual(['default']);
    expect(await jobs()).toHaveLength(1);
  });

  test('a job does not exist when it rolls back', async () => {
    const failed = db.transaction(async (tx) => {
      await enqueue([{ name: 'never' }, { name: 'never', unique_key: 'k' }], tx);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(hinted).toEqual([]);
    expect(await jobs()).toEqual([]);
    expect((await keyed('k'))[0]).toMatchObject({ created: true });
  });
});

describe('a unique key', () => {
  test('is won by one of two hundred', async () => {
    const made = await Promise.all(Array.from({ length: 200 }, () => keyed('k')));
    expect(new Set(made.flat().map(({ id }) => id)).size).toBe(1);
    expect(made.flat().filter(({ created }) => created)).toHaveLength(1);
    expect(await jobs()).toHaveLength(1);
  });

  test('is won by one of several in one call and in transactions that overlap', async () => {
    const inside = Array.from({ length: 6 }, () =>
      db.transaction((tx) =>
        enqueue(
          ['b', 'a', 'b'].map((key) => ({ name: 'n', unique_key: key })),
          tx,
        ),
      ),
    );
    const made = (await Promise.all(inside)).flat();
    expect(made.filter(({ created }) => created)).toHaveLength(2);
    expect(await jobs()).toHaveLength(2);
  });

  test('is free again after the job, and belongs to one tenant and app', async () => {
    const [first] = await keyed('k', { tenant: 'acme' });
    expect((await keyed('k', { tenant: 'other' }))[0]!.created).toBe(true);
    expect((await keyed('k', { tenant: 'acme', app: 'shop' }))[0]!.created).toBe(true);
    expect((await keyed('k', { tenant: 'acme' }))[0]).toEqual({ id: first!.id, created: false });
    await db.transaction((tx) => jobStore(tx).cancel([{ tenant_id: 'acme', id: first!.id }]));
    expect((await keyed('k', { tenant: 'acme' }))[0]!.created).toBe(true);
  });

  test('with a time outlives the job and ends with the time', async () => {
    const [first] = await keyed('k', { unique_for: '1h' });
    await db.transaction((tx) => jobStore(tx).cancel([{ tenant_id: 'system', id: first!.id }]));
    expect((await keyed('k'))[0]).toEqual({ id: first!.id, created: false });
    await db.sql`update jobs.job_key set expires_at = now() - interval '1 ms'`;
    const again = await Promise.all(Array.from({ length: 20 }, () => keyed('k')));
    expect(again.flat().filter(({ created }) => created)).toHaveLength(1);
  });

  test('may replace what waits, but nothing that runs', async () => {
    const replace = (n: number) =>
      keyed('k', { unique_mode: 'replace', payload: { n }, delay: '1h' }).then(([made]) => made!);
    const first = await replace(1);
    expect(await replace(2)).toEqual({ id: first.id, created: false });
    expect(await jobs()).toMatchObject([{ payload: { n: 2 }, due: false }]);
    await db.sql`update jobs.job set state = 'running', lease_id = 'lease_x'`;
    await replace(3);
    expect(await jobs()).toMatchObject([{ payload: { n: 2 } }]);
  });
});

test.each([
  [{ name: 'with space' }, 'name: must have 1 to 128'],
  [{ name: 'n', queue: '' }, 'queue: must have 1 to 128'],
  [{ name: 'n', priority: 101 }, 'priority: must be an integer from -100 to 100'],
  [{ name: 'n', max_attempts: 0 }, 'max_attempts: must be'],
  [{ name: 'n', run_at: '2026-11-20T09:30:00Z', delay: '1s' }, 'delay: cannot be given together with run_at'],
  [{ name: 'n', run_at: '2999-11-20T09:30:00Z' }, 'run_at: must be at most 5 years ahead'],
  [{ name: 'n', timeout: '1ms' }, 'timeout: must be'],
  [{ name: 'n', unique_for: '1h' }, 'unique_for: needs a unique_key'],
  [{ name: 'n', tags: Array.from({ length: 17 }, () => 'a') }, 'tags: must be at most 16'],
  [{ name: 'n', payload: { text: 'a'.repeat(65_536) } }, 'payload: must have at most 65536 bytes'],
  [{ name: 'n', payload: { text: 'ä'.repeat(32_770) } }, 'payload: must have at most 65536 bytes'],
])('%j is refused', async (input, message) => {
  await expect(enqueue([input])).rejects.toThrow(message);
  expect(await jobs()).toEqual([]);
});

test('a payload at the limit is taken', async () => {
  const text = 'ä'.repeat((65_536 - '{"text":""}'.length - 1) / 2) + 'a';
  await enqueue([{ name: 'n', payload: { text } }]);
  expect(await jobs()).toMatchObject([{ payload: { text } }]);
});

test('a time in the past is now', async () => {
  await enqueue([{ name: 'n', run_at: '2001-01-01T00:00:00Z' }]);
  const [row] = await db.sql`select run_at >= created_at as now, run_at <= now() as due from jobs.job`;
  expect(row).toEqual({ now: true, due: true });
});
