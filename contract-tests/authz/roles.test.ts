import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';

const editor = { name: 'Editor', slug: 'editor', description: 'Reads and writes documents' };
const reading = { resource: 'document', action: 'read', name: 'Read documents' };
const absent = 'role_01m7w4n5e0f7drekxj50y51wjz';
const absentPermission = 'perm_01m7w4n5e0f09tyqnar8mvs3hz';

contract('Roles', (api) => {
  describe('create', () => {
    it('201 with the role as stored', async () => {
      const { authz } = api.tenant().plinth;
      expect(await authz.roles.create({ body: editor })).toMatchObject(editor);
    });

    it('400 when the name is missing', async () => {
      const tenant = api.tenant();
      const response = await tenant.fetch('/authz/v1/roles', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ slug: 'editor' }),
      });
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({ error: { code: 400, message: 'name: required' } });
    });

    it('404 when the parent does not exist', () =>
      api
        .tenant()
        .refused(404, 'role not found', ({ authz }) =>
          authz.roles.create({ body: { ...editor, parent_id: absent } }),
        ));

    it('409 when the slug is taken', async () => {
      const tenant = api.tenant();
      await tenant.plinth.authz.roles.create({ body: editor });
      await tenant.refused(409, 'role slug already exists', ({ authz }) =>
        authz.roles.create({ body: editor }),
      );
    });
  });

  describe('list', () => {
    it('200 with the roles of the tenant', async () => {
      const { authz } = api.tenant().plinth;
      const role = await authz.roles.create({ body: editor });
      expect((await authz.roles.list({})).map(({ id }) => id)).toEqual([role.id]);
    });
  });

  describe('get', () => {
    it('200 with the role', async () => {
      const { authz } = api.tenant().plinth;
      const { id, slug } = await authz.roles.create({ body: editor });
      expect(await authz.roles.get({ roleId: id })).toMatchObject({ id, slug });
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'role not found', ({ authz }) => authz.roles.get({ roleId: absent })));
  });

  describe('update', () => {
    it('200 with the role as it is now', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.roles.create({ body: editor });
      expect(await authz.roles.update({ roleId: id, body: { name: 'Editor' } })).toMatchObject(editor);
    });

    it('200 when what was read is written back', async () => {
      const { authz } = api.tenant().plinth;
      const role = await authz.roles.create({ body: editor });
      expect(await authz.roles.update({ roleId: role.id, body: { ...role, parent_id: null } })).toMatchObject(
        editor,
      );
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'role not found', ({ authz }) =>
          authz.roles.update({ roleId: absent, body: { name: 'Editor' } }),
        ));
  });

  describe('delete', () => {
    it('204', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.roles.create({ body: editor });
      await authz.roles.delete({ roleId: id });
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'role not found', ({ authz }) => authz.roles.delete({ roleId: absent })));
  });
});

contract('Permissions of roles', (api) => {
  describe('attachPermission', () => {
    it('201 with the permission', async () => {
      const { authz } = api.tenant().plinth;
      const role = await authz.roles.create({ body: editor });
      const { id } = await authz.permissions.create({ body: reading });
      const attached = await authz.roles.attachPermission({ roleId: role.id, body: { permission_id: id } });
      expect(attached).toMatchObject({ id, ...reading });
    });

    it('404 when the role does not exist', async () => {
      const tenant = api.tenant();
      const { id } = await tenant.plinth.authz.permissions.create({ body: reading });
      await tenant.refused(404, 'role not found', ({ authz }) =>
        authz.roles.attachPermission({ roleId: absent, body: { permission_id: id } }),
      );
    });

    it('404 when the permission does not exist', async () => {
      const tenant = api.tenant();
      const { id } = await tenant.plinth.authz.roles.create({ body: editor });
      await tenant.refused(404, /not found/, ({ authz }) =>
        authz.roles.attachPermission({ roleId: id, body: { permission_id: absentPermission } }),
      );
    });

    it('409 when it is attached already', async () => {
      const tenant = api.tenant();
      const { authz } = tenant.plinth;
      const role = await authz.roles.create({ body: editor });
      const permission = await authz.permissions.create({ body: reading });
      const attachment = { roleId: role.id, body: { permission_id: permission.id } };
      await authz.roles.attachPermission(attachment);
      await tenant.refused(409, 'permission already attached', (plinth) =>
        plinth.authz.roles.attachPermission(attachment),
      );
    });
  });

  describe('listPermissions', () => {
    it('200 with the permissions of the role', async () => {
      const { authz } = api.tenant().plinth;
      const role = await authz.roles.create({ body: editor });
      const { id } = await authz.permissions.create({ body: reading });
      await authz.roles.attachPermission({ roleId: role.id, body: { permission_id: id } });
      expect(await authz.roles.listPermissions({ roleId: role.id })).toMatchObject([{ id }]);
    });

    it('404 when the role does not exist', () =>
      api
        .tenant()
        .refused(404, 'role not found', ({ authz }) => authz.roles.listPermissions({ roleId: absent })));
  });

  describe('detachPermission', () => {
    it('204', async () => {
      const { authz } = api.tenant().plinth;
      const role = await authz.roles.create({ body: editor });
      const { id } = await authz.permissions.create({ body: reading });
      await authz.roles.attachPermission({ roleId: role.id, body: { permission_id: id } });
      await authz.roles.detachPermission({ roleId: role.id, permissionId: id });
    });

    it('404 when it is not attached', async () => {
      const tenant = api.tenant();
      const role = await tenant.plinth.authz.roles.create({ body: editor });
      await tenant.refused(404, 'permission not found', ({ authz }) =>
        authz.roles.detachPermission({ roleId: role.id, permissionId: absentPermission }),
      );
    });
  });
});

behaviour('Roles', (api) => {
  it('a deleted role is gone', async () => {
    const tenant = api.tenant();
    const { id } = await tenant.plinth.authz.roles.create({ body: editor });
    await tenant.plinth.authz.roles.delete({ roleId: id });
    await tenant.refused(404, 'role not found', ({ authz }) => authz.roles.get({ roleId: id }));
  });

  it('400 when the slug would change', async () => {
    const tenant = api.tenant();
    const { id } = await tenant.plinth.authz.roles.create({ body: editor });
    await tenant.refused(400, 'slug: cannot be changed', ({ authz }) =>
      authz.roles.update({ roleId: id, body: { slug: 'writer' } }),
    );
  });

  it('403 when a system role is changed without authz:admin', async () => {
    const tenant = api.tenant();
    const { id } = await tenant.plinth.authz.roles.create({ body: { ...editor, is_system: true } });
    const writer = await tenant.withKey(['authz:write']);
    await writer.refused(403, 'system role', ({ authz }) => authz.roles.delete({ roleId: id }));
    await writer.refused(403, 'system role', ({ authz }) =>
      authz.roles.create({ body: { name: 'Other', is_system: true } }),
    );
  });

  it('409 when a role that is the parent of others is deleted', async () => {
    const tenant = api.tenant();
    const { authz } = tenant.plinth;
    const parent = await authz.roles.create({ body: { name: 'Viewer' } });
    await authz.roles.create({ body: { ...editor, parent_id: parent.id } });
    await tenant.refused(409, 'role is the parent of other roles', ({ authz }) =>
      authz.roles.delete({ roleId: parent.id }),
    );
  });
});
