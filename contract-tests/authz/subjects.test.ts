import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';

const subject = { subjectKind: 'user', subjectId: 'user-42' };

contract('Subjects', (api) => {
  describe('listRoles', () => {
    it('200 with the roles and how the subject holds them', async () => {
      const { authz } = api.tenant().plinth;
      const role = await authz.roles.create({ body: { name: 'Editor', slug: 'editor' } });
      const { id } = await authz.assignments.create({
        body: { role_id: role.id, subject_kind: 'user', subject_id: 'user-42' },
      });
      expect(await authz.subjects.listRoles(subject)).toMatchObject([
        { id: role.id, slug: 'editor', via: 'assigned', assignment_id: id },
      ]);
    });
  });
});

behaviour('Subjects', (api) => {
  it('of another kind hold nothing', async () => {
    const { authz } = api.tenant().plinth;
    await authz.roles.create({ body: { name: 'Everybody', is_default: true } });
    expect(await authz.subjects.listRoles(subject)).toMatchObject([{ slug: 'everybody', via: 'default' }]);
    expect(await authz.subjects.listRoles({ ...subject, subjectKind: 'service' })).toHaveLength(0);
  });
});
