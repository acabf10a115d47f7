import { describe, expect, it } from 'vitest';
import { behaviour, contract, type Tenant } from '../harness.ts';

const absent = 'key_01m7w6qgepfq9s8vbpxf0zva7z';
const request = { method: 'GET', endpoint: '/v1/reports', user_agent: 'curl/8.5.0' };

/** Creates a key of the tenant that was used once. */
async function use({ plinth: { keys } }: Tenant): Promise<string> {
  const { raw_key, key } = await keys.keys.create({ body: { name: 'Reporting job' } });
  await keys.keys.validate({ body: { raw_key, ip: '203.0.113.7', ...request } });
  return key.id;
}

contract('Usage', (api) => {
  describe('forKey', () => {
    it('200 with the uses of the key', async () => {
      const tenant = api.tenant();
      const keyId = await use(tenant);
      const [record] = await tenant.plinth.keys.usage.forKey({ keyId });
      expect(record).toMatchObject({
        key_id: keyId,
        source: 'validation',
        outcome: 'VALID',
        ip_address: '203.0.113.7',
        ...request,
      });
    });

    it('404 when the key does not exist', () =>
      api
        .tenant()
        .refused(404, 'key not found', async ({ keys }) => await keys.usage.forKey({ keyId: absent })));
  });

  describe('aggregateForKey', () => {
    it('200 with the sums of the key', async () => {
      const tenant = api.tenant();
      const keyId = await use(tenant);
      const [today] = await tenant.plinth.keys.usage.aggregateForKey({ keyId });
      expect(today).toMatchObject({ key_id: keyId, granularity: 'daily' });
    });

    it('404 when the key does not exist', () =>
      api
        .tenant()
        .refused(
          404,
          'key not found',
          async ({ keys }) => await keys.usage.aggregateForKey({ keyId: absent }),
        ));
  });

  describe('list', () => {
    it('200 with the uses of all keys', async () => {
      const tenant = api.tenant();
      const keyId = await use(tenant);
      expect((await tenant.plinth.keys.usage.list()).map(({ key_id }) => key_id)).toEqual([keyId]);
    });
  });

  describe('aggregate', () => {
    it('200 with the sums of all keys', async () => {
      const tenant = api.tenant();
      await use(tenant);
      const [today] = await tenant.plinth.keys.usage.aggregate({ granularity: 'daily' });
      expect(today).toMatchObject({ granularity: 'daily' });
    });
  });

  describe('report', () => {
    it('202 with how many are stored', async () => {
      const tenant = api.tenant();
      const key_id = await use(tenant);
      const records = [
        { key_id, status_code: 200, latency_ms: 12 },
        { key_id, status_code: 500, latency_ms: 13 },
        { key_id: absent },
      ];
      const receipt = await tenant.plinth.keys.usage.report({ body: { records } });
      expect(receipt).toEqual({ accepted: 2, rejected: [{ index: 2, error: 'key not found' }] });
    });
  });
});

behaviour('Usage', (api) => {
  it('what was answered can be read at once, one by one and added up', async () => {
    const tenant = api.tenant();
    const keyId = await use(tenant);
    const { usage } = tenant.plinth.keys;
    await usage.report({ body: { records: [{ key_id: keyId, status_code: 503, latency_ms: 40, cost: 3 }] } });
    expect((await usage.forKey({ keyId })).map(({ source }) => source).sort()).toEqual([
      'report',
      'validation',
    ]);
    expect(await usage.aggregate()).toMatchObject([
      {
        key_id: null,
        request_count: 2,
        valid_count: 2,
        error_count: 1,
        cost: 4,
        by_outcome: { VALID: 2 },
        latency_avg_ms: 40,
      },
    ]);
  });
});
