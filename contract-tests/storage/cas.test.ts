import { expect, it } from 'vitest';
import { behaviour, type Tenant } from '../harness.ts';
import { abc, send } from './content.ts';

const absentHash = `sha256:${'0'.repeat(64)}`;

behaviour('Cas', (api) => {
  const put = (tenant: Tenant, query = '', content = 'abc', headers = {}) =>
    send(tenant, 'PUT', `/cas${query}`, headers, content);
  const withContent = async () => {
    const tenant = api.tenant();
    await put(tenant);
    return tenant;
  };

  it('put: 201 for new content, 200 for known content; 400', async () => {
    const tenant = api.tenant();
    const first = await put(tenant);
    expect([first.status, await first.json()]).toEqual([
      201,
      { hash: abc, size: 3, deduplicated: false, references: 1 },
    ]);
    const second = await put(tenant, '?ref=second');
    expect([second.status, await second.json()]).toEqual([
      200,
      { hash: abc, size: 3, deduplicated: true, references: 2 },
    ]);
    expect((await put(tenant, '', 'abc', { 'x-store-checksum': 'crc32c:00000000' })).status).toBe(400);
  });

  it('put: 413 when the quota of the tenant is used up', async () => {
    const tenant = api.tenant();
    await api
      .operator()
      .plinth.storage.admin.setQuota({ tenant: tenant.id, body: { quota_bytes: 3, quota_objects: 0 } });
    expect((await put(tenant)).status).toBe(201);
    expect((await put(tenant, '', 'abcd')).status).toBe(413);
  });

  it('get: 200, 206, 304, 400, 404, 412 and 416', async () => {
    const tenant = await withContent();
    const get = (hash: string, headers = {}) => send(tenant, 'GET', `/cas/${hash}`, headers);
    const whole = await get(abc);
    expect([whole.status, await whole.text()]).toEqual([200, 'abc']);
    const range = await get(abc, { range: 'bytes=1-' });
    expect([range.status, await range.text()]).toEqual([206, 'bc']);
    expect((await get(abc, { 'if-none-match': whole.headers.get('etag')! })).status).toBe(304);
    expect((await get('sha256:abc')).status).toBe(400);
    expect((await get(absentHash)).status).toBe(404);
    expect((await get(abc, { 'if-match': '"x"' })).status).toBe(412);
    expect((await get(abc, { range: 'bytes=9-' })).status).toBe(416);
  });

  it('head: 200, 400 and 404', async () => {
    const tenant = await withContent();
    const head = async (hash: string) => (await send(tenant, 'HEAD', `/cas/${hash}`)).status;
    expect([await head(abc), await head('sha256:abc'), await head(absentHash)]).toEqual([200, 400, 404]);
  });

  it('delete: 204, 400 and 404', async () => {
    const tenant = await withContent();
    const remove = async (hash: string) => (await send(tenant, 'DELETE', `/cas/${hash}`)).status;
    expect(await remove('sha256:abc')).toBe(400);
    expect(await remove(abc)).toBe(204);
    expect(await remove(abc)).toBe(404);
  });
});
