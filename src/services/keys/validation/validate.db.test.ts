import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../testing/database.ts';
import { until } from '../../../testing/until.ts';
import { hashRawKey, makeRawKey } from './raw-key.ts';
import { contextOf, openKeys, question, type OpenKeys } from './testing/open-keys.ts';

let db: TestDatabase;
let service: OpenKeys;
let statements = 0;
beforeAll(async () => {
  db = await testDatabase({ services: ['keys'] });
  service = await openKeys(counted(db));
});
afterAll(async () => {
  await service.close();
  await db.close();
});

const acme = contextOf('acme');

describe('an answer', () => {
  it('says all that is known of a good key', async () => {
    const policy = await service.policy({ rate_limit: 1000 });
    const { raw_key, key } = await service.issue({
      scopes: ['read:users', 'app:read'],
      policy_id: policy.id,
      owner_id: 'customer-42',
      metadata: { plan: 'pro' },
    });
    const result = await service.validate(raw_key);
    expect(result).toEqual({
      valid: true,
      key: {
        id: key.id,
        name: 'Reporting job',
        state: 'active',
        tenant_id: 'acme',
        app_id: 'default',
        environment: 'live',
        owner_id: 'customer-42',
        policy_id: policy.id,
        expires_at: null,
        metadata: { plan: 'pro' },
      },
      scopes: ['app:read', 'read:users'],
      code: 'VALID',
      message: 'valid',
      rate_limit: { limit: 1000, window: '1m', remaining: 999, reset_at: expect.any(String) },
      retry_after: null,
      unchecked: [],
      grace_ends_at: null,
      usage_id: null,
    });
    // The sub-bucket of a one-minute window is six seconds. The units leave with its start plus eleven sub-buckets.
    const reset = Date.parse(result.rate_limit?.reset_at ?? '') - Date.now();
    expect(reset).toBeGreaterThan(59_000);
    expect(reset).toBeLessThanOrEqual(66_000);
  });

  it('costs no statement once the key is known', async () => {
    const { raw_key } = await service.issue();
    await service.validate(raw_key);
    const before = statements;
    await service.validate((await service.issue()).raw_key);
    expect(statements).toBeGreaterThan(before);
    const known = statements;
    for (let call = 0; call < 50; call++) expect((await service.validate(raw_key)).valid).toBe(true);
    expect(statements - known).toBe(0);
  });

  it('is NOT_FOUND for garbage, an unknown key and another tenant’s key, without a difference', async () => {
    const { raw_key } = await service.issue({}, contextOf('other'));
    const unknown = makeRawKey({ prefix: 'sk', environment: 'live', tag: 'zzzzzz' }).rawKey;
    const answers = await Promise.all(['garbage', unknown, raw_key].map((key) => service.validate(key)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({
      valid: false,
      code: 'NOT_FOUND',
      key: null,
      scopes: [],
      usage_id: null,
    });
  });

  it('is given to the operator for the keys of every tenant, cached or not', async () => {
    const { raw_key, key } = await service.issue({}, contextOf('other'));
    const ask = (asked: string) =>
      service.validator.validate({ ...question, raw_key: asked }, { tenant: 'default', operator: true });
    expect(await ask(raw_key)).toMatchObject({ valid: true, key: { id: key.id, tenant_id: 'other' } });
    expect(await ask(raw_key)).toMatchObject({ valid: true, key: { id: key.id, tenant_id: 'other' } });
    expect(await service.validate(raw_key)).toMatchObject({ code: 'NOT_FOUND' });
    const unknown = makeRawKey({ prefix: 'sk', environment: 'live', tag: 'yyyyyy' }).rawKey;
    expect(await ask(unknown)).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('never goes to the database for a mutated raw key', async () => {
    const { raw_key } = await service.issue();
    const before = statements;
    for (let at = 0; at < raw_key.length; at++) {
      const other = raw_key[at] === 'a' ? 'b' : 'a';
      const mutated = raw_key.slice(0, at) + other + raw_key.slice(at + 1);
      expect((await service.validate(mutated)).code).toBe('NOT_FOUND');
    }
    expect(statements - before).toBe(0);
  });
});

describe('a raw key', () => {
  it('is in no column of any table after it was made, used, refused and rotated: only its hash is', async () => {
    const { raw_key, key } = await service.issue();
    const { raw_key: young } = await service.keys.rotate({ keyId: key.id, body: { reason: 'manual' } }, acme);
    for (const each of [raw_key, young]) await service.validate(each, { record: 'durable' });
    await service.keys.revoke({ keyId: key.id, body: { reason: 'leaked' } }, acme);
    await service.validate(young, { record: 'durable' });
    await service.validator.fold.now();
    const tables = await db.sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('keys', 'plinth')
    `;
    expect(tables.length).toBeGreaterThan(10);
    const rows = await Promise.all(
      tables.map(({ name }) => db.sql`select t::text as row from ${db.sql(name)} t`),
    );
    const everything = rows
      .flat()
      .map(({ row }) => String(row))
      .join('\n');
    for (const each of [raw_key, young]) {
      expect(everything).not.toContain(each.slice(-55));
      expect(everything).toContain(hashRawKey(each));
    }
  });
});

describe('a change in this process is seen by the next answer', () => {
  it.each<[string, (id: string) => Promise<unknown>, string]>([
    ['revoke', (keyId) => service.keys.revoke({ keyId, body: { reason: 'leaked' } }, acme), 'REVOKED'],
    ['suspend', (keyId) => service.keys.suspend({ keyId }, acme), 'SUSPENDED'],
    ['delete', (keyId) => service.keys.delete({ keyId }, acme), 'NOT_FOUND'],
    [
      'removed scope',
      (keyId) => service.keys.removeScopes({ keyId, body: { scopes: ['a:b'] } }, acme),
      'INSUFFICIENT_SCOPES',
    ],
    [
      'rotate without grace',
      (keyId) => service.keys.rotate({ keyId, body: { reason: 'manual', grace_period: '0s' } }, acme),
      'ROTATED',
    ],
    [
      'rotate for a compromise',
      (keyId) => service.keys.rotate({ keyId, body: { reason: 'compromise' } }, acme),
      'ROTATED',
    ],
  ])('%s', async (_, change, code) => {
    const { raw_key, key } = await service.issue({ scopes: ['a:b'] });
    const ask = async () => (await service.validate(raw_key, { required_scopes: ['a:b'] })).code;
    expect(await ask()).toBe('VALID');
    await change(key.id);
    expect(await ask()).toBe(code);
  });

  it('an expiry that passes needs no message', async () => {
    const { raw_key, key } = await service.issue({ expires_at: new Date(Date.now() + 400).toISOString() });
    const first = await service.validate(raw_key);
    if (Date.now() < Date.parse(key.expires_at ?? ''))
      expect(first).toMatchObject({ valid: true, key: { state: 'active' } });
    const { clock } = service.changes;
    let uncertainty = 0;
    await until(async () => {
      const before = clock.uncertainty();
      const { code } = await service.validate(raw_key);
      uncertainty = Math.max(before, clock.uncertainty());
      return code === 'EXPIRED';
    });
    const [{ now }] = await db.sql<[{ now: number }]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
    expect(now + uncertainty).toBeGreaterThanOrEqual(Date.parse(key.expires_at ?? ''));
    expect((await service.validate(raw_key)).key).toMatchObject({ state: 'expired' });
    await service.keys.update({ keyId: key.id, body: { expires_at: null } }, acme);
    expect(await service.validate(raw_key)).toMatchObject({ valid: true, key: { state: 'active' } });
  });
});

/** The database with a counter of the statements that begin outside transactions. */
function counted(inner: TestDatabase): TestDatabase {
  const sql = new Proxy(inner.sql, {
    apply(target, self, args): unknown {
      statements += 1;
      return Reflect.apply(target, self, args);
    },
  });
  return { ...inner, sql };
}
