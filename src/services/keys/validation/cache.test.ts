import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { positions } from '../../../db/positions.ts';
import { createKeyCache } from './cache.ts';
import type { KnownKey } from './known-key.ts';
import { holdScopes } from './scopes.ts';

const wanted = { tenant: 'acme', hash: 'a1' };

function knownKey(state: KnownKey['state'], policy: string | null = null): KnownKey {
  const view = { id: 'key_1', name: 'n', state, tenant_id: 'acme', app_id: 'default', environment: 'live' };
  return {
    tenant: 'acme',
    id: 'key_1',
    secretCreatedAt: 0,
    graceEndsAt: null,
    graceEnd: null,
    dead: false,
    state,
    expiresAt: null,
    environment: 'live',
    scopes: holdScopes([]),
    policy:
      policy === null
        ? null
        : {
            id: policy,
            rate: null,
            maxKeyAgeMs: null,
            requireContext: false,
            addresses: null,
            origins: null,
          },
    view: { ...view, owner_id: null, policy_id: policy, expires_at: null, metadata: {} },
  };
}

/** Runs steps in any order. A read begins in a later turn of the event loop, so each step is followed by a few turns. */
const scheduler = () =>
  fc.scheduler({
    async act(step) {
      await step();
      await settled();
    },
  });

describe('a revocation that races the filling of the cache', () => {
  it('is never followed by an answer from before it, in 10,000 interleavings', async () => {
    const property = fc.asyncProperty(scheduler(), fc.integer({ min: 1, max: 4 }), async (steps, asking) => {
      const stored = { state: 'active' as KnownKey['state'] };
      let revoked = false;
      const seen = positions();
      const cache = createKeyCache({
        size: 10,
        changes: seen,
        // Sending the statement, taking its snapshot and receiving its answer are three separate moments.
        async read() {
          await steps.schedule(Promise.resolve(), 'send');
          const snapshot = knownKey(stored.state);
          await steps.schedule(Promise.resolve(), 'answer');
          return new Map([[wanted.hash, snapshot]]);
        },
        clock: () => 0,
      });
      async function ask() {
        await steps.schedule(Promise.resolve(), 'ask');
        const revokedBefore = revoked;
        const known = cache.get(wanted.hash) ?? (await cache.load(wanted));
        if (revokedBefore) expect(known?.state).toBe('revoked');
      }
      async function revoke() {
        await steps.schedule(Promise.resolve(), 'commit');
        stored.state = 'revoked';
        await steps.schedule(Promise.resolve(), 'apply');
        seen.mark({ kind: 'key', id: 'key_1' });
        // Only now has the caller received its answer.
        revoked = true;
      }
      const asks = Array.from({ length: asking }, async () => {
        await ask();
        await ask();
        await ask();
      });
      await steps.waitFor(Promise.all([...asks, revoke()]));
      await steps.waitFor(ask());
    });
    await fc.assert(property, { numRuns: 10_000 });
  }, 120_000);
});

/** A cache over a store whose answers the test holds back and releases. */
function setUp({ size = 10, fresh = (): boolean => true } = {}) {
  const seen = positions();
  let now = 0;
  const reads: { hashes: string[]; answer(known?: KnownKey): Promise<void> }[] = [];
  const cache = createKeyCache({
    size,
    changes: {
      position: seen.position,
      isCurrent: (position, subjects) => fresh() && seen.isCurrent(position, subjects),
    },
    read(asked) {
      const { promise, resolve } = Promise.withResolvers<ReadonlyMap<string, KnownKey>>();
      const hashes = asked.map(({ hash }) => hash);
      reads.push({
        hashes,
        async answer(known) {
          resolve(new Map(known === undefined ? [] : hashes.map((hash) => [hash, known])));
          await settled();
        },
      });
      return promise;
    },
    clock: () => now,
  });
  return { cache, seen, reads, pass: (ms: number) => void (now += ms) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('an entry', () => {
  it.each([
    ['key', 'key_1'],
    ['policy', 'kpol_1'],
    ['tenant', 'acme'],
  ])('is dropped by a change of its %s', async (kind, id) => {
    const { cache, seen, reads } = setUp();
    void cache.load(wanted);
    await settled();
    await reads[0]?.answer(knownKey('active', 'kpol_1'));
    expect(cache.get(wanted.hash)?.state).toBe('active');
    seen.mark({ kind, id: 'another' });
    expect(cache.get(wanted.hash)?.state).toBe('active');
    seen.mark({ kind, id });
    expect(cache.get(wanted.hash)).toBeUndefined();
  });

  it('is read again after a minute', async () => {
    const { cache, reads, pass } = setUp();
    void cache.load(wanted);
    await settled();
    await reads[0]?.answer(knownKey('active'));
    pass(59_999);
    expect(cache.get(wanted.hash)).toBeDefined();
    pass(1);
    expect(cache.get(wanted.hash)).toBeUndefined();
  });

  it('does not count while changes may have been missed, and again when they have not', async () => {
    let fresh = true;
    const { cache, reads } = setUp({ fresh: () => fresh });
    void cache.load(wanted);
    await settled();
    await reads[0]?.answer(knownKey('active'));
    fresh = false;
    expect(cache.get(wanted.hash)).toBeUndefined();
    fresh = true;
    expect(cache.get(wanted.hash)).toBeDefined();
  });

  it('is not kept by a cache of size 0', async () => {
    const { cache, reads } = setUp({ size: 0 });
    const loaded = cache.load(wanted);
    await settled();
    await reads[0]?.answer(knownKey('active'));
    expect((await loaded)?.state).toBe('active');
    expect(cache.get(wanted.hash)).toBeUndefined();
  });
});

describe('misses', () => {
  const hashOf = (index: number) => ({ tenant: 'acme', hash: `h${index}` });

  it('of one turn share a statement, and the same hash a place in it', async () => {
    const { cache, reads } = setUp();
    for (let index = 0; index < 100; index++) void cache.load(hashOf(index % 10));
    await settled();
    expect(reads.map(({ hashes }) => hashes.length)).toEqual([10]);
  });

  it('never join a statement that was sent before them: the next one, when it is answered, takes all that waits', async () => {
    const { cache, reads } = setUp();
    for (const index of [0, 0, 1, 2]) {
      void cache.load(hashOf(index));
      await settled();
    }
    expect(reads.map(({ hashes }) => hashes)).toEqual([['h0']]);
    await reads[0]?.answer();
    expect(reads.map(({ hashes }) => hashes)).toEqual([['h0'], ['h0', 'h1', 'h2']]);
  });

  it('all fail when the store does, and the next one asks again', async () => {
    let calls = 0;
    const cache = createKeyCache({
      size: 10,
      changes: positions(),
      async read() {
        calls += 1;
        if (calls === 1) throw new Error('away');
        return new Map();
      },
    });
    expect(await Promise.allSettled([cache.load(hashOf(1)), cache.load(hashOf(2))])).toMatchObject([
      { status: 'rejected' },
      { status: 'rejected' },
    ]);
    expect(await cache.load(hashOf(1))).toBeUndefined();
  });
});
