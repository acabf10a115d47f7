import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
});
afterAll(() => server.close());

it('what the platform recorded of a tenant stays readable to it, until the operator erases it', async () => {
  const own = inTenant('own-tenant');
  await server.request('POST', '/keys/v1/keys', {
    ...own,
    body: { name: 'Deleted soon' },
  });
  const created = async () => (await api.list('?action=key.created', own)).events[0];
  await expect
    .poll(created)
    .toMatchObject({ subject_id: 'tenant:own-tenant', resource_id: expect.stringMatching(/^key_/) });
  const body = { subject_id: 'tenant:own-tenant', reason: 'hide', requested_by: 'admin' };
  expect(await api.refusal('POST', '/erasures', { ...own, body })).toEqual([
    403,
    'audit: subject_id: only the operator may erase what concerns the tenant itself',
  ]);
  expect(await created()).toMatchObject({ subject_id: 'tenant:own-tenant', erased: false });
  await api.send('POST', '/erasures', { body: { ...body, tenant_id: 'own-tenant' } });
  expect(await created()).toMatchObject({ resource_id: null, erased: true });
});
