import { pino } from 'pino';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import type { Log } from '../index.ts';
import { emit } from '../outbox.ts';
import { pruneOnce } from '../outbox-pruning.ts';
import { callsOf } from './consumer.ts';
import { passage } from './passage.ts';
import type { Consumer } from './relay.ts';
import { relayBacklog } from './backlog.ts';
import { passageStore } from './relay.store.ts';
import { createRelay, type Relay } from './testing/relaying.ts';
import { change, createTaken, eventOf, left, storing, takenBy, upTo, written } from './testing/taken.ts';

const log = pino({ level: 'silent' });
let db: TestDatabase;
let relays: Relay[] = [];
beforeEach(async () => {
  db = await testDatabase({ services: ['authz', 'keys'] });
  await createTaken(db);
});
afterEach(async () => {
  await Promise.all(relays.map((relay) => relay.stop()));
  relays = [];
  await db.close();
});

function start(consumers: readonly Consumer[], options: { limitMs?: number; log?: Log } = {}): Relay {
  const outboxes = [{ service: 'authz' }, { service: 'keys' }];
  const relay = createRelay({ db, log, outboxes, consumers, everyMs: 20, ...options });
  relays.push(relay);
  relay.start();
  return relay;
}

/** Writes an event of a subject without a lock of that subject. */
const write = (subject: string, count: number) => emit(db.sql, eventOf(subject, count));

const backlog = async (consumer: string) =>
  (await relayBacklog(db.sql)).find((one) => one.consumer === consumer && one.service === 'authz');

test('every consumer gets every event in the order of its subject, while several writers write, and then it is deleted', async () => {
  start([storing(db, 'audit'), storing(db, 'webhooks')]);
  // Only PostgreSQL runs transactions at once, so only there the time until the commit can vary.
  const pause =
    inject('engine') === 'postgres'
      ? () => db.sql`select pg_sleep(random() * 0.01)`
      : () => Promise.resolve();
  const writer = async (first: number) => {
    for (let n = 0; n < 30; n++) await change(db, `s${(first + n) % 5}`, pause);
  };
  await Promise.all([0, 1, 2, 3, 4, 0].map(writer));
  await expect.poll(() => left(db)).toBe(0);
  const all = await written(db);
  expect([...all.values()].flat()).toHaveLength(180);
  expect(await takenBy(db, 'audit')).toEqual(all);
  expect(await takenBy(db, 'webhooks')).toEqual(all);
});

test('events have all their members, of every service', async () => {
  const taken: unknown[] = [];
  start([{ name: 'audit', take: async (events) => void taken.push(...events) }]);
  const event = {
    ...eventOf('key_1', 1),
    source: '/keys' as const,
    data: { name: 'Ä "quoted"', nothing: null },
  };
  const [stored] = await emit(db.sql, event);
  await expect.poll(() => taken).toEqual([{ ...event, ...stored, requestId: null }]);
});

test.runIf(inject('engine') === 'postgres')(
  'an event that commits after later ones is not missed, and delays none of them',
  async () => {
    start([storing(db, 'audit')]);
    let commit = () => {};
    const held = new Promise<void>((resolve) => (commit = resolve));
    let emitted = () => {};
    const isEmitted = new Promise<void>((resolve) => (emitted = resolve));
    const late = change(db, 'late', () => {
      emitted();
      return held;
    });
    await isEmitted;
    for (let n = 0; n < 3; n++) await change(db, 'early');
    await expect.poll(async () => (await takenBy(db, 'audit')).get('early')).toEqual([1, 2, 3]);
    expect((await takenBy(db, 'audit')).has('late')).toBe(false);
    commit();
    await late;
    await expect.poll(async () => (await takenBy(db, 'audit')).get('late')).toEqual([1]);
  },
);

