import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSweep } from '../../../db/sweeps.ts';
import { createSealer } from '../../../lib/seal.ts';
import { testSealer, testServer, type TestServer } from '../../../testing/server.ts';
import { createSealing } from '../sealing.ts';
import { tools } from '../testing.ts';
import { sealSweeps } from './seals.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['webhooks'] });
  api = tools(server);
  // Keeps the events in the outbox, as a consumer that has not had them would.
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('webhooks', 'test')`;
});
afterAll(() => server.close());

describe('secret headers', () => {
  const authorization = 'Bearer s3cr3t-value';

  it('are masked wherever they could be seen, and sealed in the table', async () => {
    const endpoint = await api.endpoint({ headers: { Authorization: authorization, 'x-region': 'eu' } });
    expect(endpoint.headers).toEqual({ Authorization: '********', 'x-region': 'eu' });
    const [row] = await server.db.sql`
      select (select endpoint::text from webhooks.endpoint where id = ${endpoint.id}) as stored,
        (select string_agg(outbox::text, '') from webhooks.outbox where subject = ${endpoint.id}) as told,
        (select string_agg(secret::text, '') from webhooks.endpoint_secret as secret where endpoint_id = ${endpoint.id}) as secrets`;
    for (const text of Object.values(row!)) {
      expect(text).not.toContain('s3cr3t');
      expect(text).not.toContain(endpoint.secret);
    }
    expect(row!['told']).not.toContain('headers');
  });

  it('keep their stored value when the mask is sent back', async () => {
    const {
      id,
      secret: _,
      ...rest
    } = await api.endpoint({ headers: { Authorization: authorization, 'x-region': 'eu' } });
    const sealed = async () =>
      (await server.db.sql`select sealed_headers from webhooks.endpoint where id = ${id}`)[0]![
        'sealed_headers'
      ] as Buffer | null;
    const update = (headers: object) => api.send('PUT', `/endpoints/${id}`, { body: { ...rest, headers } });
    expect(await update({ authorization: '********' })).toMatchObject({
      headers: { authorization: '********' },
    });
    const opened = async () =>
      createSealing(testSealer).openHeaders({ tenant_id: 'default', id }, (await sealed())!);
    expect(await opened()).toEqual({ authorization });
    await update({ authorization: 'Bearer other' });
    expect(await opened()).toEqual({ authorization: 'Bearer other' });
    expect((await update({})).headers).toEqual({});
    expect(await sealed()).toBeNull();
    const refusal = await api.refusal('PUT', `/endpoints/${id}`, {
      body: { headers: { authorization: '********' } },
    });
    expect(refusal).toEqual([400, 'headers: authorization has no stored value to keep']);
  });
});

describe('with another master key', () => {
  const [master, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
  const [sealedBefore, sealing] = [
    createSealing(createSealer(other)),
    createSealing(createSealer(master, other)),
  ];
  const headers = { Authorization: 'Bearer s3cr3t-value' };
  const seal = async (id: string, secret: string) => {
    const owner = { tenant_id: 'default', id };
    const { sql } = server.db;
    await sql`update webhooks.endpoint_secret set box = ${sealedBefore.sealSecret(owner, secret)} where endpoint_id = ${id}`;
    await sql`update webhooks.endpoint set sealed_headers = ${sealedBefore.sealHeaders(owner, headers)} where id = ${id}`;
  };

  it('a secret cannot be shown, which says what to do, and a rotation makes a new one', async () => {
    const { id, secret } = await api.endpoint({ headers });
    await seal(id, secret);
    expect(await api.refusal('GET', `/endpoints/${id}/secret`)).toEqual([
      400,
      'secret: cannot be read with the master keys of this server; rotate it',
    ]);
    const rotated = await api.send('POST', `/endpoints/${id}/rotate-secret`, { body: { overlap: '0s' } });
    expect(await api.send('GET', `/endpoints/${id}/secret`)).toEqual({ secret: rotated.secret });
    await api.send('DELETE', `/endpoints/${id}`);
  });

  it('which was the one before, what it sealed is sealed anew', async () => {
    const { id, secret } = await api.endpoint({ headers });
    await seal(id, secret);
    const [sweep] = sealSweeps({ db: server.db, sealing });
    await runSweep({ ...sweep!, batch: 1 });
    const [row] = await server.db.sql<{ box: Buffer; sealed_headers: Buffer }[]>`
      select box, sealed_headers from webhooks.endpoint_secret join webhooks.endpoint on endpoint.id = endpoint_id where endpoint_id = ${id}`;
    const [owner, now] = [{ tenant_id: 'default', id }, createSealing(createSealer(master))];
    expect(now.openSecret(owner, row!.box)).toBe(secret);
    expect(now.openHeaders(owner, row!.sealed_headers)).toEqual(headers);
  });
});

describe('secrets', () => {
  const rotate = (id: string, body?: object) => api.send('POST', `/endpoints/${id}/rotate-secret`, { body });
  const stored = async (id: string) =>
    (await server.db.sql`select id from webhooks.endpoint_secret where endpoint_id = ${id}`).length;

  it('rotate with an overlap, by default of a day', async () => {
    const { id, secret } = await api.endpoint();
    const before = Date.now();
    const rotated = await rotate(id);
    const hours = (Date.parse(rotated.previous_valid_until as string) - before) / 3_600_000;
    expect(hours).toBeCloseTo(24, 1);
    expect(rotated.secret).not.toBe(secret);
    expect(await api.send('GET', `/endpoints/${id}/secret`)).toEqual({ secret: rotated.secret });
    const given = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    expect(await rotate(id, { secret: given, overlap: '1h' })).toMatchObject({ secret: given });
  });

  it('at most four earlier ones sign, and none after an overlap of 0', async () => {
    const { id } = await api.endpoint();
    for (let round = 0; round < 6; round++) await rotate(id);
    expect(await stored(id)).toBe(5);
    expect(await rotate(id, { overlap: '0s' })).toMatchObject({ previous_valid_until: null });
    expect(await stored(id)).toBe(1);
  });

  it('of many rotations at once leave one current secret', async () => {
    const { id } = await api.endpoint();
    const rotated = await Promise.all(Array.from({ length: 10 }, () => rotate(id)));
    const { secret } = await api.send('GET', `/endpoints/${id}/secret`);
    expect(rotated.map((one) => one.secret as string)).toContain(secret);
    expect(await stored(id)).toBe(5);
  });

  it('are in no answer that could be stored in transit', async () => {
    const { id } = await api.endpoint();
    const asked = [['GET', 'secret'] as const, ['POST', 'rotate-secret'] as const];
    for (const [method, path] of asked) {
      const { headers } = await server.request(method, `/webhooks/endpoints/${id}/${path}`);
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  it.each([
    ['overlap', { overlap: '169h' }],
    ['overlap', { overlap: '-1s' }],
    ['secret', { secret: 'whsec_x' }],
  ])('400 names %s', async (field, body) => {
    const { id } = await api.endpoint();
    const [status, error] = await api.refusal('POST', `/endpoints/${id}/rotate-secret`, { body });
    expect([status, error]).toEqual([400, expect.stringContaining(field)]);
  });
});
