import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../testing/database.ts';
import { until } from '../../../testing/until.ts';
import { contextOf, openKeys, type OpenKeys } from './testing/open-keys.ts';

let db: TestDatabase;
let service: OpenKeys;
beforeAll(async () => {
  db = await testDatabase({ services: ['keys'] });
  service = await openKeys(db);
});
afterAll(async () => {
  await service.close();
  await db.close();
});

const acme = contextOf('acme');

describe('a policy over addresses and origins', () => {
  it('is said to be unchecked by the one-field call, refuses an outside address, and may demand the context', async () => {
    const policy = await service.policy({
      allowed_ips: ['203.0.113.77/24'],
      allowed_origins: ['https://*.Example.com'],
    });
    const { raw_key } = await service.issue({ policy_id: policy.id });
    expect(await service.validate(raw_key)).toMatchObject({ valid: true, unchecked: ['ip', 'origin'] });
    expect(await service.validate(raw_key, { ip: '203.0.113.7' })).toMatchObject({
      valid: true,
      unchecked: ['origin'],
    });
    expect(await service.validate(raw_key, { ip: '198.51.100.1' })).toMatchObject({
      valid: false,
      code: 'IP_NOT_ALLOWED',
    });
    const inside = { ip: '::ffff:203.0.113.7' };
    expect(
      await service.validate(raw_key, { ...inside, origin: 'https://a.b.example.com:443' }),
    ).toMatchObject({
      valid: true,
      unchecked: [],
    });
    expect(await service.validate(raw_key, { ...inside, origin: 'https://evil-example.com' })).toMatchObject({
      code: 'ORIGIN_NOT_ALLOWED',
    });
    await service.policies.update({ policyId: policy.id, body: { require_context: true } }, acme);
    expect(await service.validate(raw_key)).toMatchObject({
      valid: false,
      code: 'CONTEXT_REQUIRED',
      unchecked: ['ip', 'origin'],
    });
    expect(await service.validate(raw_key, inside)).toMatchObject({
      code: 'CONTEXT_REQUIRED',
      unchecked: ['origin'],
    });
  });
});

describe('a rate', () => {
  it('is not charged for what is refused, and only read by a cost of 0', async () => {
    const policy = await service.policy({ rate_limit: 3, rate_window: '1h' });
    const { raw_key } = await service.issue({ policy_id: policy.id });
    for (let call = 0; call < 5; call++) {
      expect(await service.validate(raw_key, { required_scopes: ['nothing:held'] })).toMatchObject({
        code: 'INSUFFICIENT_SCOPES',
        rate_limit: { remaining: 3 },
      });
    }
    expect(await service.validate(raw_key, { cost: 0 })).toMatchObject({
      valid: true,
      rate_limit: { remaining: 3 },
    });
    expect(await service.validate(raw_key, { cost: 2 })).toMatchObject({
      valid: true,
      rate_limit: { remaining: 1 },
    });
    expect(await service.validate(raw_key, { cost: 2 })).toMatchObject({
      valid: false,
      code: 'RATE_LIMITED',
      rate_limit: { remaining: 1 },
    });
    expect(await service.validate(raw_key)).toMatchObject({ valid: true, rate_limit: { remaining: 0 } });
    const refused = await service.validate(raw_key);
    expect(refused).toMatchObject({ valid: false, code: 'RATE_LIMITED', rate_limit: { remaining: 0 } });
    expect(refused.retry_after).toBeGreaterThan(3500);
    expect(refused.retry_after).toBeLessThanOrEqual(3960);
    expect(await service.validate(raw_key, { cost: 0 })).toMatchObject({
      valid: true,
      rate_limit: { remaining: 0 },
    });
    expect(await service.validate(raw_key, { cost: 4 })).toMatchObject({
      code: 'RATE_LIMITED',
      retry_after: null,
    });
  });

  it('lets the call pass that comes when retry_after is over, and none before the units are free', async () => {
    const policy = await service.policy({ rate_limit: 2, rate_window: '1s' });
    const { raw_key } = await service.issue({ policy_id: policy.id });
    await service.validate(raw_key, { cost: 0 });
    const began = performance.now();
    expect((await service.validate(raw_key, { cost: 2 })).valid).toBe(true);
    const refused = await service.validate(raw_key);
    expect(refused).toMatchObject({ code: 'RATE_LIMITED' });
    expect([1, 2]).toContain(refused.retry_after);
    // However often the key is validated, no unit can be free until a window has passed.
    await until(async () => (await service.validate(raw_key)).valid);
    expect(performance.now() - began).toBeGreaterThanOrEqual(1_000);

    const once = await service.policy({ rate_limit: 1, rate_window: '1s' });
    const single = await service.issue({ policy_id: once.id });
    await service.validate(single.raw_key);
    const { retry_after } = await service.validate(single.raw_key);
    await new Promise((resolve) => setTimeout(resolve, (retry_after ?? 0) * 1000));
    expect(await service.validate(single.raw_key)).toMatchObject({ valid: true });
  });

  it('is shared by the raw keys of a rotation, and told by whoami without taking a unit', async () => {
    const policy = await service.policy({ rate_limit: 10, rate_window: '1h' });
    const { raw_key: old, key } = await service.issue({ policy_id: policy.id });
    await service.validate(old, { cost: 4 });
    const { raw_key: young } = await service.keys.rotate(
      { keyId: key.id, body: { reason: 'manual', grace_period: '1h' } },
      acme,
    );
    expect(await service.validate(young, { cost: 4 })).toMatchObject({
      valid: true,
      grace_ends_at: null,
      rate_limit: { remaining: 2 },
    });
    const inGrace = await service.validate(old);
    expect(inGrace).toMatchObject({ valid: true, rate_limit: { remaining: 1 } });
    expect(Date.parse(inGrace.grace_ends_at ?? '') - Date.now()).toBeGreaterThan(3_500_000);
    expect(await service.validator.rateLimit(key)).toMatchObject({ limit: 10, window: '1h', remaining: 1 });
    expect(await service.validator.rateLimit(key)).toMatchObject({ remaining: 1 });
  });
});

describe('the age of a raw key', () => {
  it('is judged by the clock on every hit, healed by rotation, and set for all keys of a policy at once', async () => {
    const policy = await service.policy({});
    const issued = await Promise.all([1, 2].map(() => service.issue({ policy_id: policy.id })));
    await db.sql`
      update keys.secrets set created_at = now() - interval '2 hours'
      where key_id = any(${issued.map(({ key }) => key.id)})
    `;
    const codes = () =>
      Promise.all(issued.map(async ({ raw_key }) => (await service.validate(raw_key)).code));
    expect(await codes()).toEqual(['VALID', 'VALID']);
    await service.policies.update({ policyId: policy.id, body: { max_key_age: '1h' } }, acme);
    expect(await codes()).toEqual(['TOO_OLD', 'TOO_OLD']);
    const { raw_key } = await service.keys.rotate(
      { keyId: issued[0]?.key.id ?? '', body: { reason: 'manual' } },
      acme,
    );
    expect(await service.validate(raw_key)).toMatchObject({ valid: true });
    expect(await codes()).toEqual(['TOO_OLD', 'TOO_OLD']);
  });
});
