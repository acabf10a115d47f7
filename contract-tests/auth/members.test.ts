import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { organized, tenantWithApp } from './people.ts';

const orgId = 'org_01m7w6qgepfq9s8v9m3zmg8529';
const memberId = 'mem_01m7w6qgepfq9s8v9ww1d5x0g9';

contract('auth Members', (api) => {
  it('201 when one is added, 200 when they are listed, changed and removed', async () => {
    const { tenant, ada, orgId } = await organized(api);
    const { members } = ada.plinth.auth;
    const charles = await tenant.withUser();
    const { id: memberId } = await tenant.plinth.auth.members.add({ orgId, body: { user_id: charles.id } });
    expect((await members.list({ orgId })).members).not.toHaveLength(0);
    const changed = await members.update({ orgId, memberId, body: { role: 'admin' } });
    if (api.target === 'server') expect(changed.role).toBe('admin');
    expect(await members.remove({ orgId, memberId })).toEqual({ status: 'removed' });
  });

  it('404 when the organization does not exist', async () => {
    const tenant = await tenantWithApp(api);
    const { id } = await tenant.withUser();
    const message = 'organization not found';
    await tenant.refused(404, message, ({ auth }) => auth.members.list({ orgId }));
    await tenant.refused(404, message, ({ auth }) => auth.members.add({ orgId, body: { user_id: id } }));
  });

  it('404 when the member does not exist', async () => {
    const { ada, orgId } = await organized(api);
    const of = { orgId, memberId };
    await ada.refused(404, 'member not found', ({ auth }) =>
      auth.members.update({ ...of, body: { role: 'admin' } }),
    );
    await ada.refused(404, 'member not found', ({ auth }) => auth.members.remove(of));
  });

  it('add: 409 for who is a member already', async () => {
    const { tenant, ada, orgId } = await organized(api);
    await tenant.refused(409, 'already a member', ({ auth }) =>
      auth.members.add({ orgId, body: { user_id: ada.id } }),
    );
  });

  describe('the last owner', () => {
    it('409 when they are demoted or removed', async () => {
      const { ada, orgId } = await organized(api);
      const [owner] = (await ada.plinth.auth.members.list({ orgId })).members;
      const of = { orgId, memberId: owner!.id };
      await ada.refused(409, 'last owner of the organization', ({ auth }) =>
        auth.members.update({ ...of, body: { role: 'member' } }),
      );
      await ada.refused(409, 'last owner of the organization', ({ auth }) => auth.members.remove(of));
    });
  });
});
