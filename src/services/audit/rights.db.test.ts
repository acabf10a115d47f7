import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { anEvent, inTenant, tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
});
afterAll(() => server.close());

/** A key of a tenant with these scopes. */
async function keyOf(tenant: string, scopes: string[]) {
  const { body } = await server.request('POST', '/keys/v1/keys', {
    ...inTenant(tenant),
    body: { name: 'rights', scopes },
  });
  return { apiKey: (body as { raw_key: string }).raw_key };
}

describe('a key', () => {
  it('records nothing in another tenant, neither alone nor in a batch', async () => {
    const victim = inTenant('rights-victim');
    await api.event({}, victim);
    const key = await keyOf('rights-thief', ['audit:write']);
    const foreign = { ...anEvent, tenant_id: 'rights-victim' };
    const refusals = [
      await api.refusal('POST', '/events', { ...key, body: foreign }),
      await api.refusal('POST', '/events/batch', { ...key, body: { events: [anEvent, foreign] } }),
    ];
    expect(refusals).toEqual([
      [403, "audit: tenant_id: not the caller's own"],
      [403, "audit: events[1].tenant_id: not the caller's own"],
    ]);
    expect((await api.list('', victim)).total).toBe(1);
    expect((await api.list('', inTenant('rights-thief'))).total).toBe(0);
  });
});
