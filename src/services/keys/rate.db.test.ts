import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['keys'] });
  api = tools(server);
});
afterAll(() => server.close());

describe('retry_after', () => {
  it('is when a call is refused no more; until then every call is', async () => {
    const { id: policy_id } = await api.policy({ rate_limit: 3, rate_window: '2s' });
    const { raw_key } = await api.issue({ policy_id });
    const began = Date.now();
    expect((await api.judge(raw_key, { cost: 3 })).code).toBe('VALID');
    const refused = await api.judge(raw_key);
    const heard = Date.now();
    expect(refused).toMatchObject({ valid: false, rate_limit: { limit: 3, window: '2s', remaining: 0 } });
    // What the server tells is late by the time that its database took to answer, so a call may pass before `reset_at`, but none within
    // the window. One that passes is enough: more of them could use up the limit again.
    const opens = Date.parse(refused.rate_limit!.reset_at);
    let passed = Infinity;
    while (Date.now() < opens && passed === Infinity)
      if ((await api.judge(raw_key)).code === 'VALID') passed = Date.now();
    expect(passed).toBeGreaterThanOrEqual(began + 2_000);
    await delay(heard + refused.retry_after! * 1000 - Date.now());
    expect((await api.judge(raw_key)).code).toBe('VALID');
  });

  it('is null for what can never pass, and a cost of 0 asks without using', async () => {
    const { id: policy_id } = await api.policy({ rate_limit: 5, rate_window: '1h' });
    const { raw_key } = await api.issue({ policy_id });
    expect(await api.judge(raw_key, { cost: 6 })).toMatchObject({ code: 'RATE_LIMITED', retry_after: null });
    expect(await api.judge(raw_key, { cost: 5 })).toMatchObject({
      code: 'VALID',
      rate_limit: { remaining: 0 },
    });
    expect(await api.judge(raw_key, { cost: 0 })).toMatchObject({ code: 'VALID' });
    expect(await api.judge(raw_key)).toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('follows a limit that changes at once', async () => {
    const { id: policy_id } = await api.policy({ rate_limit: 1, rate_window: '1h' });
    const { raw_key } = await api.issue({ policy_id });
    const codes = async () => (await api.judge(raw_key)).code;
    expect([await codes(), await codes()]).toEqual(['VALID', 'RATE_LIMITED']);
    await api.send('PUT', `/policies/${policy_id}`, { body: { rate_limit: 2 } });
    expect([await codes(), await codes()]).toEqual(['VALID', 'RATE_LIMITED']);
    await api.send('PUT', `/policies/${policy_id}`, { body: { rate_limit: 0 } });
    expect(await codes()).toBe('VALID');
  });
});
