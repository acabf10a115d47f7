import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contract, type Api } from '../harness.ts';

const newName = () => `policy ${randomBytes(6).toString('hex')}`;
const policyId = 'spol_01m7w4n5e0zzzzzzzzzzzzzzzz';
const foreign = 'role_01h455vb4pex5vsknk084sn02q';

contract('Assignments of policies', (api: Api) => {
  const create = (scope_level: 'app' | 'tenant' = 'tenant') =>
    api.operator().plinth.safety.policies.create({ body: { name: newName(), scope_level } });

  describe('assign and unassign', () => {
    it('200 with the assignment, 409 when it is assigned already, then 204 and 404', async () => {
      const tenant = api.tenant();
      const { id } = await create();
      const assignment = await tenant.plinth.safety.policies.assign({ policyId: id });
      if (api.target === 'server') expect(assignment).toMatchObject({ policy_id: id, tenant_id: tenant.id });
      await tenant.refused(409, 'policy is already assigned', ({ safety }) =>
        safety.policies.assign({ policyId: id }),
      );
      await tenant.plinth.safety.policies.unassign({ policyId: id });
      await tenant.refused(404, 'policy is not assigned', ({ safety }) =>
        safety.policies.unassign({ policyId: id }),
      );
    });

    it('400 for a policy of level app, and for an id of another kind', async () => {
      const { id } = await create('app');
      const operator = api.operator();
      await operator.refused(400, /level app/, ({ safety }) => safety.policies.assign({ policyId: id }));
      await operator.refused(400, /must be an id/, ({ safety }) =>
        safety.policies.unassign({ policyId: foreign }),
      );
    });

    it('404 for a policy that does not exist', () =>
      api.operator().refused(404, 'policy not found', ({ safety }) => safety.policies.assign({ policyId })));
  });

  describe('listAssignments', () => {
    it('200 with those of the tenant', async () => {
      const { id } = await create();
      const tenant = api.tenant();
      await tenant.plinth.safety.policies.assign({ policyId: id });
      const listed = [];
      for await (const one of tenant.plinth.safety.policies.listAssignments({ policyId: id }))
        listed.push(one);
      expect(listed.length).toBeGreaterThan(0);
    });

    it('400 with an id of another kind, and 404 for a policy that does not exist', async () => {
      const list = (id: string) => async (plinth: ReturnType<Api['tenant']>['plinth']) => {
        for await (const _ of plinth.safety.policies.listAssignments({ policyId: id })) return;
      };
      await api.operator().refused(400, /must be an id/, list(foreign));
      await api.operator().refused(404, 'policy not found', list(policyId));
    });
  });
});
