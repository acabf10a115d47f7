/** Refusals that take a long time or large numbers. The server under test waits briefly, and has a separate database. */
import { describe, expect, it } from 'vitest';
import { ownServer } from '../own-server.ts';
import { targetOf } from '../targets.ts';
import { abc, newBucket, send } from './content.ts';

describe.skipIf(!targetOf('server'))('Limits of storage', () => {
  const own = ownServer({ PLINTH_STORAGE_IDLE_TIMEOUT: '1s' });

  it('Objects.put, Uploads.uploadPart, Cas.put: 408 when the body stalls', async () => {
    const tenant = own.api.tenant();
    await newBucket(tenant);
    const { id } = await tenant.plinth.storage.uploads.create({ bucket: 'photos', body: { key: 'film' } });
    const stalled = async (path: string) => {
      const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('abc')) });
      const headers = { 'content-type': 'image/jpeg' };
      // Fetch wants the duplex of a stream, which the types of the DOM do not know.
      const init = { method: 'PUT', headers, body, duplex: 'half' };
      const response = await tenant.fetch(`/storage/store/v1${path}`, init);
      return [response.status, await response.json()];
    };
    const paths = ['/buckets/photos/objects/slow', `/buckets/photos/uploads/${id}/parts/1`, '/cas'];
    const answers = await Promise.all(paths.map(stalled));
    expect(answers).toEqual(paths.map(() => [408, { error: 'body stalled', code: 408 }]));
  });

  it('Cas.put: 409 beyond 10,000 references', async () => {
    const tenant = own.api.tenant();
    await send(tenant, 'PUT', '/cas', {}, 'abc');
    await own.database.run(`update storage.cas set refs = 10000 where tenant_id = '${tenant.id}'`);
    const refused = await send(tenant, 'PUT', '/cas?ref=more', {}, 'abc');
    expect([refused.status, await refused.json()]).toEqual([
      409,
      { error: 'limit reached: 10000 references', code: 409 },
    ]);
    expect((await send(tenant, 'GET', `/cas/${abc}`)).status).toBe(200);
  });
});