test('a subject that fails holds back its own later events only, for the consumer that fails only', async () => {
  const audit = storing(db, 'audit');
  let broken = true;
  const failing: Consumer = {
    name: 'audit',
    async take(events, signal) {
      if (
        broken &&
        events.some(({ subject, data }) => subject === 'bad' && 'count' in data && data.count === 2)
      )
        throw new Error('no');
      await audit.take(events, signal);
    },
  };
  start([failing, storing(db, 'webhooks')]);
  for (let count = 1; count <= 4; count++)
    for (const subject of ['good', 'bad', 'other']) await write(subject, count);
  await expect.poll(async () => (await takenBy(db, 'webhooks')).get('bad')).toEqual(upTo(4));
  for (const subject of ['good', 'other'])
    await expect.poll(async () => (await takenBy(db, 'audit')).get(subject)).toEqual(upTo(4));
  await write('bad', 5);
  await write('good', 5);
  await expect.poll(async () => (await takenBy(db, 'audit')).get('good')).toEqual(upTo(5));
  const before = (await takenBy(db, 'audit')).get('bad') ?? [];
  expect([[], [1]]).toContainEqual(before);
  await expect
    .poll(() => backlog('audit'))
    .toMatchObject({
      waiting: 0,
      held: 1,
      oldestSeconds: expect.toSatisfy((n) => n > 0),
    });
  await expect.poll(() => backlog('webhooks')).toMatchObject({ waiting: 0, held: 0, oldestSeconds: 0 });
  // Only what the failed subject waits for is left.
  await expect.poll(() => left(db)).toBe(5 - before.length);
  broken = false;
  await expect.poll(async () => (await takenBy(db, 'audit')).get('bad')).toEqual(upTo(5));
  await expect.poll(() => left(db)).toBe(0);
  await expect.poll(() => backlog('audit')).toMatchObject({ waiting: 0, held: 0, oldestSeconds: 0 });
});

test('a consumer that hangs stops no other, shows in the figures, and keeps its events', async () => {
  let end = () => {};
  const hanging = new Promise<void>((resolve) => (end = resolve));
  const audit = storing(db, 'audit');
  const slow: Consumer = {
    name: 'audit',
    async take(events, signal) {
      await hanging;
      await audit.take(events, signal);
    },
  };
  start([slow, storing(db, 'webhooks')], { limitMs: 50 });
  for (let n = 0; n < 5; n++) await change(db, 'a');
  await expect.poll(async () => (await takenBy(db, 'webhooks')).get('a')).toEqual(upTo(5));
  await expect
    .poll(() => backlog('audit'))
    .toMatchObject({ waiting: 5, oldestSeconds: expect.toSatisfy((seconds) => seconds > 0) });
  // However old the events are.
  await db.sql`update authz.outbox set time = now() - interval '30 days'`;
  await pruneOnce({ db, service: 'authz' });
  expect(await left(db)).toBe(5);
  expect(await backlog('audit')).toMatchObject({
    oldestSeconds: expect.toSatisfy((age) => age > 29 * 86_400),
  });
  end();
  await expect.poll(async () => (await takenBy(db, 'audit')).get('a')).toEqual(upTo(5));
  await expect.poll(() => left(db)).toBe(0);
});

test('a consumer that takes nothing gets everything later, and no subject is put aside meanwhile', async () => {
  const audit = storing(db, 'audit');
  let down = true;
  let asked = 0;
  start([
    {
      name: 'audit',
      async take(events, signal) {
        asked += 1;
        if (down) throw new Error('down');
        await audit.take(events, signal);
      },
    },
  ]);
  await db.transaction((sql) => {
    const [first, ...others] = upTo(100).map((at) => eventOf(`s${at}`, 1));
    return emit(sql, first!, ...others);
  });
  await expect.poll(() => asked).toBeGreaterThan(0);
  down = false;
  await expect.poll(async () => (await takenBy(db, 'audit')).size).toBe(100);
  await expect.poll(() => left(db)).toBe(0);
});

