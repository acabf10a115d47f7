import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../../generated/webhooks/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['webhooks'] });
  api = tools(server);
  // Keeps the events in the outbox, as a consumer that has not had them would.
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('webhooks', 'test')`;
});
afterAll(() => server.close());

const absent = 'ep_01h455vb4pex5vsknk084sn02q';
const url = 'https://hooks.acme.example/plinth';

describe('who sees what', () => {
  it("another tenant's endpoint is like one that does not exist, whatever is asked", async () => {
    const { id } = await api.endpoint({ uid: 'theirs' }, { tenant: 'acme' });
    const requests = (ref: string) =>
      [
        ['GET', `/endpoints/${ref}`],
        ['PUT', `/endpoints/${ref}`, { description: 'x' }],
        ['DELETE', `/endpoints/${ref}`],
        ['PATCH', `/endpoints/${ref}/enable`],
        ['PATCH', `/endpoints/${ref}/disable`],
        ['POST', `/endpoints/${ref}/rotate-secret`],
        ['GET', `/endpoints/${ref}/secret`],
        ['POST', `/endpoints/${ref}/test`],
      ] as const;
    const answers = (ref: string) =>
      Promise.all(
        requests(ref).map(([method, path, body]) => api.refusal(method, path, { tenant: 'other', body })),
      );
    expect(await answers(id)).toEqual(await answers(absent));
    expect(await answers('theirs')).toEqual(await answers(absent));
    expect(await api.getEndpoint(id, { tenant: 'acme' })).toMatchObject({ description: '' });
  });

  it('the operator sees all tenants by id, but only its own by uid', async () => {
    const { id } = await api.endpoint({ tenant_id: 'acme', uid: 'named' });
    expect(await api.getEndpoint(id)).toMatchObject({ tenant_id: 'acme' });
    expect(await api.refusal('GET', '/endpoints/named')).toEqual([404, 'endpoint not found']);
    const own = await api.endpoint({ uid: 'named' });
    expect(await api.getEndpoint('named')).toMatchObject({ id: own.id });
    const [{ tenant_id }] = await server.db.sql<[{ tenant_id: string }]>`
      select tenant_id from webhooks.outbox where subject = ${id}`;
    expect(tenant_id).toBe('acme');
  });

  it('others may not name another tenant', async () => {
    const body = { url, event_types: ['*'], tenant_id: 'acme' };
    const refusal = await api.refusal('POST', '/endpoints', { tenant: 'other', body });
    expect(refusal).toEqual([403, "tenant_id: not the caller's own"]);
    expect((await api.refusal('GET', '/endpoints?tenant_id=acme', { tenant: 'other' }))[0]).toBe(403);
  });

  it('lists are newest first, and of the tenant', async () => {
    const tenant = 'lister';
    const ids: string[] = [];
    for (const enabled of [true, false, true]) ids.unshift((await api.endpoint({ enabled }, { tenant })).id);
    const list = async (query: string, caller?: string) =>
      ((await api.send('GET', `/endpoints${query}`, caller ? { tenant: caller } : {})) as Endpoint[]).map(
        ({ id }) => id,
      );
    expect(await list('', tenant)).toEqual(ids);
    expect(await list('?enabled=false', tenant)).toEqual([ids[1]]);
    expect(await list(`?tenant_id=${tenant}`)).toEqual(ids);
    expect((await list('?limit=100')).slice(0, 3)).toEqual(ids);
    const { headers } = await server.request('GET', '/webhooks/endpoints?limit=2', { tenant });
    expect(await list(`?limit=2&cursor=${headers.get('x-next-cursor')!}`, tenant)).toEqual(ids.slice(2));
    for (const query of ['?limit=101', '?limit=0', '?offset=100001', '?cursor=x'])
      expect((await api.refusal('GET', `/endpoints${query}`))[0]).toBe(400);
    expect((await api.refusal('GET', '/endpoints/ep_short'))[0]).toBe(400);
  });
});
