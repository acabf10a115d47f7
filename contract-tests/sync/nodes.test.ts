import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { push, write } from './replicas.ts';

contract('Nodes', (api) => {
  describe('list', () => {
    it('200 with the nodes and their owners', async () => {
      const tenant = api.tenant();
      await push(tenant, 'phone-1', write('phone-1'));
      const [node] = await tenant.plinth.sync.nodes.list();
      expect(node!.node_id).toBe('phone-1');
      if (api.target === 'server') expect(node!.owner).toBe('root:root');
    });
  });

  describe('delete', () => {
    it('204, and the id is free', async () => {
      const tenant = api.tenant();
      await push(await tenant.withKey(['sync:write']), 'phone-1');
      const { response } = await tenant.plinth.sync.nodes.delete({ nodeId: 'phone-1' }).response();
      expect(response.status).toBe(204);
      await push(await tenant.withKey(['sync:write']), 'phone-1');
    });

    it('404 when nobody uses the id', () =>
      api.tenant().refused(404, 'node not found', ({ sync }) => sync.nodes.delete({ nodeId: 'none' })));
  });
});

contract('Tables', (api) => {
  it('200 with the tables by name', async () => {
    const tenant = api.tenant();
    await push(tenant, 'phone-1', write('phone-1'));
    const [table] = await tenant.plinth.sync.tables.list();
    expect(table!.name).toBe('notes');
  });
});

contract('Info', (api) => {
  it('200 with what a client needs', async () => {
    const info = await api.tenant().plinth.sync.info.get();
    expect(info).toMatchObject({ max_push_bytes: 8_388_608, max_changes: 5_000, max_clock_drift: '5s' });
    if (api.target === 'server') expect(info.epoch).toBeNull();
  });
});
