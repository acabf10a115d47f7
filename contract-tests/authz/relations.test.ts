import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';

const tuple = {
  ...{ object_type: 'document', object_id: 'readme', relation: 'viewer' },
  ...{ subject_type: 'group', subject_id: 'eng', subject_relation: 'member' },
};

contract('Relations', (api) => {
  describe('write', () => {
    it('201 with the tuple as stored', async () => {
      const { authz } = api.tenant().plinth;
      expect(await authz.relations.write({ body: tuple })).toMatchObject(tuple);
    });

    it('200 with the tuple that is there, when duplicates are ignored', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.relations.write({ body: tuple });
      expect(await authz.relations.write({ body: { ...tuple, on_duplicate: 'ignore' } })).toMatchObject({
        id,
      });
    });

    it('409 when it is there', async () => {
      const tenant = api.tenant();
      await tenant.plinth.authz.relations.write({ body: tuple });
      await tenant.refused(409, 'relation already exists', ({ authz }) =>
        authz.relations.write({ body: tuple }),
      );
    });
  });

  describe('list', () => {
    it('200 with the tuples of the object', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.relations.write({ body: tuple });
      const found = await authz.relations.list({ object_type: 'document', object_id: 'readme' });
      expect(found).toMatchObject([{ id }]);
    });
  });

  describe('delete', () => {
    it('204, whether or not it is there', async () => {
      const { authz } = api.tenant().plinth;
      await authz.relations.write({ body: tuple });
      await authz.relations.delete({ body: tuple });
      await authz.relations.delete({ body: tuple });
    });
  });

  describe('batch', () => {
    it('200 with what was done', async () => {
      const { authz } = api.tenant().plinth;
      const done = await authz.relations.batch({ body: { writes: [tuple], on_duplicate: 'ignore' } });
      expect(done).toMatchObject({ written: 1 });
    });

    it('409 when a tuple is there', async () => {
      const tenant = api.tenant();
      await tenant.plinth.authz.relations.write({ body: tuple });
      await tenant.refused(409, 'relation already exists', ({ authz }) =>
        authz.relations.batch({ body: { writes: [tuple] } }),
      );
    });
  });

  describe('purge', () => {
    it('200 with how many went and whether any is left', async () => {
      const { authz } = api.tenant().plinth;
      await authz.relations.batch({
        body: { writes: ['a', 'b', 'c'].map((subject_id) => ({ ...tuple, subject_id })) },
      });
      const done = await authz.relations.purge({ body: { object_type: 'document', object_id: 'readme' } });
      expect(done).toMatchObject({ deleted: 3, complete: true });
    });
  });
});

behaviour('Relations', (api) => {
  it('400 when a filter misses the one it needs', () =>
    api
      .tenant()
      .refused(400, 'object_type: required with object_id', ({ authz }) =>
        authz.relations.list({ object_id: 'readme' }),
      ));

  it('400 when a batch is empty or has a tuple twice', async () => {
    const tenant = api.tenant();
    await tenant.refused(400, 'writes: at least one write or delete is required', ({ authz }) =>
      authz.relations.batch({ body: {} }),
    );
    await tenant.refused(400, 'deletes[0]: the same tuple twice', ({ authz }) =>
      authz.relations.batch({ body: { writes: [tuple], deletes: [tuple] } }),
    );
  });
});
