import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { tenantWithApp } from './people.ts';

const look = { company_name: 'Analytical Engines', logo_url: 'https://cdn.example.com/logo.svg' };
const brandingId = 'brnd_01m7w6qgepfq9s8vb5cppqaj99';

contract('auth Branding', (api) => {
  it('201 when it is created, 200 when it is read, changed and deleted', async () => {
    const { branding } = (await tenantWithApp(api)).plinth.auth;
    const { id } = await branding.create({ body: look });
    expect(await branding.get()).toMatchObject(look);
    expect(await branding.update({ brandingId: id, body: look })).toMatchObject(look);
    expect(await branding.delete({ brandingId: id })).toEqual({ status: 'deleted' });
  });

  it('create: 404 in an app that does not exist', () =>
    api
      .operator()
      .refused(404, 'app not found', ({ auth }) => auth.branding.create({ body: { app_id: 'nowhere' } })));

  it('get: 403 in a tenant without an app', () =>
    api
      .tenant()
      .refused(403, 'the tenant has no such app: see POST /apps', ({ auth }) => auth.branding.get()));

  it('create: 409 when the app has one', async () => {
    const tenant = await tenantWithApp(api);
    await tenant.plinth.auth.branding.create({ body: look });
    await tenant.refused(409, 'branding already exists', ({ auth }) => auth.branding.create({ body: look }));
  });

  describe('404', () => {
    it('when it does not exist', async () => {
      const tenant = await tenantWithApp(api);
      const message = 'branding not found';
      await tenant.refused(404, message, ({ auth }) => auth.branding.get());
      await tenant.refused(404, message, ({ auth }) => auth.branding.update({ brandingId, body: look }));
      await tenant.refused(404, message, ({ auth }) => auth.branding.delete({ brandingId }));
    });
  });
});
