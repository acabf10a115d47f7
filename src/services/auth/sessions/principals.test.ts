import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { positions } from '../../../db/positions.ts';
import type { LiveSession as SessionRow } from './live-sessions.ts';
import type { WantedSession } from '../directory/principals.store.ts';
import { createPrincipals } from './principals.ts';
import { issueToken } from '../directory/tokens.ts';

const { token, hash } = issueToken('pst', 'aB3xY9');
const row = (change: Partial<SessionRow> = {}): SessionRow => ({
  hash: hash.toString('hex'),
  id: 'sess_1',
  tenant: 'acme',
  app: 'app_1',
  user_id: 'user_1',
  org_id: null,
  impersonated_by: null,
  expires_at: new Date(Date.now() + 60_000).toISOString(),
  authenticated_at: new Date().toISOString(),
  org_scopes: [],
  impersonator: null,
  scopes: ['docs:read', 'docs:write'],
  ...change,
});
const directory = { tenantOf: async () => 'acme' };
/** The database's clock. */
const clock = { now: () => Date.now() };

/** Changes that end the session or a right of it: the recorded change, and the row that the database returns afterwards. */
const losses: [kind: string, id: string, after: SessionRow | undefined][] = [
  ['session', 'sess_1', undefined],
  ['user', 'user_1', undefined],
  ['app', 'app_1', undefined],
  ['scope', 'app_1 docs:write', row({ scopes: ['docs:read'] })],
  ['user', 'user_1', row({ scopes: ['docs:read'] })],
];

/** Steps in any order. A read begins in a later turn of the event loop, so a few turns follow each step. */
const scheduler = () =>
  fc.scheduler({
    async act(step) {
      await step();
      await turn();
    },
  });

describe('a loss of rights that races the filling of the cache', () => {
  it('is never followed by an answer from before it, in 10,000 interleavings', async () => {
    const property = fc.asyncProperty(
      scheduler(),
      fc.constantFrom(...losses),
      fc.integer({ min: 1, max: 4 }),
      async (steps, [kind, id, after], asking) => {
        let stored: SessionRow | undefined = row();
        let lost = false;
        const seen = positions();
        const principals = createPrincipals({
          size: 10,
          changes: { ...seen, clock },
          directory,
          activity: { note() {} },
          // Sending the statement, taking its snapshot and receiving its result are three separate moments.
          async read() {
            await steps.schedule(Promise.resolve(), 'send');
            const snapshot = stored;
            await steps.schedule(Promise.resolve(), 'answer');
            return snapshot ? [snapshot] : [];
          },
        });
        async function ask() {
          await steps.schedule(Promise.resolve(), 'ask');
          const lostBefore = lost;
          const found = await principals.ofSession(token);
          if (lostBefore) expect(found?.scopes).toEqual(after?.scopes);
        }
        async function lose() {
          await steps.schedule(Promise.resolve(), 'commit');
          stored = after;
          await steps.schedule(Promise.resolve(), 'apply');
          seen.mark({ kind, id });
          // Only now does the caller have its response.
          lost = true;
        }
        const asks = Array.from({ length: asking }, async () => {
          await ask();
          await ask();
          await ask();
        });
        await steps.waitFor(Promise.all([...asks, lose()]));
        await steps.waitFor(ask());
      },
    );
    await fc.assert(property, { numRuns: 10_000 });
  }, 120_000);
});

/** Principals over a store whose results the test holds back and releases. */
function setUp({ size = 10, fresh = (): boolean => true } = {}) {
  const seen = positions();
  const reads: { wanted: WantedSession[]; answer(rows: SessionRow[]): Promise<void> }[] = [];
  const used: string[] = [];
  const principals = createPrincipals({
    size,
    changes: {
      clock,
      position: seen.position,
      isCurrent: (position, subjects) => fresh() && seen.isCurrent(position, subjects),
    },
    directory,
    activity: { note: ({ id }) => void used.push(id) },
    read(wanted) {
      const { promise, resolve } = Promise.withResolvers<SessionRow[]>();
      reads.push({
        wanted,
        async answer(rows) {
          resolve(rows);
          await turn();
        },
      });
      return promise;
    },
  });
  return { principals, seen, reads, used };
}

/** Waits long enough for a request to become a read. */
async function turn() {
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
}

async function remembered(options: Parameters<typeof setUp>[0] = {}, stored = row()) {
  const all = setUp(options);
  const asked = all.principals.ofSession(token);
  await turn();
  await all.reads[0]!.answer([stored]);
  await asked;
  return all;
}

describe('a session that is remembered', () => {
  it('answers at once, and is noted as used each time', async () => {
    const { principals, reads, used } = await remembered();
    expect(principals.ofSession(token)).toMatchObject({ id: 'sess_1', scopes: ['docs:read', 'docs:write'] });
    expect([reads.length, used]).toEqual([1, ['sess_1', 'sess_1']]);
  });

  it.each(losses)('is read again after a change of its %s %s, and not of another', async (kind, id) => {
    const { principals, seen } = await remembered();
    seen.mark({ kind, id: `${id}x` });
    expect(principals.ofSession(token)).not.toBeInstanceOf(Promise);
    seen.mark({ kind, id });
    expect(principals.ofSession(token)).toBeInstanceOf(Promise);
  });

  it('is read again while changes may have been missed', async () => {
    let fresh = true;
    const { principals } = await remembered({ fresh: () => fresh });
    fresh = false;
    expect(principals.ofSession(token)).toBeInstanceOf(Promise);
    fresh = true;
    expect(principals.ofSession(token)).not.toBeInstanceOf(Promise);
  });

  it('is refused when its token has expired, without asking', async () => {
    const stored = row({ expires_at: new Date(Date.now() - 1).toISOString() });
    const { principals, used } = await remembered({}, stored);
    expect([principals.ofSession(token), used]).toEqual([undefined, []]);
  });

  it('is not kept by a cache of size 0', async () => {
    const { principals } = await remembered({ size: 0 });
    expect(principals.ofSession(token)).toBeInstanceOf(Promise);
  });
});

describe('sessions that are not remembered', () => {
  it('share the next read while two are in flight', async () => {
    const { principals, reads } = setUp();
    const tokens = Array.from({ length: 12 }, () => issueToken('pst', 'aB3xY9').token);
    const asked: unknown[] = [];
    for (const one of [tokens.slice(0, 2), tokens.slice(2, 4), tokens.slice(4, 8), tokens.slice(8)]) {
      asked.push(...one.map((text) => principals.ofSession(text)));
      await turn();
    }
    expect(reads.map(({ wanted }) => wanted.length)).toEqual([2, 2]);
    await reads[0]!.answer([]);
    await turn();
    expect(reads.map(({ wanted }) => wanted.length)).toEqual([2, 2, 8]);
    await reads[1]!.answer([]);
    await reads[2]!.answer([]);
    expect(await Promise.all(asked)).toEqual(tokens.map(() => undefined));
  });

  it('are not looked for where the text cannot be a token', async () => {
    const { principals, reads } = setUp();
    const typo = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
    for (const text of [
      '',
      'pst_',
      typo,
      token.toUpperCase(),
      `${token}0`,
      'a.b.c',
      token.replace('pst', 'prt'),
    ])
      expect(principals.ofSession(text)).toBeUndefined();
    await turn();
    expect(reads).toEqual([]);
  });
});
