import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { emit } from '../outbox.ts';
import { relayBacklog } from './backlog.ts';
import { passageStore } from './relay.store.ts';
import type { Consumer } from './relay.ts';
import { createRelay, type Relay } from './testing/relaying.ts';
import { change, createTaken, eventOf, left, storing, takenBy, upTo } from './testing/taken.ts';

const log = pino({ level: 'silent' });
let db: TestDatabase;
let relays: Relay[] = [];
beforeEach(async () => {
  db = await testDatabase({ services: ['authz'] });
  await createTaken(db);
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(relays.map((relay) => relay.stop()));
  relays = [];
  await db.close();
});

function start(consumers: readonly Consumer[]): Relay {
  const relay = createRelay({ db, log, outboxes: [{ service: 'authz' }], consumers, everyMs: 20 });
  relays.push(relay);
  relay.start();
  return relay;
}

const held = async () => (await relayBacklog(db.sql)).find(({ consumer }) => consumer === 'audit')?.held;

test('it stops at once while a consumer hangs, and hands the same events to the next one', async () => {
  let asked = 0;
  const relay = start([
    {
      name: 'audit',
      take: () => {
        asked += 1;
        return new Promise(() => {});
      },
    },
  ]);
  await change(db, 'a');
  await expect.poll(() => asked).toBe(1);
  await relay.stop();
  start([storing(db, 'audit')]);
  await expect.poll(async () => (await takenBy(db, 'audit')).get('a')).toEqual([1]);
});

test('what was stored before its process ended comes again, and is taken once', async () => {
  const audit = storing(db, 'audit');
  let stored = false;
  const relay = start([
    {
      name: 'audit',
      async take(events, signal) {
        await audit.take(events, signal);
        stored = true;
        await new Promise(() => {});
      },
    },
  ]);
  for (let n = 0; n < 3; n++) await change(db, 'a');
  await expect.poll(() => stored).toBe(true);
  await relay.stop();
  expect(await left(db)).toBe(3);
  await change(db, 'a');
  start([audit]);
  await expect.poll(() => left(db)).toBe(0);
  expect((await takenBy(db, 'audit')).get('a')).toEqual(upTo(4));
});

test('a process that was overtaken while it was silent changes nothing', async () => {
  const relay = start([storing(db, 'audit')]);
  await expect.poll(held).toBe(0);
  await relay.stop();
  for (let n = 0; n < 3; n++) await change(db, 'a');
  const store = passageStore(db, { service: 'authz' }, 'audit');
  await store.number();
  const { last = 0 } = await store.next(0);
  const failed = [{ tenant: 'acme', subject: 'a', number: 1 }];
  expect(await store.advance(0, last, [], 0)).toBe(true);
  expect(await store.advance(0, 2, failed, 0)).toBe(false);
  expect(await store.standing()).toEqual({ reached: last, held: 0 });
});

test('a process that was overtaken while it tried a held subject again lets none of its events be lost', async () => {
  const relay = start([storing(db, 'audit')]);
  await expect.poll(held).toBe(0);
  await relay.stop();
  await change(db, 'a');
  const store = passageStore(db, { service: 'authz' }, 'audit');
  await store.number();
  const subject = { tenant: 'acme', subject: 'a', number: 1 };
  await store.advance(0, 1, [subject], 0);
  const { events, all } = await store.waiting([subject], 1);
  expect([events.length, all]).toEqual([1, true]);

  // Meanwhile another process passes over the next event, because the subject is held.
  await change(db, 'a');
  await store.number();
  await store.advance(1, 2, [], 0);
  expect(await store.release(subject, [1], false, 1)).toBe(false);
  expect(await store.standing()).toEqual({ reached: 2, held: 1 });
  expect(await left(db)).toBe(2);
  start([storing(db, 'audit')]);
  await expect.poll(async () => (await takenBy(db, 'audit')).get('a')).toEqual([1, 2]);
  await expect.poll(() => left(db)).toBe(0);
});

test('many subjects of a tenant that fail hold back no other tenant', async () => {
  const audit = storing(db, 'audit');
  let failing = true;
  start([
    {
      name: 'audit',
      async take(events, signal) {
        if (failing && events.some(({ tenant }) => tenant === 'acme')) throw new Error('no');
        await audit.take(events, signal);
      },
    },
  ]);
  await db.transaction((sql) => {
    const [first, ...others] = upTo(100).map((at) => eventOf(`s${at}`, 1));
    return emit(sql, first!, ...others, { ...eventOf('other', 1), tenant: 'bolt' });
  });
  await expect.poll(async () => [...(await takenBy(db, 'audit')).keys()]).toEqual(['other']);
  await expect.poll(held).toBe(100);
  failing = false;
  await expect.poll(() => left(db)).toBe(0);
  expect((await takenBy(db, 'audit')).size).toBe(101);
});

test.each([-3_600_000, 3_600_000])('a clock that is wrong by %d ms does no harm', async (ms) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
  const audit = storing(db, 'audit');
  let failures = 0;
  start([
    {
      name: 'audit',
      async take(events, signal) {
        if (events.some(({ subject }) => subject === 'b') && failures++ < 1) throw new Error('no');
        await audit.take(events, signal);
      },
    },
  ]);
  for (let n = 0; n < 3; n++) {
    await change(db, 'a');
    await change(db, 'b');
  }
  await expect.poll(() => left(db)).toBe(0);
  const taken = await takenBy(db, 'audit');
  expect([taken.get('a'), taken.get('b')]).toEqual([upTo(3), upTo(3)]);
});
