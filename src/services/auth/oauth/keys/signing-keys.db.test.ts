import { calculateJwkThumbprint, type JWK } from 'jose';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { SigningKey } from '../../../../../generated/auth/types.ts';
import { createChanges } from '../../../../db/changes.ts';
import { createSealer } from '../../../../lib/seal.ts';
import { testDatabase, type TestDatabase } from '../../../../testing/database.ts';
import { childServer, masterKey, testServer, type TestServer } from '../../../../testing/server.ts';
import { createSigningKeys } from './key-set.ts';
import { turnKeys } from './signing-key-rotation.ts';
import { adminTools } from '../../testing/admin.ts';
import { mint } from '../../testing/tokens.ts';
import { createWriter } from '../../directory/writes.ts';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = adminTools(server);
});
afterAll(() => server.close());

const list = async (): Promise<SigningKey[]> => (await api.send('GET', '/signing-keys')).keys;
const rotate = async (): Promise<SigningKey[]> => (await api.send('POST', '/signing-keys/rotate')).keys;
const keySet = async (): Promise<JWK[]> =>
  (await api.send('GET', '/.well-known/jwks.json', { token: null })).keys;
/** One key of each algorithm, in this state, as `ES256 RS256`. */
const kidsOf = (keys: readonly SigningKey[], state: SigningKey['state']) =>
  keys
    .filter((key) => key.state === state)
    .toSorted((a, b) => a.alg.localeCompare(b.alg))
    .map(({ kid }) => kid);

describe('the key set', () => {
  it('shows public parts only, each under its thumbprint, and may be kept for five minutes', async () => {
    const answer = await server.request('GET', '/auth/v1/auth/.well-known/jwks.json', { token: null });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    const keys = (answer.body as { keys: JWK[] }).keys;
    expect(keys.map(({ alg }) => alg).toSorted()).toEqual(['ES256', 'ES256', 'RS256', 'RS256']);
    for (const key of keys) {
      const members = key.kty === 'EC' ? ['crv', 'x', 'y'] : ['e', 'n'];
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'kid', 'kty', 'use', ...members].toSorted());
      expect([key.kid, key.use]).toEqual([await calculateJwkThumbprint(key), 'sig']);
    }
  });

  it('has a key before it signs, and while it is retired', async () => {
    await keySet();
    const before = await list();
    const after = await rotate();
    expect(kidsOf(after, 'active')).toEqual(kidsOf(before, 'next'));
    expect(kidsOf(after, 'retired')).toEqual(expect.arrayContaining(kidsOf(before, 'active')));
    expect(kidsOf(after, 'next')).toHaveLength(2);
    const shown = (await keySet()).map(({ kid }) => kid).toSorted();
    expect(shown).toEqual(after.map(({ kid }) => kid).toSorted());
  });
});

describe('the list', () => {
  it('says when what is retired goes, and nothing of private parts', async () => {
    const keys = await rotate();
    for (const key of keys) {
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'created_at', 'kid', 'not_after', 'state']);
      const left = key.not_after === null ? null : Date.parse(key.not_after) - Date.now();
      if (key.state !== 'retired') expect(left).toBeNull();
      else expect(left).toBeGreaterThan(6 * 86_400_000);
    }
    expect(await list()).toEqual(keys);
  });

  it('is for the operator, and so is the rotation', async () => {
    const admin = await api.holding('auth:read', 'auth:write');
    const requests = [
      ['GET', '/signing-keys'],
      ['POST', '/signing-keys/rotate'],
    ] as const;
    for (const [method, path] of requests) {
      expect((await api.refusal(method, path, { token: null }))[0]).toBe(401);
      expect((await api.refusal(method, path, { token: admin }))[0]).toBe(403);
      expect((await api.refusal(method, path, { tenant: 'acme' }))[0]).toBe(403);
    }
  });

  it('keeps every key that was used lately, and refuses the rotation that would push one out', async () => {
    const token = await mint(server.db, {});
    const before = (await keySet()).map(({ kid }) => kid);
    const retired = kidsOf(await list(), 'retired').length / 2;
    const rotations = await Promise.all(
      Array.from({ length: 12 }, () => server.request('POST', '/auth/v1/auth/signing-keys/rotate')),
    );
    expect(rotations.map(({ status }) => status).toSorted()).toEqual([
      ...Array<number>(8 - retired).fill(200),
      ...Array<number>(4 + retired).fill(429),
    ]);
    const refused = rotations.find(({ status }) => status === 429)!;
    expect(refused.body).toEqual({
      error: 'the key set is full of keys whose tokens are still valid: see not_after',
      code: 'RATE_LIMITED',
    });
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(6.9 * 86_400);
    expect(wait).toBeLessThanOrEqual(7 * 86_400);
    expect((await keySet()).map(({ kid }) => kid)).toEqual(expect.arrayContaining(before));
    expect(await api.send('POST', '/tokens/resolve', { body: { token } })).toMatchObject({ active: true });
    const keys = await list();
    expect(keys).toHaveLength(20);
    expect(kidsOf(keys, 'active')).toHaveLength(2);
    expect(kidsOf(keys, 'next')).toHaveLength(2);
  });
});