test('old events that no consumer waits for are deleted: without consumers, and of one that nobody runs any more', async () => {
  const old = () => db.sql`update authz.outbox set time = now() - interval '8 days'`;
  await write('a', 1);
  await old();
  await pruneOnce({ db, service: 'authz' });
  expect(await left(db)).toBe(0);

  const relay = start([storing(db, 'audit')]);
  await expect.poll(() => backlog('audit')).toBeDefined();
  await relay.stop();
  await write('a', 2);
  await old();
  await pruneOnce({ db, service: 'authz' });
  expect(await left(db)).toBe(1);
  await db.sql`update plinth.relay_positions set seen_at = now() - interval '8 days'`;
  await pruneOnce({ db, service: 'authz' });
  expect(await left(db)).toBe(0);

  const lines: string[] = [];
  start([storing(db, 'audit')], { log: pino({}, { write: (line: string) => void lines.push(line) }) });
  await expect.poll(() => lines.join()).toContain('it has missed the events that were deleted meanwhile');
  await write('a', 3);
  await expect.poll(async () => (await takenBy(db, 'audit')).get('a')).toEqual([3]);
  expect(lines).toHaveLength(1);
});

test('after a restart it goes on where it was, and a new consumer begins with what is stored', async () => {
  const relay = start([storing(db, 'audit')]);
  await change(db, 'a');
  await expect.poll(async () => (await takenBy(db, 'audit')).get('a')).toEqual([1]);
  await relay.stop();
  relays = [];
  await change(db, 'a');
  db = await db.reopen();
  start([storing(db, 'audit'), storing(db, 'webhooks')]);
  await expect.poll(async () => (await takenBy(db, 'audit')).get('a')).toEqual([1, 2]);
  await expect.poll(async () => (await takenBy(db, 'webhooks')).get('a')).toEqual([2]);
  await expect.poll(() => left(db)).toBe(0);
});

test('what a service still needs stays until the age at which it is pruned', async () => {
  const outboxes = [{ service: 'authz', needed: () => db.sql`outbox.subject = 'needed'` }];
  const relay = createRelay({ db, log, outboxes, consumers: [storing(db, 'audit')], everyMs: 20 });
  relays.push(relay);
  relay.start();
  await write('needed', 1);
  await write('other', 1);
  await expect.poll(async () => [...(await takenBy(db, 'audit')).keys()]).toEqual(['needed', 'other']);
  await expect.poll(() => left(db)).toBe(1);
});

/** A consumer that fails for some subjects. */
function picky(consumer: Consumer, fails: (subject: string) => boolean): Consumer {
  return {
    name: consumer.name,
    async take(events, signal) {
      if (events.some(({ subject }) => fails(subject))) throw new Error('no');
      await consumer.take(events, signal);
    },
  };
}

const ofOther = (subject: string, count: number) =>
  emit(db.sql, { ...eventOf(subject, count), tenant: 'other' });

test('a tenant with a hundred failed subjects waits as a whole until one of them succeeds, and others do not', async () => {
  let failing = true;
  start([picky(storing(db, 'audit'), (subject) => failing && subject.startsWith('bad'))]);
  await write('bad', 1);
  await expect.poll(() => backlog('audit')).toMatchObject({ held: 1, heldTenants: 0 });
  await db.sql`
    insert into plinth.relay_held (service, consumer, tenant_id, subject, number, retry_at)
    select 'authz', 'audit', 'acme', 'gone ' || nth, 1, now() + interval '1 hour' from generate_series(1, 98) as nth`;
  await write('bad too', 1);
  await expect.poll(() => backlog('audit')).toMatchObject({ held: 100, heldTenants: 1 });
  for (const count of [1, 2]) {
    await write('good', count);
    await ofOther('others', count);
    await ofOther('bad of the other', count);
  }
  await expect.poll(async () => [...(await takenBy(db, 'audit'))]).toEqual([['others', [1, 2]]]);
  await expect
    .poll(() => backlog('audit'))
    .toMatchObject({
      ...{ waiting: 0, held: 101, heldTenants: 1 },
      oldestSeconds: expect.toSatisfy((seconds) => seconds > 0),
    });
  failing = false;
  await expect
    .poll(async () => Object.fromEntries(await takenBy(db, 'audit')), { timeout: 20_000 })
    .toEqual({ bad: [1], 'bad too': [1], good: [1, 2], others: [1, 2], 'bad of the other': [1, 2] });
  await expect.poll(() => backlog('audit')).toMatchObject({ held: 98, heldTenants: 0 });
  await expect.poll(() => left(db)).toBe(0);
});

