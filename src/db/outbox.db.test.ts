import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { emit } from './outbox.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await db.sql`create schema things`;
  await db.sql`
    create table things.outbox (
      tenant_id text not null, seq bigint generated always as identity, id text not null, type text not null,
      subject text not null, app_id text not null, actor text not null, data jsonb not null,
      time timestamptz(3) not null default now(), relay_number bigint, request_id text, constraint outbox_pkey primary key (tenant_id, seq)
    )
  `;
});
afterAll(() => db.close());

const event = (subject: string) => ({
  source: '/things' as const,
  type: 'things.thing.created',
  subject,
  tenant: 'acme',
  app: 'default',
  actor: 'root',
  data: { name: 'Ä "quoted"', tags: ['a'], nothing: null },
});

test('events are written in order, with all their members', async () => {
  await db.transaction((sql) => emit(sql, event('first'), event('second'), event('third')));
  const rows = await db.sql<{ id: string; subject: string }[]>`
    select tenant_id, id, type, subject, app_id, actor, data from things.outbox order by seq
  `;
  expect(rows.map(({ subject }) => subject)).toEqual(['first', 'second', 'third']);
  const { tenant, app, source, ...rest } = event('first');
  expect(rows[0]).toEqual({ ...rest, tenant_id: tenant, app_id: app, id: expect.stringMatching(/^evt_/) });
  expect(new Set(rows.map(({ id }) => id)).size).toBe(3);
  expect(source).toBe('/things');
});

test('events exist exactly when their transaction does', async () => {
  const failed = db.transaction(async (sql) => {
    await emit(sql, event('never'));
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  expect(await db.sql`select id from things.outbox where subject = 'never'`).toEqual([]);
});

test('events of several services do not go into one outbox', async () => {
  await expect(emit(db.sql, event('a'), { ...event('b'), source: '/other' })).rejects.toThrow('one source');
});
