/** Tests how many contents arrive at once. Clients that send a part of a body and then nothing hold the places. */
import { type ClientRequest, request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { base, pathOf, putting, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({
    services: ['storage'],
    env: { PLINTH_STORAGE_FSYNC: 'off', PLINTH_STORAGE_MAX_TRANSFERS: '5' },
  });
  api = tools(server);
});
afterAll(() => server.close());

const active = async () => (await api.send('GET', '/admin/stats')).body.active_transfers as number;

/** Begins an upload that does not end. */
function held(tenant: string, key: string): ClientRequest {
  const headers = {
    ...{ authorization: `Bearer ${server.rootToken}`, 'x-tenant-id': tenant },
    ...{ 'content-type': 'a/b', 'content-length': 100_000 },
  };
  const sent = request(server.url + base + pathOf('photos', key), { method: 'PUT', headers });
  sent.on('error', () => {});
  sent.write('x'.repeat(1000));
  return sent;
}

it('is limited, so that there is a place for the next tenant, and places come back', async () => {
  for (const tenant of ['acme', 'globex']) await api.bucket('photos', {}, { tenant });
  const holding = Array.from({ length: 4 }, (_, at) => held('acme', `held-${at}`));
  await until(async () => (await active()) === 4);
  const put = (tenant: string) =>
    server.request('PUT', base + pathOf('photos', 'next'), putting('next', { tenant }));
  const refused = await put('acme');
  expect([refused.status, refused.headers.get('retry-after'), refused.body]).toEqual([
    503,
    expect.stringMatching(/^[1-9]/),
    { error: 'too many active transfers', code: 503 },
  ]);
  expect((await put('globex')).status).toBe(201);
  expect((await server.request('GET', base + pathOf('photos', 'next'), { tenant: 'globex' })).status).toBe(
    200,
  );
  for (const sent of holding) sent.destroy();
  await until(async () => (await active()) === 0);
  expect((await put('acme')).status).toBe(201);
});
