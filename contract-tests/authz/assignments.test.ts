import { describe, expect, it } from 'vitest';
import { behaviour, contract, type Tenant } from '../harness.ts';

const scope = {
  subject_kind: 'user',
  subject_id: 'user-42',
  resource_type: 'project',
  resource_id: 'project-123',
};
const absent = 'asgn_01m7w4n5e0e1q8bb9xy7pnsw2z';

/** Creates a role of the tenant, and the body that assigns it. */
async function assigning({ plinth }: Pick<Tenant, 'plinth'>) {
  const role = await plinth.authz.roles.create({ body: { name: 'Editor', slug: 'editor' } });
  return { ...scope, role_id: role.id };
}

contract('Assignments', (api) => {
  describe('create', () => {
    it('201 with the assignment as stored', async () => {
      const { plinth } = api.tenant();
      const body = await assigning({ plinth });
      expect(await plinth.authz.assignments.create({ body })).toMatchObject({ ...body, role_slug: 'editor' });
    });

    it('404 when the role does not exist', () =>
      api
        .tenant()
        .refused(404, 'role not found', ({ authz }) =>
          authz.assignments.create({ body: { ...scope, role_id: 'role_01m7w4n5e0f7drekxj50y51wjz' } }),
        ));

    it('409 when it exists', async () => {
      const tenant = api.tenant();
      const body = await assigning(tenant);
      await tenant.plinth.authz.assignments.create({ body });
      await tenant.refused(409, 'assignment already exists', ({ authz }) =>
        authz.assignments.create({ body }),
      );
    });
  });

  describe('list', () => {
    it('200 with the assignments of the subject', async () => {
      const { plinth } = api.tenant();
      const { id } = await plinth.authz.assignments.create({ body: await assigning({ plinth }) });
      const found = await plinth.authz.assignments.list({ subject_kind: 'user', subject_id: 'user-42' });
      expect(found).toMatchObject([{ id }]);
    });
  });

  describe('get', () => {
    it('200 with the assignment', async () => {
      const { plinth } = api.tenant();
      const { id } = await plinth.authz.assignments.create({ body: await assigning({ plinth }) });
      expect(await plinth.authz.assignments.get({ assignmentId: id })).toMatchObject({ id, ...scope });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'assignment not found', ({ authz }) =>
          authz.assignments.get({ assignmentId: absent }),
        ));
  });

  describe('delete', () => {
    it('204', async () => {
      const { plinth } = api.tenant();
      const { id } = await plinth.authz.assignments.create({ body: await assigning({ plinth }) });
      await plinth.authz.assignments.delete({ assignmentId: id });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'assignment not found', ({ authz }) =>
          authz.assignments.delete({ assignmentId: absent }),
        ));
  });
});

behaviour('Assignments', (api) => {
  it('400 when the resource has no type, and when it ends in the past', async () => {
    const tenant = api.tenant();
    const body = await assigning(tenant);
    await tenant.refused(400, 'resource_type: required with resource_id', ({ authz }) =>
      authz.assignments.create({ body: { ...body, resource_type: null } }),
    );
    await tenant.refused(400, 'expires_at: must be in the future', ({ authz }) =>
      authz.assignments.create({ body: { ...body, expires_at: '2020-01-01T00:00:00Z' } }),
    );
  });
});