test('a tenant of which everything fails stops no other one, and has its events in order in the end', async () => {
  let failing = ['early', 'late'];
  start([picky(storing(db, 'audit'), (subject) => failing.some((start) => subject.startsWith(start)))]);
  const subjects = (start: string, many: number) => upTo(many).map((nth) => `${start} ${nth}`);
  const writeAll = (names: readonly string[], count: number) =>
    db.transaction(async (sql) => {
      const [first, ...others] = names.map((subject) => eventOf(subject, count));
      await emit(sql, first!, ...others, { ...eventOf('others', count), tenant: 'other' });
    });
  const others = async () => (await takenBy(db, 'audit')).get('others');
  const [early, late] = [subjects('early', 120), subjects('late', 40)];
  await writeAll(early, 1);
  await expect.poll(() => backlog('audit')).toMatchObject({ held: 120, heldTenants: 1 });
  await writeAll(late, 2);
  await writeAll(late, 3);
  await expect.poll(others).toEqual(upTo(3));
  // When the first ones are taken, the tenant is tried again, and all that follow fail.
  failing = ['late'];
  await expect
    .poll(async () => (await db.sql`select from plinth.relay_held_tenants where failures > 0`).length, {
      timeout: 20_000,
    })
    .toBe(1);
  await writeAll(late, 4);
  await expect.poll(others).toEqual(upTo(4));
  failing = [];
  await expect.poll(() => left(db), { timeout: 20_000 }).toBe(0);
  const taken = await takenBy(db, 'audit');
  expect(early.map((subject) => taken.get(subject))).toEqual(early.map(() => [1]));
  expect(late.map((subject) => taken.get(subject))).toEqual(late.map(() => [2, 3, 4]));
});

test('a process that was overtaken while it tried a held tenant again lets none of its events be lost', async () => {
  const relay = start([storing(db, 'audit')]);
  await expect.poll(() => backlog('audit')).toBeDefined();
  await relay.stop();
  const store = passageStore(db, { service: 'authz' }, 'audit');
  const pass = async (from: number, to: number) => {
    await write('a', to);
    await store.number();
    return await store.advance(from, to, [], 0);
  };
  await db.sql`
    insert into plinth.relay_held_tenants (service, consumer, tenant_id, number) values ('authz', 'audit', 'acme', 1)`;
  expect(await pass(0, 1)).toBe(true);
  const [tenant] = await store.dueTenants();
  expect(await store.waitingOf(tenant!, 1)).toMatchObject({ last: 1, all: true, events: [{ number: 1 }] });
  expect(await pass(1, 2)).toBe(true);
  expect(await store.goOn(tenant!, 1, [], 0, 1)).toBe(false);
  expect(await left(db)).toBe(2);
  start([storing(db, 'audit')]);
  await expect.poll(async () => (await takenBy(db, 'audit')).get('a')).toEqual([1, 2]);
  await expect.poll(() => left(db)).toBe(0);
});

test('what is written while events are handed on waits for the next look, unless there were more than a turn takes', async () => {
  const relay = start([storing(db, 'audit')]);
  await expect.poll(() => backlog('audit')).toBeDefined();
  await relay.stop();
  let [taken, writes] = [0, 1];
  const take = async (events: readonly unknown[]) => {
    taken += events.length;
    for (; writes > 0; writes--) await write('b', 1);
  };
  const calls = callsOf({ name: 'audit', take }, 10_000);
  const store = passageStore(db, { service: 'authz' }, 'audit');
  const way = passage({ service: 'authz', store, calls, log });
  const turn = async () => {
    await way.number();
    const more = await way.forward(new AbortController().signal);
    return { taken, more };
  };
  await write('a', 1);
  expect(await turn()).toEqual({ taken: 1, more: false });
  expect(await turn()).toEqual({ taken: 2, more: false });
  await db.sql`
    insert into authz.outbox (tenant_id, id, type, subject, app_id, actor, data)
    select 'acme', 'evt_' || nth, 'authz.thing.changed', 'c', 'default', 'root', '{}' from generate_series(1, 501) as nth`;
  expect(await turn()).toEqual({ taken: 502, more: true });
  expect(await turn()).toEqual({ taken: 503, more: false });
});
