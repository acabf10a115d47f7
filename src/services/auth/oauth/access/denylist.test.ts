import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { LoggedChange } from '../../../../db/changes.ts';
import { readClaims } from './access-claims.ts';
import { createDenylist } from './denylist.ts';
import type { Denial } from './denylist.store.ts';
import { newClaims } from '../../testing/tokens.ts';

const issued = Date.parse('2026-11-20T09:30:00.000Z');
const token = readClaims(
  newClaims({
    jti: 'tok_1',
    gid: 'grant_1',
    sub: 'user_1',
    sid: 'sess_1',
    scope: 'docs:read',
    iat_ms: issued,
  }),
)!;
const denial = (kind: string, id: string, before = issued + 1): Denial => ({ kind, id, before });

/** A process, the log that it reads, and the changes that it hears of. */
function world({ log = [] as Denial[], most = 100 } = {}) {
  const state = { log, fresh: true, asked: 0, read: async () => state.log, fails: 0 };
  let tell: (change: LoggedChange | 'all') => void = () => {};
  const denylist = createDenylist({
    store: {
      async latest(_, limit) {
        if (state.fails-- > 0) throw new Error('away');
        return (await state.read()).slice(0, limit);
      },
      async refused(tokens) {
        state.asked++;
        return tokens.filter(({ id }) => state.log.some((one) => one.id === id)).map(({ id }) => id);
      },
    },
    changes: {
      fresh: () => state.fresh,
      subscribe(listener) {
        tell = listener;
        return () => {};
      },
    },
    log: pino({ level: 'silent' }),
    most,
  });
  const refuses = async () => (await denylist.refused([token])).has('tok_1');
  const hear = (kind: string, id: string, before = issued + 1) =>
    tell({ seq: 1, kind, id, before: new Date(before).toISOString() });
  const inMemory = () => !(denylist.refused([token]) instanceof Promise);
  return { state, denylist, refuses, inMemory, hear, miss: () => tell('all') };
}

const subjects = [
  ['token', 'tok_1'],
  ['grant', 'grant_1'],
  ['session', 'sess_1'],
  ['user', 'user_1'],
  ['client', token.client],
  ['app', 'default'],
  ['scope', 'default docs:read'],
] as const;

describe('a token is refused', () => {
  it.each(subjects)('for its %s, if it was issued before that changed', async (kind, id) => {
    const { denylist, refuses, hear, state } = world();
    await denylist.start();
    hear(kind, 'another');
    hear(kind, id, issued);
    expect(await refuses()).toBe(false);
    hear(kind, id);
    // A change of effect `forget` is dated to the epoch, and removes no denial.
    hear(kind, id, 0);
    expect(await refuses()).toBe(true);
    expect(state.asked).toBe(0);
    denylist.stop();
  });

  it.each(subjects)('by a process that began after the change of its %s', async (kind, id) => {
    const { denylist, refuses } = world({ log: [denial(kind, id)] });
    await denylist.start();
    expect(await refuses()).toBe(true);
    denylist.stop();
  });
});

describe('the database decides', () => {
  const log = [denial('token', 'tok_1')];

  it('until the log has been read, and while it cannot be heard', async () => {
    const { denylist, refuses, state } = world({ log });
    expect([await refuses(), state.asked]).toEqual([true, 1]);
    await denylist.start();
    expect([await refuses(), state.asked]).toEqual([true, 1]);
    state.fresh = false;
    expect([await refuses(), state.asked]).toEqual([true, 2]);
    denylist.stop();
  });

  it('after changes were missed, until they have been read', async () => {
    const { denylist, refuses, inMemory, state, miss } = world();
    await denylist.start();
    expect([await refuses(), state.asked]).toEqual([false, 0]);
    state.log = log;
    const answers = Promise.withResolvers<Denial[]>();
    state.read = () => answers.promise;
    miss();
    expect([await refuses(), state.asked]).toEqual([true, 1]);
    answers.resolve(log);
    await expect.poll(inMemory).toBe(true);
    expect(await refuses()).toBe(true);
    denylist.stop();
  });

  it('while there are more denials than are kept', async () => {
    const many = [denial('user', 'a'), denial('user', 'b'), denial('user', 'c')];
    const one = world({ log: many, most: 2 });
    await one.denylist.start();
    await one.refuses();
    expect(one.state.asked).toBe(1);
    const other = world({ log: many.slice(0, 2), most: 2 });
    await other.denylist.start();
    await other.refuses();
    expect(other.state.asked).toBe(0);
    other.hear('user', 'c');
    await other.refuses();
    expect(other.state.asked).toBe(1);
    one.denylist.stop();
    other.denylist.stop();
  });

  it('after a reading that failed, which is tried again', async () => {
    const { denylist, refuses, inMemory, state, miss } = world({ log });
    await denylist.start();
    state.fails = 1;
    miss();
    expect([await refuses(), state.asked]).toEqual([true, 1]);
    await expect.poll(inMemory).toBe(true);
    expect(await refuses()).toBe(true);
    denylist.stop();
  });
});

it('keeps what it hears while it reads', async () => {
  const { denylist, refuses, state, hear } = world();
  const answers = Promise.withResolvers<Denial[]>();
  state.read = () => answers.promise;
  const started = denylist.start();
  hear('token', 'tok_1');
  answers.resolve([]);
  await started;
  expect([await refuses(), state.asked]).toEqual([true, 0]);
  denylist.stop();
});
