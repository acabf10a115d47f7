import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';

const policy = {
  name: 'No edits after hours',
  effect: 'deny' as const,
  priority: 10,
  subjects: ['*'],
  actions: ['write'],
  resources: ['document:*'],
  conditions: [{ field: 'time', operator: 'time_after' as const, value: '18:00', timezone: 'Europe/Berlin' }],
};
const absent = 'pol_01m7w4n5e0fxk8yftq08a3zr9z';

contract('Policies', (api) => {
  describe('create', () => {
    it('201 with the policy as stored', async () => {
      const { authz } = api.tenant().plinth;
      expect(await authz.policies.create({ body: policy })).toMatchObject({ ...policy, is_active: true });
    });

    it('409 when the name is taken', async () => {
      const tenant = api.tenant();
      await tenant.plinth.authz.policies.create({ body: policy });
      await tenant.refused(409, 'policy name already exists', ({ authz }) =>
        authz.policies.create({ body: policy }),
      );
    });
  });

  describe('list', () => {
    it('200 with the policies of the tenant', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.policies.create({ body: policy });
      expect(await authz.policies.list({ effect: 'deny', is_active: true })).toMatchObject([{ id }]);
    });
  });

  describe('get', () => {
    it('200 with the policy', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.policies.create({ body: policy });
      expect(await authz.policies.get({ policyId: id })).toMatchObject({ id, ...policy });
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'policy not found', ({ authz }) => authz.policies.get({ policyId: absent })));
  });

  describe('update', () => {
    it('200 with the policy as it is now', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.policies.create({ body: { ...policy, priority: 0 } });
      expect(await authz.policies.update({ policyId: id, body: { priority: 10 } })).toMatchObject(policy);
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'policy not found', ({ authz }) =>
          authz.policies.update({ policyId: absent, body: { priority: 10 } }),
        ));

    it('409 when another policy has the name', async () => {
      const tenant = api.tenant();
      await tenant.plinth.authz.policies.create({ body: policy });
      const { id } = await tenant.plinth.authz.policies.create({ body: { ...policy, name: 'Other' } });
      await tenant.refused(409, 'policy name already exists', ({ authz }) =>
        authz.policies.update({ policyId: id, body: { name: policy.name } }),
      );
    });
  });

  describe('delete', () => {
    it('204', async () => {
      const { authz } = api.tenant().plinth;
      const { id } = await authz.policies.create({ body: policy });
      await authz.policies.delete({ policyId: id });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'policy not found', ({ authz }) => authz.policies.delete({ policyId: absent })));
  });
});

behaviour('Policies', (api) => {
  it('400 when a condition compares with what its operator cannot', () =>
    api.tenant().refused(400, /^conditions\[0\]/, ({ authz }) =>
      authz.policies.create({
        body: { ...policy, conditions: [{ field: 'context.age', operator: 'gt', value: 'old' }] },
      }),
    ));
});
