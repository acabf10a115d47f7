import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { organized, tenantWithApp } from './people.ts';

const engines = { name: 'Analytical Engines', slug: 'analytical-engines' };
const orgId = 'org_01m7w6qgepfq9s8v9m3zmg8529';

contract('auth Organizations', (api) => {
  it('create: 201 with the organization as stored, whose owner is who made it', async () => {
    const ada = await api.tenant().withUser();
    const made = await ada.plinth.auth.organizations.create({ body: engines });
    expect(made).toMatchObject({ ...engines, member_count: 1 });
  });

  it('create and list: 404 in an app that does not exist', async () => {
    const operator = api.operator();
    const app_id = 'nowhere';
    await operator.refused(404, 'app not found', ({ auth }) =>
      auth.organizations.create({ body: { ...engines, app_id } }),
    );
    await operator.refused(404, 'app not found', ({ auth }) => auth.organizations.list({ app_id }));
  });

  it('create and update: 409 when the slug is taken', async () => {
    const { tenant, ada } = await organized(api);
    await ada.refused(409, 'slug already taken', ({ auth }) => auth.organizations.create({ body: engines }));
    const { id } = await tenant.plinth.auth.organizations.create({ body: { name: 'Other', slug: 'other' } });
    await tenant.refused(409, 'slug already taken', ({ auth }) =>
      auth.organizations.update({ orgId: id, body: { slug: engines.slug } }),
    );
  });

  it("list: 200 with the user's own", async () => {
    const { ada } = await organized(api);
    expect((await ada.plinth.auth.organizations.list()).organizations).toEqual([
      expect.objectContaining(engines),
    ]);
  });

  describe('one organization', () => {
    it('200 when it is read, changed and deleted', async () => {
      const { ada, orgId } = await organized(api);
      const { organizations } = ada.plinth.auth;
      expect(await organizations.get({ orgId })).toMatchObject(engines);
      await organizations.update({ orgId, body: { metadata: { floor: 2 } } });
      expect(await organizations.delete({ orgId })).toEqual({ status: 'deleted' });
    });

    it('404 when it does not exist', async () => {
      const tenant = await tenantWithApp(api);
      const message = 'organization not found';
      await tenant.refused(404, message, ({ auth }) => auth.organizations.get({ orgId }));
      await tenant.refused(404, message, ({ auth }) =>
        auth.organizations.update({ orgId, body: { name: 'x' } }),
      );
      await tenant.refused(404, message, ({ auth }) => auth.organizations.delete({ orgId }));
    });
  });
});
