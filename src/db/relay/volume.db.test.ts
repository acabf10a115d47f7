import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import type { RelayedEvent } from './relay.ts';
import { createRelay } from './testing/relaying.ts';
import { left } from './testing/taken.ts';

const log = pino({ level: 'silent' });
let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ services: ['authz'] });
});
beforeEach(async () => {
  await db.sql`delete from plinth.relay_held`;
});
afterAll(() => db.close());

/** Writes events of a hundred subjects in turn, each with so many bytes. */
const write = (count: number, bytes: number) => db.sql`
  insert into authz.outbox (tenant_id, id, type, subject, app_id, actor, data)
  select 'acme', 'evt_' || nth, 'authz.thing.changed', 's' || nth % 100, 'default', 'root',
    jsonb_build_object('nth', nth, 'padding', repeat('x', ${bytes}))
  from generate_series(1, ${count}) as nth`;

/** Relays until nothing is left, and returns the most events and bytes of one call, and what was taken of each subject. */
async function relayAll(take: (events: readonly RelayedEvent[]) => void = () => {}) {
  const found = { events: 0, bytes: 0, taken: 0 };
  const last = new Map<string, number>();
  const relay = createRelay({
    db,
    log,
    outboxes: [{ service: 'authz' }],
    everyMs: 20,
    consumers: [
      {
        name: 'audit',
        async take(events) {
          take(events);
          found.events = Math.max(found.events, events.length);
          found.bytes = Math.max(found.bytes, JSON.stringify(events).length);
          found.taken += events.length;
          for (const { subject, data } of events) {
            const { nth } = data as { nth: number };
            expect(nth).toBeGreaterThan(last.get(subject) ?? 0);
            last.set(subject, nth);
          }
        },
      },
    ],
  });
  relay.start();
  await expect.poll(() => left(db), { timeout: 240_000, interval: 200 }).toBe(0);
  await relay.stop();
  return found;
}

test(
  'a hundred thousand events pass in order, with few of them in memory at once',
  { timeout: 300_000 },
  async () => {
    await write(100_000, 100);
    expect(await relayAll()).toEqual({
      events: 500,
      bytes: expect.toSatisfy((n) => n < 500 * 1_000),
      taken: 100_000,
    });
  },
);

test('large events pass a few at a time', { timeout: 300_000 }, async () => {
  await write(30, 1024 * 1024);
  expect(await relayAll()).toMatchObject({ bytes: expect.toSatisfy((n) => n < 5 * 1024 * 1024), taken: 30 });
});

test(
  'an event larger than all that may be in memory passes alone, in its turn',
  { timeout: 300_000 },
  async () => {
    await write(9, 1024);
    await db.sql`update authz.outbox set data = data || jsonb_build_object('padding', repeat('x', ${6 * 1024 * 1024})) where id = 'evt_5'`;
    await db.sql`update authz.outbox set subject = 'x'`;
    const sizes: number[] = [];
    expect(await relayAll((events) => void sizes.push(events.length))).toMatchObject({ taken: 9 });
    expect(sizes).toEqual([4, 1, 4]);
  },
);

test('the many events of a subject that failed pass in parts', { timeout: 300_000 }, async () => {
  await write(1, 1);
  await db.sql`update authz.outbox set subject = 'x'`;
  let failures = 0;
  const failOnce = () => {
    failures += 1;
    if (failures > 1) return;
    throw new Error('no');
  };
  const relayed = relayAll(failOnce);
  await expect.poll(() => failures).toBe(1);
  await db.sql`
    insert into authz.outbox (tenant_id, id, type, subject, app_id, actor, data)
    select 'acme', 'later_' || nth, 'authz.thing.changed', 'x', 'default', 'root', jsonb_build_object('nth', nth + 1)
    from generate_series(1, 2000) as nth`;
  expect(await relayed).toMatchObject({ events: expect.toSatisfy((n) => n <= 500), taken: 2_001 });
});
