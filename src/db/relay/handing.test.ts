import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { callsOf } from './consumer.ts';
import { bySubject, hand } from './handing.ts';
import type { Numbered, RelayedEvent } from './relay.store.ts';

const event = (number: number, subject: string): Numbered => ({
  number,
  event: {
    id: `evt_${number}`,
    time: '2026-11-20T09:30:00.000Z',
    source: '/things',
    type: 'things.thing.made',
    subject,
    tenant: 'acme',
    app: 'default',
    actor: 'root',
    data: {},
    requestId: null,
  },
});
const { signal } = new AbortController();
const limitMs = 30_000;

test('every subject that does not fail has its events in order, and exactly the others are named', async () => {
  const subjects = fc.array(fc.nat(40), { maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(subjects, fc.uniqueArray(fc.nat(40), { maxLength: 8 }), async (of, bad) => {
      const events = of.map((subject, at) => event(at + 1, `s${subject}`));
      const isBad = ({ subject }: RelayedEvent) => bad.includes(Number(subject.slice(1)));
      const taken: RelayedEvent[] = [];
      const take = async (some: readonly RelayedEvent[]) => {
        if (some.some(isBad)) throw new Error('no');
        taken.push(...some);
      };
      const failed = await hand(callsOf({ name: 'x', take }, limitMs), bySubject(events), signal);
      expect(failed.map(({ events: group }) => group)).toEqual(
        bySubject(events.filter((one) => isBad(one.event))),
      );
      for (const group of bySubject(events.filter((one) => !isBad(one.event))))
        expect(taken.filter(({ subject }) => subject === group[0].event.subject)).toEqual(
          group.map((one) => one.event),
        );
    }),
  );
});

test('subjects of different tenants are different subjects', () => {
  const [one, other] = [event(1, 'x'), event(2, 'x')];
  expect(bySubject([one, { ...other, event: { ...other.event, tenant: 'other' } }])).toHaveLength(2);
});

test('a consumer that takes nothing is not asked again for each of a thousand subjects', async () => {
  let asked = 0;
  const take = () => {
    asked += 1;
    return Promise.reject(new Error('down'));
  };
  const events = Array.from({ length: 1_000 }, (_, at) => event(at + 1, `s${at}`));
  const handed = hand(callsOf({ name: 'x', take }, limitMs), bySubject(events), signal);
  await expect(handed).rejects.toThrow('everything fails');
  expect(asked).toBeLessThan(20);
});

describe('many subjects that fail', () => {
  const bad = Array.from({ length: 60 }, (_, at) => event(at + 1, `bad${at}`));
  const good = Array.from({ length: 20 }, (_, at) => event(at + 61, `good${at}`));
  const ofOther = good.map((one) => ({ ...one, event: { ...one.event, tenant: 'other' } }));

  it.each([
    ['before those of another tenant', [...bad, ...ofOther]],
    ['after them', [...ofOther, ...bad]],
    ['after others of the same tenant', [...good, ...bad]],
    ['among them', good.flatMap((one, at) => [...bad.slice(at * 3, at * 3 + 3), one])],
  ])('%s do not stop the others', async (_, events) => {
    const taken = new Set<string>();
    const take = async (some: readonly RelayedEvent[]) => {
      if (some.some(({ subject }) => subject.startsWith('bad'))) throw new Error('no');
      for (const { subject } of some) taken.add(subject);
    };
    const failed = await hand(callsOf({ name: 'x', take }, limitMs), bySubject(events), signal);
    expect(failed.map(({ events: [one] }) => one)).toEqual(bad);
    expect([...taken].sort()).toEqual(good.map(({ event }) => event.subject).sort());
  });

  it('are not put aside when the consumer fails after it took some', async () => {
    let calls = 0;
    const take = async (some: readonly RelayedEvent[]) => {
      calls += 1;
      if (calls > 10 || some.some(({ subject }) => subject === 'bad0')) throw new Error('down');
    };
    const handed = hand(callsOf({ name: 'x', take }, limitMs), bySubject([...bad, ...good]), signal);
    await expect(handed).rejects.toThrow('everything fails');
    expect(calls).toBeLessThan(40);
  });
});

test('a consumer that throws instead of rejecting is as good as any', async () => {
  const take = () => {
    throw new Error('at once');
  };
  expect(await hand(callsOf({ name: 'x', take }, limitMs), bySubject([event(1, 'a')]), signal)).toHaveLength(
    1,
  );
});

test('no second call begins while one goes on after its time', async () => {
  const ends: (() => void)[] = [];
  const calls = callsOf(
    { name: 'x', take: () => new Promise<void>((resolve) => void ends.push(resolve)) },
    10,
  );
  await expect(calls.take([], signal)).rejects.toThrow('x: no answer in time');
  expect(calls.hangs()).toBe(true);
  await expect(calls.take([], signal)).rejects.toThrow('x: an earlier call has not ended');
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await expect.poll(() => calls.hangs()).toBe(false);
});

test('a call that gives up when its time is over counts as failed, and the next one may begin', async () => {
  const take = (_: unknown, given: AbortSignal) =>
    new Promise<void>((_resolve, reject) => {
      given.addEventListener('abort', () => reject(new Error('gave up')));
    });
  const calls = callsOf({ name: 'x', take }, 10);
  for (let turn = 0; turn < 3; turn++)
    await expect(calls.take([], signal)).rejects.toThrow('no answer in time');
  expect(calls.hangs()).toBe(false);
});
