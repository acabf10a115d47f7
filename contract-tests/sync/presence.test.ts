import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';

const Topic = 'notes:note-17';

contract('Presence', (api) => {
  describe('update', () => {
    it('200 with the event that others get', async () => {
      const body = { NodeID: 'phone-1', Topic, Data: { cursor: 42 } };
      expect(await api.tenant().plinth.sync.presence.update({ body })).toMatchObject({
        Type: 'join',
        ...body,
      });
    });

    it('403 for the node of another subject', async () => {
      const tenant = api.tenant();
      const body = { NodeID: 'phone-1', Topic, Data: 1 };
      await (await tenant.withKey(['sync:write'])).plinth.sync.presence.update({ body });
      const other = await tenant.withKey(['sync:write']);
      await other.refused(403, 'node id belongs to another subject', ({ sync }) =>
        sync.presence.update({ body }),
      );
    });

    it('409 on one topic too many', async () => {
      const tenant = api.tenant();
      const on = (n: number) => ({ NodeID: 'phone-1', Topic: `t${n}`, Data: n });
      const joins = Array.from({ length: 100 }, (_, n) => n);
      // Together, so that none of them expires before the last one.
      if (api.target === 'server')
        await Promise.all(joins.map((n) => tenant.plinth.sync.presence.update({ body: on(n) })));
      await tenant.refused(409, 'limit reached: 100 topics of a node', ({ sync }) =>
        sync.presence.update({ body: on(100) }),
      );
    });
  });

  describe('get', () => {
    it('200 with the nodes on the topic', async () => {
      const tenant = api.tenant();
      await tenant.plinth.sync.presence.update({ body: { NodeID: 'phone-1', Topic, Data: { cursor: 42 } } });
      const { States } = await tenant.plinth.sync.presence.get({ topic: Topic });
      expect(States.map(({ NodeID, Data }) => [NodeID, Data])).toEqual([['phone-1', { cursor: 42 }]]);
    });
  });
});
