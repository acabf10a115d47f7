import { describe, expect, it } from 'vitest';
import { contract, type Api } from '../harness.ts';
import { organized, tenantWithApp } from './people.ts';

const engineRoom = { name: 'Engine room', slug: 'engine-room' };
const orgId = 'org_01m7w6qgepfq9s8v9m3zmg8529';
const teamId = 'team_01m7w6qgepfq9s8vaca1yxnv99';
const teamMemberId = 'tmem_01m7w6qgepfq9s8vag2c5k8r99';

async function withTeam(api: Api) {
  const { ada, orgId } = await organized(api);
  const { id } = await ada.plinth.auth.teams.create({ orgId, body: engineRoom });
  return { ada, of: { orgId, teamId: id } };
}

contract('auth Teams', (api) => {
  it('create: 201 with the team as stored', async () => {
    const { ada, orgId } = await organized(api);
    expect(await ada.plinth.auth.teams.create({ orgId, body: engineRoom })).toMatchObject(engineRoom);
  });

  it('list: 200 with the teams of the organization', async () => {
    const { ada, of } = await withTeam(api);
    expect((await ada.plinth.auth.teams.list({ orgId: of.orgId })).teams).toEqual([
      expect.objectContaining(engineRoom),
    ]);
  });

  it('create and list: 404 when the organization does not exist', async () => {
    const tenant = await tenantWithApp(api);
    const message = 'organization not found';
    await tenant.refused(404, message, ({ auth }) => auth.teams.list({ orgId }));
    await tenant.refused(404, message, ({ auth }) => auth.teams.create({ orgId, body: engineRoom }));
  });

  it('create and update: 409 when the slug is taken', async () => {
    const { ada, of } = await withTeam(api);
    await ada.refused(409, 'slug already taken', ({ auth }) =>
      auth.teams.create({ orgId: of.orgId, body: engineRoom }),
    );
    await ada.plinth.auth.teams.create({ orgId: of.orgId, body: { name: 'Other', slug: 'other' } });
    await ada.refused(409, 'slug already taken', ({ auth }) =>
      auth.teams.update({ ...of, body: { slug: 'other' } }),
    );
  });

  describe('one team', () => {
    it('200 when it is read, changed and deleted', async () => {
      const { ada, of } = await withTeam(api);
      const { teams } = ada.plinth.auth;
      expect(await teams.get(of)).toMatchObject(engineRoom);
      expect(await teams.update({ ...of, body: { name: engineRoom.name } })).toMatchObject(engineRoom);
      expect(await teams.delete(of)).toEqual({ status: 'deleted' });
    });

    it('404 when it does not exist', async () => {
      const { ada, orgId } = await organized(api);
      const of = { orgId, teamId };
      const message = 'team not found';
      await ada.refused(404, message, ({ auth }) => auth.teams.get(of));
      await ada.refused(404, message, ({ auth }) => auth.teams.update({ ...of, body: { name: 'x' } }));
      await ada.refused(404, message, ({ auth }) => auth.teams.delete(of));
      await ada.refused(404, message, ({ auth }) => auth.teams.members(of));
      await ada.refused(404, message, ({ auth }) =>
        auth.teams.addMember({ ...of, body: { user_id: ada.id } }),
      );
    });
  });

  describe('members', () => {
    it('201 when one is added, 200 when they are listed and one is removed', async () => {
      const { ada, of } = await withTeam(api);
      const { teams } = ada.plinth.auth;
      const { id } = await teams.addMember({ ...of, body: { user_id: ada.id } });
      expect((await teams.members(of)).members).toEqual([expect.objectContaining({ id })]);
      expect(await teams.removeMember({ ...of, teamMemberId: id })).toEqual({ status: 'removed' });
    });

    it('404 for who is not in it', async () => {
      const { ada, of } = await withTeam(api);
      await ada.refused(404, 'member not found', ({ auth }) =>
        auth.teams.removeMember({ ...of, teamMemberId }),
      );
    });

    it('409 for who is in it already', async () => {
      const { ada, of } = await withTeam(api);
      const body = { user_id: ada.id };
      await ada.plinth.auth.teams.addMember({ ...of, body });
      await ada.refused(409, 'already a member', ({ auth }) => auth.teams.addMember({ ...of, body }));
    });
  });
});
