import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { foreign, foreignText, push, write } from './replicas.ts';

const resync = 'resync required';

contract('Changes', (api) => {
  describe('pull', () => {
    it('200 with the changes and the watermark', async () => {
      const tenant = api.tenant();
      await push(tenant, 'phone-1', write('phone-1'));
      const { Changes, LatestHLC, HasMore } = await tenant.plinth.sync.changes.pull({ body: {} });
      expect(Changes[0]).toMatchObject({ table: 'notes', pk: 'note-17', field: 'title', value: 'Shopping' });
      expect([LatestHLC.node_id.slice(0, 1), HasMore]).toEqual(['@', false]);
    });

    it('400 when its own changes cannot be told', () =>
      api
        .tenant()
        .refused(400, 'ExcludeOwn: needs NodeID', ({ sync }) =>
          sync.changes.pull({ body: { ExcludeOwn: true } }),
        ));

    it('410 for the watermark of another life', () =>
      api.tenant().refused(410, resync, ({ sync }) => sync.changes.pull({ body: { Since: foreign } })));
  });

  describe('push', () => {
    it('200 with the number of merged changes and the clock', async () => {
      const { Merged, LatestHLC } = await push(api.tenant(), 'phone-1', write('phone-1'), write('phone-1'));
      expect([Merged, LatestHLC.node_id]).toEqual([2, '@clock']);
    });

    it('400 for a change that is not complete', () =>
      api
        .tenant()
        .refused(400, 'Changes[0].field: required', (plinth) =>
          push({ plinth }, 'phone-1', write('phone-1', { field: '' })),
        ));

    it('403 for the node of another subject', async () => {
      const tenant = api.tenant();
      await push(await tenant.withKey(['sync:write']), 'phone-1');
      const other = await tenant.withKey(['sync:write']);
      await other.refused(403, 'node id belongs to another subject', (plinth) => push({ plinth }, 'phone-1'));
    });

    it('409 for too many tables', () =>
      api
        .tenant()
        .refused(409, 'limit reached: 256 tables', (plinth) =>
          push({ plinth }, 'n', ...Array.from({ length: 257 }, (_, n) => write('n', { table: `t${n}` }))),
        ));
  });

  describe('stream', () => {
    it('200 with an event of each change', async () => {
      const tenant = api.tenant();
      await push(tenant, 'phone-1', write('phone-1'));
      for await (const event of tenant.plinth.sync.changes.stream()) {
        if (event.event !== 'changes') continue;
        expect(event.data.Changes[0]).toMatchObject({ pk: 'note-17' });
        break;
      }
    });

    it('400 when its own changes cannot be told', () =>
      api.tenant().refused(400, 'exclude_own: needs node_id', async ({ sync }) => {
        for await (const _ of sync.changes.stream({ exclude_own: true })) break;
      }));

    it('410 for the watermark of another life', () =>
      api.tenant().refused(410, resync, async ({ sync }) => {
        for await (const _ of sync.changes.stream({ since: foreignText })) break;
      }));
  });
});

behaviour('Changes', (api) => {
  it('reach another node as they were written, and a resumed stream', async () => {
    const tenant = api.tenant();
    const first = write('phone-1');
    await push(tenant, 'phone-1', first);
    const { LatestHLC } = await tenant.plinth.sync.changes.pull({ body: { NodeID: 'laptop-2' } });
    const second = write('phone-1', { pk: 'note-18', hlc: { timestamp: 1, counter: 0, node_id: 'phone-1' } });
    await push(tenant, 'phone-1', second);
    const next = await tenant.plinth.sync.changes.pull({ body: { NodeID: 'laptop-2', Since: LatestHLC } });
    expect(next.Changes).toEqual([second]);
  });
});
