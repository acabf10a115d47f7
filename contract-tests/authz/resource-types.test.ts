import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';

const document = {
  name: 'document',
  relations: [
    { name: 'parent', subjects: ['folder'] },
    { name: 'owner', subjects: ['user'] },
    { name: 'viewer', subjects: ['user', 'user:*', 'group#member'], expression: 'this + owner' },
    { name: 'banned', subjects: ['user'] },
  ],
  permissions: [
    { name: 'read', expression: '(viewer + parent->read) - banned' },
    { name: 'share', expression: 'owner & viewer' },
  ],
};
const owned = {
  ...{ object_type: 'document', object_id: 'readme', relation: 'owner' },
  ...{ subject_type: 'user', subject_id: 'user-42' },
};
const absent = 'rtype_01m7w4n5e0e6st3n4h4gzrq0rz';

contract('ResourceTypes', (api) => {
  describe('create', () => {
    it('201 with the type as stored', async () => {
      const { authz } = api.tenant().plinth;
      expect(await authz.resourceTypes.create({ body: document })).toMatchObject(document);
    });

    it('409 when the name is taken', async () => {
      const tenant = api.tenant();
      await tenant.plinth.authz.resourceTypes.create({ body: document });
      await tenant.refused(409, 'resource type already exists', ({ authz }) =>
        authz.resourceTypes.create({ body: document }),
      );
    });
  });

  describe('list', () => {
    it('200 with the types of the tenant', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.resourceTypes.create({ body: document });
      expect(await authz.resourceTypes.list()).toMatchObject([{ id }]);
    });
  });

  describe('get', () => {
    it('200 with the type', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.resourceTypes.create({ body: document });
      expect(await authz.resourceTypes.get({ resourceTypeId: id })).toMatchObject({ id, ...document });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'resource type not found', ({ authz }) =>
          authz.resourceTypes.get({ resourceTypeId: absent }),
        ));
  });

  describe('update', () => {
    it('200 with the type as it is now', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.resourceTypes.create({ body: { ...document, permissions: [] } });
      const { permissions } = document;
      expect(await authz.resourceTypes.update({ resourceTypeId: id, body: { permissions } })).toMatchObject(
        document,
      );
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'resource type not found', ({ authz }) =>
          authz.resourceTypes.update({ resourceTypeId: absent, body: { permissions: [] } }),
        ));

    it('409 when a relation that is removed has tuples', async () => {
      const tenant = api.tenant();
      const { id } = await tenant.plinth.authz.resourceTypes.create({ body: document });
      await tenant.plinth.authz.relations.write({ body: owned });
      await tenant.refused(409, 'relation "owner" still has tuples', ({ authz }) =>
        authz.resourceTypes.update({ resourceTypeId: id, body: { relations: [], permissions: [] } }),
      );
    });
  });

  describe('delete', () => {
    it('204', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.resourceTypes.create({ body: document });
      await authz.resourceTypes.delete({ resourceTypeId: id });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'resource type not found', ({ authz }) =>
          authz.resourceTypes.delete({ resourceTypeId: absent }),
        ));

    it('409 when it has tuples', async () => {
      const tenant = api.tenant();
      const { id } = await tenant.plinth.authz.resourceTypes.create({ body: document });
      await tenant.plinth.authz.relations.write({ body: owned });
      await tenant.refused(409, 'relation "owner" still has tuples', ({ authz }) =>
        authz.resourceTypes.delete({ resourceTypeId: id }),
      );
    });
  });
});

behaviour('ResourceTypes', (api) => {
  it('400 when an expression names what the type does not have', () =>
    api.tenant().refused(400, /^permissions\[0\]\.expression: /, ({ authz }) =>
      authz.resourceTypes.create({
        body: { name: 'page', permissions: [{ name: 'read', expression: 'reader' }] },
      }),
    ));
});
