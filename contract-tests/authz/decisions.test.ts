import { describe, expect, it } from 'vitest';
import type { Plinth } from '../../sdk/src/index.ts';
import { behaviour, contract } from '../harness.ts';

const check = {
  ...{ subject_kind: 'user', subject_id: 'user-42', action: 'read' },
  ...{ resource_type: 'document', resource_id: 'readme' },
};

/** Stores a role that allows the check in the examples. */
async function allowing({ authz }: Plinth): Promise<void> {
  const role = await authz.roles.create({ body: { name: 'Editor', slug: 'editor' } });
  const permission = await authz.permissions.create({ body: { resource: 'document', action: 'read' } });
  await authz.roles.attachPermission({ roleId: role.id, body: { permission_id: permission.id } });
  await authz.assignments.create({ body: { role_id: role.id, subject_kind: 'user', subject_id: 'user-42' } });
}

contract('Decisions', (api) => {
  const allowed = {
    ...{ allowed: true, decision: 'allow', sources: ['rbac'] },
    reason: 'role "editor" grants "document:read"',
  };

  it('check: 200 with the decision', async () => {
    const { plinth } = api.tenant();
    await allowing(plinth);
    expect(await plinth.authz.decisions.check({ body: check })).toMatchObject(allowed);
  });

  describe('enforce', () => {
    it('200 when allowed', async () => {
      const { plinth } = api.tenant();
      await allowing(plinth);
      expect(await plinth.authz.decisions.enforce({ body: check })).toMatchObject(allowed);
    });

    it('403 with the envelope and the decision when denied', async () => {
      const reason = 'user "user-9" has no role, relation or policy that grants "document:read"';
      const body = await api
        .tenant()
        .refused(403, reason, ({ authz }) =>
          authz.decisions.enforce({ body: { ...check, subject_id: 'user-9' } }),
        );
      expect(body).toMatchObject({
        ...{ error: { code: 403, message: reason }, allowed: false, decision: 'deny', reason, sources: [] },
      });
    });
  });

  it('batchCheck: 200 with the decisions in the order of the checks', async () => {
    const { plinth } = api.tenant();
    await allowing(plinth);
    const checks = [check, { ...check, action: 'share' }];
    const { results } = await plinth.authz.decisions.batchCheck({ body: { checks } });
    expect(results.map((result) => result.allowed)).toEqual([true, false]);
  });

  it('explain: 200 with the decision and what is missing', async () => {
    const { plinth } = api.tenant();
    await allowing(plinth);
    const explanation = await plinth.authz.decisions.explain({ body: { ...check, subject_id: 'u-9' } });
    expect(explanation.allowed).toBe(false);
    expect(explanation.missing[0]).toMatchObject({ kind: 'role', detail: 'editor' });
  });

  it('listObjects: 200 with the resources', async () => {
    const { plinth } = api.tenant();
    const writes = ['handbook', 'readme'].map((object_id) => ({
      ...{
        object_type: 'document',
        object_id,
        relation: 'read',
        subject_type: 'user',
        subject_id: 'user-42',
      },
    }));
    await plinth.authz.relations.batch({ body: { writes } });
    const { resource_id: _, ...query } = check;
    expect(await plinth.authz.decisions.listObjects({ body: query })).toMatchObject({
      ...{ resource_ids: ['handbook', 'readme'], all: false, complete: true, next_cursor: '' },
    });
  });

  it('listSubjects: 200 with the subjects', async () => {
    const { plinth } = api.tenant();
    const writes = ['user-42', 'user-7'].map((subject_id) => ({
      ...{ object_type: 'document', object_id: 'readme', relation: 'read', subject_type: 'user', subject_id },
    }));
    await plinth.authz.relations.batch({ body: { writes } });
    const { subject_id: _, ...query } = check;
    expect(await plinth.authz.decisions.listSubjects({ body: query })).toMatchObject({
      ...{ subject_ids: ['user-42', 'user-7'], all: false, complete: true, next_cursor: '' },
    });
  });
});

behaviour('Decisions', (api) => {
  it('403 for a missing scope has no decision', async () => {
    const stranger = await api.tenant().withKey(['authz:write']);
    const body = await stranger.refused(403, /scope/, ({ authz }) =>
      authz.decisions.enforce({ body: check }),
    );
    expect(Object.keys(body as object)).toEqual(['error']);
  });

  it('400 when the revision is not reached, and when an item of a batch is wrong', async () => {
    const tenant = api.tenant();
    await tenant.refused(400, 'min_revision: not reached', ({ authz }) =>
      authz.decisions.check({ body: { ...check, min_revision: 1 } }),
    );
    await tenant.refused(400, /^checks\[1\]\.action: /, ({ authz }) =>
      authz.decisions.batchCheck({ body: { checks: [check, { ...check, action: '*' }] } }),
    );
  });
});
