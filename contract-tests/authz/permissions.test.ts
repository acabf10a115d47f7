import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';

const reading = { name: 'Read documents', resource: 'document', action: 'read' };
const absent = 'perm_01m7w4n5e0f09tyqnar8mvs3hz';

contract('Permissions', (api) => {
  describe('create', () => {
    it('201 with the permission as stored', async () => {
      const { authz } = api.tenant().plinth;
      expect(await authz.permissions.create({ body: reading })).toMatchObject(reading);
    });

    it('409 when the name is taken', async () => {
      const tenant = api.tenant();
      await tenant.plinth.authz.permissions.create({ body: reading });
      await tenant.refused(409, 'permission name already exists', ({ authz }) =>
        authz.permissions.create({ body: reading }),
      );
    });
  });

  describe('list', () => {
    it('200 with the permissions of the tenant', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.permissions.create({ body: reading });
      expect(await authz.permissions.list({ resource: 'document' })).toMatchObject([{ id }]);
    });
  });

  describe('get', () => {
    it('200 with the permission', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.permissions.create({ body: reading });
      expect(await authz.permissions.get({ permissionId: id })).toMatchObject({ id, ...reading });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'permission not found', ({ authz }) =>
          authz.permissions.get({ permissionId: absent }),
        ));
  });

  describe('delete', () => {
    it('204', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.permissions.create({ body: reading });
      await authz.permissions.delete({ permissionId: id });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'permission not found', ({ authz }) =>
          authz.permissions.delete({ permissionId: absent }),
        ));
  });
});

behaviour('Permissions', (api) => {
  it('a permission without a name is called by its patterns', async () => {
    const { authz } = api.tenant().plinth;
    const { name } = await authz.permissions.create({ body: { resource: 'document', action: 'read' } });
    expect(name).toBe('document:read');
  });
});
