import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { absentUser, tenantWithApp } from './people.ts';

const editor = { name: 'Editor', slug: 'editor', description: 'May edit documents' };
const writing = { action: 'write', resource: 'retrieval' };
const absent = 'arole_01m7w6qgepfq9s8v8jbffcqvb9';
const absentPermission = 'aperm_01m7w6qgepfq9s8v8vem8gxj19';

contract('auth Roles', (api) => {
  describe('create', () => {
    it('201 with the role as stored', async () => {
      const { auth } = (await tenantWithApp(api)).plinth;
      expect(await auth.roles.create({ body: editor })).toMatchObject({
        ...editor,
        parent_id: null,
        system: false,
      });
    });

    it('404 in an app that does not exist', () =>
      api
        .operator()
        .refused(404, 'app not found', ({ auth }) =>
          auth.roles.create({ body: { ...editor, app_id: 'nowhere' } }),
        ));

    it('409 when the slug is taken', async () => {
      const tenant = await tenantWithApp(api);
      await tenant.plinth.auth.roles.create({ body: editor });
      await tenant.refused(409, 'slug already taken', ({ auth }) => auth.roles.create({ body: editor }));
    });
  });

  describe('list', () => {
    it('200 with the roles of the app', async () => {
      const { auth } = (await tenantWithApp(api)).plinth;
      await auth.roles.create({ body: editor });
      const { roles } = await auth.roles.list();
      expect(roles).toContainEqual(expect.objectContaining(editor));
    });

    it('404 of an app that does not exist', () =>
      api.operator().refused(404, 'app not found', ({ auth }) => auth.roles.list({ app_id: 'nowhere' })));
  });

  describe('one role', () => {
    it('200 when it is read, changed and deleted', async () => {
      const { auth } = (await tenantWithApp(api)).plinth;
      const { id } = await auth.roles.create({ body: { ...editor, name: 'Old name' } });
      await auth.roles.get({ roleId: id });
      expect(await auth.roles.update({ roleId: id, body: { name: editor.name } })).toMatchObject(editor);
      expect(await auth.roles.delete({ roleId: id })).toEqual({ status: 'deleted' });
    });

    it('404 when it does not exist', async () => {
      const tenant = await tenantWithApp(api);
      await tenant.refused(404, 'role not found', ({ auth }) => auth.roles.get({ roleId: absent }));
      await tenant.refused(404, 'role not found', ({ auth }) =>
        auth.roles.update({ roleId: absent, body: { name: 'x' } }),
      );
      await tenant.refused(404, 'role not found', ({ auth }) => auth.roles.delete({ roleId: absent }));
    });

    it("409 when it is one of the app's own", async () => {
      const tenant = await tenantWithApp(api);
      const { roles } = await tenant.plinth.auth.roles.list();
      const { id } = roles.find(({ slug }) => slug === 'user') ?? roles[0]!;
      await tenant.refused(409, 'system role', ({ auth }) =>
        auth.roles.update({ roleId: id, body: { name: 'Mine' } }),
      );
      await tenant.refused(409, 'system role', ({ auth }) => auth.roles.delete({ roleId: id }));
    });
  });

  describe('permissions', () => {
    it('201 when one is added, 200 when they are listed and one is removed', async () => {
      const { auth } = (await tenantWithApp(api)).plinth;
      const { id: roleId } = await auth.roles.create({ body: editor });
      const permission = await auth.roles.addPermission({ roleId, body: writing });
      expect(permission).toMatchObject({ ...writing, scope: 'retrieval:write' });
      expect(await auth.roles.listPermissions({ roleId })).toEqual({ permissions: [permission] });
      expect(await auth.roles.removePermission({ roleId, permissionId: permission.id })).toEqual({
        status: 'removed',
      });
    });

    it('404 when the role or the permission does not exist', async () => {
      const tenant = await tenantWithApp(api);
      await tenant.refused(404, 'role not found', ({ auth }) =>
        auth.roles.addPermission({ roleId: absent, body: writing }),
      );
      await tenant.refused(404, 'role not found', ({ auth }) =>
        auth.roles.listPermissions({ roleId: absent }),
      );
      const { id: roleId } = await tenant.plinth.auth.roles.create({ body: editor });
      await tenant.refused(404, 'permission not found', ({ auth }) =>
        auth.roles.removePermission({ roleId, permissionId: absentPermission }),
      );
    });

    it('409 when the role has it already', async () => {
      const tenant = await tenantWithApp(api);
      const { id: roleId } = await tenant.plinth.auth.roles.create({ body: editor });
      await tenant.plinth.auth.roles.addPermission({ roleId, body: writing });
      await tenant.refused(409, 'permission already in the role', ({ auth }) =>
        auth.roles.addPermission({ roleId, body: writing }),
      );
    });
  });

  describe('assign and unassign', () => {
    it('200, again and again', async () => {
      const { auth } = (await tenantWithApp(api)).plinth;
      const { id: roleId } = await auth.roles.create({ body: editor });
      const { id: user_id } = await auth.users.create({ body: { email: 'ada@example.com' } });
      for (const _ of [1, 2])
        expect(await auth.roles.assign({ roleId, body: { user_id } })).toEqual({ status: 'assigned' });
      for (const _ of [1, 2])
        expect(await auth.roles.unassign({ roleId, body: { user_id } })).toEqual({ status: 'unassigned' });
    });

    it('404 when the user does not exist', async () => {
      const tenant = await tenantWithApp(api);
      const { id: roleId } = await tenant.plinth.auth.roles.create({ body: editor });
      await tenant.refused(404, 'user not found', ({ auth }) =>
        auth.roles.assign({ roleId, body: { user_id: absentUser } }),
      );
      await tenant.refused(404, 'user not found', ({ auth }) =>
        auth.roles.unassign({ roleId, body: { user_id: absentUser } }),
      );
    });
  });
});
