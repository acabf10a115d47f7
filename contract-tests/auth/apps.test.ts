import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';

const first = { name: 'Default app', slug: 'default' };
const absent = 'app_01m7w6qgepfq9s8v7qdkvzwn99';
const absentKey = 'pk_0000000000000000000000';

contract('auth Apps', (api) => {
  describe('create', () => {
    it('201 with the app as stored, and its first key', async () => {
      const { auth } = api.tenant().plinth;
      const app = await auth.apps.create({ body: first });
      expect(app.publishable_keys).toHaveLength(1);
    });

    it('409 when the slug is taken', async () => {
      const tenant = api.tenant();
      await tenant.plinth.auth.apps.create({ body: first });
      await tenant.refused(409, 'slug already taken', ({ auth }) => auth.apps.create({ body: first }));
    });
  });

  it('list: 200 with the apps of the tenant', async () => {
    const { auth } = api.tenant().plinth;
    await auth.apps.create({ body: first });
    expect((await auth.apps.list()).apps).toHaveLength(1);
  });

  describe('one app', () => {
    it('200 when it is read, changed and deleted', async () => {
      const { auth } = api.tenant().plinth;
      await auth.apps.create({ body: first });
      const { id: appId } = await auth.apps.create({ body: { name: 'Old name', slug: 'shop' } });
      await auth.apps.get({ appId });
      expect(await auth.apps.update({ appId, body: { name: first.name } })).toMatchObject({
        name: first.name,
      });
      expect(await auth.apps.delete({ appId })).toEqual({ status: 'deleted' });
    });

    it('404 when it does not exist', async () => {
      const tenant = api.tenant();
      await tenant.refused(404, 'app not found', ({ auth }) => auth.apps.get({ appId: absent }));
      await tenant.refused(404, 'app not found', ({ auth }) =>
        auth.apps.update({ appId: absent, body: { name: 'x' } }),
      );
      await tenant.refused(404, 'app not found', ({ auth }) => auth.apps.delete({ appId: absent }));
      await tenant.refused(404, 'app not found', ({ auth }) => auth.apps.addKey({ appId: absent }));
    });

    it('409 when the default app is to be deleted', async () => {
      const tenant = api.tenant();
      const { id: appId } = await tenant.plinth.auth.apps.create({ body: first });
      await tenant.refused(409, 'the default app cannot be deleted', ({ auth }) =>
        auth.apps.delete({ appId }),
      );
    });
  });

  describe('publishable keys', () => {
    it('201 when one is added, 200 when one is removed', async () => {
      const { auth } = api.tenant().plinth;
      const app = await auth.apps.create({ body: first });
      await auth.apps.addKey({ appId: app.id });
      const left = await auth.apps.removeKey({ appId: app.id, key: app.publishable_keys[0]!.key });
      expect(left.publishable_keys).toHaveLength(1);
    });

    it('404 when the key is not the app’s', async () => {
      const tenant = api.tenant();
      const { id: appId } = await tenant.plinth.auth.apps.create({ body: first });
      await tenant.refused(404, 'publishable key not found', ({ auth }) =>
        auth.apps.removeKey({ appId, key: absentKey }),
      );
    });

    it('409 over 10, and for the last one', async () => {
      const tenant = api.tenant();
      const app = await tenant.plinth.auth.apps.create({ body: first });
      await tenant.refused(409, 'an app keeps one publishable key', ({ auth }) =>
        auth.apps.removeKey({ appId: app.id, key: app.publishable_keys[0]!.key }),
      );
      for (let count = 1; count < 10; count++) await tenant.plinth.auth.apps.addKey({ appId: app.id });
      await tenant.refused(409, 'an app has at most 10 publishable keys', ({ auth }) =>
        auth.apps.addKey({ appId: app.id }),
      );
    });
  });
});