it('tells of a rotation, without anything of the keys', async () => {
  const [active] = kidsOf(await list(), 'active');
  // There is room again once keys have been retired for a week.
  await server.db
    .sql`update auth.signing_keys set retired_at = now() - interval '8 days' where state = 'retired'`;
  await rotate();
  const [event] = await server.db.sql<{ data: object }[]>`
    select data from auth.outbox where type = 'auth.signing_key.rotated' and subject = ${active!}`;
  expect(event!.data).toEqual({ app_id: 'default', alg: 'ES256' });
});

it('keeps its keys over a restart', async () => {
  const before = await list();
  await server.restart();
  expect(await list()).toEqual(before);
  expect((await keySet()).map(({ kid }) => kid).toSorted()).toEqual(before.map(({ kid }) => kid).toSorted());
});

describe('keys of a database of its own', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase({ services: ['auth'] });
  });
  afterAll(() => db.close());

  const log = pino({ level: 'silent' });
  function process(master = masterKey) {
    const changes = createChanges({ db, schema: 'auth', detailed: true, log });
    const write = createWriter({ db, changes, deliver: async () => {}, secure: async () => {} });
    const deps = { db, changes, write, sealer: createSealer(master) };
    return { deps, keys: createSigningKeys(deps), changes };
  }
  const age = (state: string, column: 'created_at' | 'activated_at' | 'retired_at', days: number) => db.sql`
    update auth.signing_keys set ${db.sql(column)} = now() - ${days} * interval '1 day' where state = ${state}`;

  it('are made once where several processes begin at once', async () => {
    const sets = await Promise.all([process(), process(), process()].map(async ({ keys }) => keys.current()));
    const names = sets.map(({ published }) => published.map(({ kid }) => kid));
    expect(names[0]).toHaveLength(4);
    expect(new Set(names.map(String)).size).toBe(1);
    const [{ count }] = await db.sql<
      [{ count: number }]
    >`select count(*)::int as count from auth.signing_keys`;
    expect(count).toBe(4);
  });

  it('are sealed where they lie, and lead with those that sign', async () => {
    const { published, signing } = await process().keys.current();
    expect(signing.map(({ kid }) => kid)).toEqual(published.map(({ kid }) => kid));
    expect(
      signing
        .slice(0, 2)
        .map(({ alg }) => alg)
        .toSorted(),
    ).toEqual(['ES256', 'RS256']);
    const rows = await db.sql<{ private_box: Buffer }[]>`select * from auth.signing_keys`;
    const stored = rows.map((row) => JSON.stringify(row) + row.private_box.toString('latin1')).join();
    for (const { d } of signing) {
      expect(d).toMatch(/^[\w-]{43,}$/);
      expect(stored).not.toContain(d);
    }
  });

  it('turn with time, and are the same set until then', async () => {
    const { deps, keys } = process();
    const before = await keys.current();
    await turnKeys(deps);
    expect(await keys.current()).toBe(before);
    await age('next', 'created_at', 1);
    await age('active', 'activated_at', 90);
    await turnKeys(deps);
    const after = await keys.current();
    expect(after.version).toBeGreaterThan(before.version);
    expect(after.signing[0]!.kid).toBe(
      before.signing.find(({ alg }, at) => at > 1 && alg === after.signing[0]!.alg)!.kid,
    );
    expect(after.published).toHaveLength(6);
    await age('retired', 'retired_at', 7);
    await turnKeys(deps);
    expect((await keys.current()).published).toHaveLength(4);
  });

  it('cannot be read under another master key, and that is said', async () => {
    const other = process(Buffer.alloc(32, 8));
    await expect(other.keys.check()).rejects.toThrow(/^PLINTH_MASTER_KEY: the signing keys/);
    await expect(process().keys.check()).resolves.toBeUndefined();
  });

  it.runIf(inject('engine') === 'postgres')('are followed by other processes', async () => {
    const [one, other] = [process(), process()];
    await other.changes.start();
    const before = await other.keys.current();
    expect(await other.keys.current()).toBe(before);
    await turnKeys(one.deps, { tenant: 'default', app: 'default', actor: 'root' }, true);
    await expect.poll(async () => (await other.keys.current()).version).toBeGreaterThan(before.version);
    await other.changes.stop();
  });
});

it.runIf(inject('engine') === 'postgres')('a server with another master key says so and ends', async () => {
  await keySet();
  const env = {
    DATABASE_URL: server.db.options.url!,
    PLINTH_MASTER_KEY: Buffer.alloc(32, 8).toString('base64'),
    PLINTH_DATA_DIR: server.db.options.dataDir,
  };
  await expect(childServer({ services: ['auth'], env })).rejects.toThrow(
    /PLINTH_MASTER_KEY: the signing keys/,
  );
});
