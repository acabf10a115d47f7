import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, recorded } from './trail.ts';

contract('Streams', (api) => {
  describe('list', () => {
    it("200 with the tenant's own", async () => {
      const tenant = api.tenant();
      const { stream_id } = await recorded(tenant);
      expect((await tenant.plinth.audit.streams.list()).map(({ id }) => id)).toEqual([stream_id]);
    });
  });

  describe('get', () => {
    it('200 with the stream', async () => {
      const tenant = api.tenant();
      const { stream_id } = await recorded(tenant);
      expect(await tenant.plinth.audit.streams.get({ id: stream_id })).toMatchObject({ id: stream_id });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'audit: stream not found', ({ audit }) => audit.streams.get({ id: absent.stream })));
  });

  describe('export', () => {
    it('200 with a line for each number', async () => {
      const tenant = api.tenant();
      const { stream_id } = await recorded(tenant);
      const response = await tenant.plinth.audit.streams.export({ id: stream_id, to_seq: 1 });
      expect(response.headers.get('content-type')).toMatch(/^application\/x-ndjson/);
      const lines = (await response.text()).trimEnd().split('\n');
      expect(lines).toHaveLength(1);
      if (api.target === 'server')
        expect(JSON.parse(lines[0]!)).toMatchObject({ sequence: 1, record: { stream_id, v: 2 } });
    });

    it('400 for a range that ends before it begins', () =>
      api.tenant().refused(400, 'audit: from_seq is after to_seq', async ({ audit }) => {
        await audit.streams.export({ id: absent.stream, from_seq: 2, to_seq: 1 });
      }));

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'audit: stream not found', async ({ audit }) => {
        await audit.streams.export({ id: absent.stream });
      }));
  });
});

behaviour('Streams', (api) => {
  it('of a tenant are read by it and by the operator, and exported by those who administer', async () => {
    const tenant = api.tenant();
    const { stream_id: id, hash, sequence } = await recorded(tenant);
    const { head_seq, tenant_id } = await api.operator().plinth.audit.streams.get({ id });
    expect([head_seq >= sequence, tenant_id]).toEqual([true, tenant.id]);
    const reader = await tenant.withKey(['audit:read']);
    await reader.refused(403, 'audit: missing scope audit:admin', async ({ audit }) => {
      await audit.streams.export({ id });
    });
    const part = await tenant.plinth.audit.streams.export({ id, from_seq: sequence, to_seq: sequence });
    expect(JSON.parse(await part.text())).toMatchObject({ sequence, hash });
    await api.tenant().refused(404, 'audit: stream not found', ({ audit }) => audit.streams.get({ id }));
  });
});
