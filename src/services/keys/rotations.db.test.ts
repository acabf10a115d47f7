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

const rotate = (id: string, body?: object) =>
  api.send('POST', `/keys/${id}/rotate`, body === undefined ? {} : { body });
const codes = (...rawKeys: string[]) => Promise.all(rawKeys.map(async (raw) => (await api.judge(raw)).code));

describe('rotate', () => {
  it('makes a new raw key and lets the old one work until its grace ends', async () => {
    const { raw_key, key } = await api.issue();
    const { status, headers, body } = await server.request('POST', `/keys/v1/keys/${key.id}/rotate`, {
      body: { reason: 'scheduled', grace_period: '90m' },
    });
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body.raw_key).not.toBe(raw_key);
    expect(body.key).toMatchObject({ id: key.id, live_secrets: 2, hint: body.raw_key.slice(-4) });
    expect(body.rotation).toMatchObject({
      key_id: key.id,
      reason: 'scheduled',
      grace_period: '1h30m',
      rotated_by: 'root',
      old_hint: key.hint,
      new_hint: body.key.hint,
    });
    expect(Date.parse(body.rotation.grace_ends_at) - Date.parse(body.rotation.created_at)).toBe(5_400_000);
    expect(body.key.rotated_at).toBe(body.key.secret_created_at);

    const old = await api.judge(raw_key);
    expect([old.valid, old.grace_ends_at]).toEqual([true, body.rotation.grace_ends_at]);
    const current = await api.judge(body.raw_key);
    expect([current.valid, current.grace_ends_at]).toEqual([true, null]);
  });

  it('after the grace the old raw key is ROTATED', async () => {
    const { raw_key, key } = await api.issue();
    const rotated = await rotate(key.id);
    await server.db
      .sql`update keys.secrets set grace_ends_at = now() where key_id = ${key.id} and grace_ends_at is not null`;
    expect(await codes(raw_key, rotated.raw_key)).toEqual(['ROTATED', 'VALID']);
    expect((await api.key(key.id)).live_secrets).toBe(1);
  });

  it('without a body is manual, with the grace of the policy, else a day', async () => {
    const { id: policy_id } = await api.policy({ grace_period: '2h' });
    const { key } = await api.issue({ policy_id });
    const { key: free } = await api.issue();
    expect((await rotate(key.id)).rotation).toMatchObject({ reason: 'manual', grace_period: '2h' });
    expect((await rotate(free.id)).rotation).toMatchObject({ reason: 'manual', grace_period: '24h' });
  });

  it('without grace ends the old raw key at once', async () => {
    const { raw_key, key } = await api.issue();
    const rotated = await rotate(key.id, { grace_period: '0s' });
    expect(rotated.key.live_secrets).toBe(1);
    expect(await codes(raw_key, rotated.raw_key)).toEqual(['ROTATED', 'VALID']);
  });

  it.each(['compromise', 'compromised'])('because of %s ends all older raw keys at once', async (reason) => {
    const { raw_key, key } = await api.issue();
    const second = await rotate(key.id);
    const third = await rotate(key.id, { reason });
    expect(third.rotation.grace_period).toBe('0s');
    expect(await codes(raw_key, second.raw_key, third.raw_key)).toEqual(['ROTATED', 'ROTATED', 'VALID']);
  });

  it('because of compromise keeps to a grace that is given', async () => {
    const { raw_key, key } = await api.issue();
    await rotate(key.id, { reason: 'compromise', grace_period: '1h' });
    expect(await codes(raw_key)).toEqual(['VALID']);
  });

  it('409 with five live raw keys; ending their grace makes room', async () => {
    const { raw_key, key } = await api.issue();
    for (let count = 0; count < 4; count++) await rotate(key.id);
    expect((await api.key(key.id)).live_secrets).toBe(5);
    expect(await api.refusal('POST', `/keys/${key.id}/rotate`)).toEqual([409, 'too many live secrets']);
    const ended = await api.send('DELETE', `/keys/${key.id}/grace`);
    expect(ended.live_secrets).toBe(1);
    expect(await api.send('DELETE', `/keys/${key.id}/grace`)).toEqual(ended);
    expect(await codes(raw_key, (await rotate(key.id)).raw_key)).toEqual(['ROTATED', 'VALID']);
  });

  it('of ten at once, four succeed and the rest are refused', async () => {
    const { key } = await api.issue();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => server.request('POST', `/keys/v1/keys/${key.id}/rotate`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array(4).fill(200),
      ...Array(6).fill(409),
    ]);
    expect((await api.key(key.id)).live_secrets).toBe(5);
    const raws = answers.filter(({ status }) => status === 200).map(({ body }) => body.raw_key);
    expect(await codes(...raws)).toEqual(Array(4).fill('VALID'));
  });

  it('shares one rate between the old and the new raw key', async () => {
    const { id: policy_id } = await api.policy({ rate_limit: 2, rate_window: '1h' });
    const { raw_key, key } = await api.issue({ policy_id });
    const rotated = await rotate(key.id);
    expect(await codes(raw_key)).toEqual(['VALID']);
    expect(await codes(rotated.raw_key)).toEqual(['VALID']);
    expect(await codes(raw_key)).toEqual(['RATE_LIMITED']);
    expect(await codes(rotated.raw_key)).toEqual(['RATE_LIMITED']);
  });

  it('heals a raw key that is too old, of which a policy makes all its keys at once', async () => {
    const { id: policy_id } = await api.policy();
    const old = await Promise.all([api.issue({ policy_id }), api.issue({ policy_id })]);
    const young = await api.issue({ policy_id });
    await server.db.sql`
      update keys.secrets set created_at = created_at - interval '2 hours'
      where key_id = any(${old.map(({ key }) => key.id)}::text[])`;
    const raws = [...old, young].map(({ raw_key }) => raw_key);
    expect(await codes(...raws)).toEqual(['VALID', 'VALID', 'VALID']);
    await api.send('PUT', `/policies/${policy_id}`, { body: { max_key_age: '1h' } });
    expect(await codes(...raws)).toEqual(['TOO_OLD', 'TOO_OLD', 'VALID']);
    expect(await codes((await rotate(old[0].key.id)).raw_key)).toEqual(['VALID']);
    await api.send('PUT', `/policies/${policy_id}`, { body: { max_key_age: null } });
    expect(await codes(...raws)).toEqual(['VALID', 'VALID', 'VALID']);
  });

  it.each([
    ['grace_period: must be from 0s to 720h', '721h'],
    ['grace_period: must be a duration like 90s, 1h30m or 720h', '1d'],
  ])('400 %s', async (error, grace_period) => {
    const { key } = await api.issue();
    const [status, message] = await api.refusal('POST', `/keys/${key.id}/rotate`, { body: { grace_period } });
    expect(status).toBe(400);
    expect(message).toMatch(error.slice(0, 13));
  });
});

describe('rotations', () => {
  it('lists what was done, newest first, page by page', async () => {
    const { key } = await api.issue();
    const made = [];
    for (const reason of ['first', 'second', 'third'])
      made.unshift((await rotate(key.id, { reason })).rotation);
    const first = await server.request('GET', `/keys/v1/keys/${key.id}/rotations?limit=2`);
    const rest = await server.request(
      'GET',
      `/keys/v1/keys/${key.id}/rotations?cursor=${first.headers.get('x-next-cursor')}`,
    );
    expect([...first.body, ...rest.body]).toEqual(made);
    expect(rest.headers.get('x-next-cursor')).toBeNull();
  });
});
