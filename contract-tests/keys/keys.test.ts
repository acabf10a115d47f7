import { describe, expect, it } from 'vitest';
import { behaviour, contract, type Tenant } from '../harness.ts';

const job = { name: 'Reporting job', scopes: ['read:users', 'retrieval:read'], owner_id: 'customer-42' };
const absent = 'key_01m7w6qgepfq9s8vbpxf0zva7z';
const scopes = { scopes: ['read:users'] };

/** Creates a key of the tenant, on the mock and on the server. */
const issue = async ({ plinth }: Tenant) => (await plinth.keys.keys.create({ body: job })).key.id;

/** Creates a revoked key. On the mock, any key is revoked when the request asks for that answer. */
async function revoked(tenant: Tenant): Promise<string> {
  const keyId = await issue(tenant);
  await tenant.plinth.keys.keys.revoke({ keyId });
  return keyId;
}

contract('Keys', (api) => {
  describe('create', () => {
    it('201 with the raw key and the key, not to be stored on the way', async () => {
      const { data, response } = await api.tenant().plinth.keys.keys.create({ body: job }).response();
      expect(data.key).toMatchObject(job);
      expect(data.raw_key).toMatch(/^sk_live_[0-9A-Za-z]{55}$/);
      expect(response.headers.get('cache-control')).toBe('no-store');
    });

    it('404 when the policy does not exist', () =>
      api
        .tenant()
        .refused(404, 'policy not found', ({ keys }) =>
          keys.keys.create({ body: { ...job, policy_id: 'kpol_01m7w6qgepfq9s8vbysg9zj04z' } }),
        ));

    it('409 when it is repeated, because its answer was not kept', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'create-once' };
      const { key } = await tenant.plinth.keys.keys.create({ body: job }, once);
      await tenant.refused(409, new RegExp(key.id), ({ keys }) => keys.keys.create({ body: job }, once));
    });
  });

  describe('list', () => {
    it('200 with the keys of the tenant', async () => {
      const tenant = api.tenant();
      const id = await issue(tenant);
      expect((await tenant.plinth.keys.keys.list()).map((key) => key.id)).toEqual([id]);
    });
  });

  describe('get', () => {
    it('200 with the key', async () => {
      const tenant = api.tenant();
      const keyId = await issue(tenant);
      expect(await tenant.plinth.keys.keys.get({ keyId })).toMatchObject(job);
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'key not found', ({ keys }) => keys.keys.get({ keyId: absent })));
  });

  describe('update', () => {
    it('200 with the key as it is now', async () => {
      const tenant = api.tenant();
      const keyId = await issue(tenant);
      const body = { name: 'Reporting job' };
      expect(await tenant.plinth.keys.keys.update({ keyId, body })).toMatchObject(job);
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'key not found', ({ keys }) =>
          keys.keys.update({ keyId: absent, body: { name: 'Job' } }),
        ));

    it('409 when it is revoked', async () => {
      const tenant = api.tenant();
      const keyId = await revoked(tenant);
      await tenant.refused(409, 'key is revoked', ({ keys }) =>
        keys.keys.update({ keyId, body: { name: 'Job' } }),
      );
    });
  });

  describe('delete', () => {
    it('204', async () => {
      const tenant = api.tenant();
      await tenant.plinth.keys.keys.delete({ keyId: await issue(tenant) });
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'key not found', ({ keys }) => keys.keys.delete({ keyId: absent })));
  });

  describe('validate', () => {
    it('200 with the key and its scopes', async () => {
      const { keys } = api.tenant().plinth;
      const { raw_key } = await keys.keys.create({ body: job });
      expect(await keys.keys.validate({ body: { raw_key } })).toMatchObject({
        valid: true,
        code: 'VALID',
        scopes: job.scopes,
      });
    });
  });

  describe('rotate', () => {
    it('200 with a new raw key, not to be stored on the way', async () => {
      const tenant = api.tenant();
      const keyId = await issue(tenant);
      const { data, response } = await tenant.plinth.keys.keys
        .rotate({ keyId, body: { reason: 'scheduled' } })
        .response();
      expect(data).toMatchObject({
        key: { live_secrets: 2 },
        rotation: { reason: 'scheduled', grace_period: '24h' },
      });
      expect(data.raw_key.endsWith(data.key.hint)).toBe(true);
      expect(response.headers.get('cache-control')).toBe('no-store');
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'key not found', ({ keys }) => keys.keys.rotate({ keyId: absent })));

    it('409 when it is revoked', async () => {
      const tenant = api.tenant();
      const keyId = await revoked(tenant);
      await tenant.refused(409, 'key is revoked', ({ keys }) => keys.keys.rotate({ keyId }));
    });
  });

  describe.each(['suspend', 'reactivate'] as const)('%s', (method) => {
    it('200 with the key', async () => {
      const tenant = api.tenant();
      const keyId = await issue(tenant);
      await tenant.plinth.keys.keys.suspend({ keyId });
      expect(await tenant.plinth.keys.keys[method]({ keyId })).toMatchObject(job);
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'key not found', ({ keys }) => keys.keys[method]({ keyId: absent })));

    it('409 when it is revoked', async () => {
      const tenant = api.tenant();
      const keyId = await revoked(tenant);
      await tenant.refused(409, 'key is revoked', ({ keys }) => keys.keys[method]({ keyId }));
    });
  });

  describe('revoke', () => {
    it('200 with the key', async () => {
      const tenant = api.tenant();
      const keyId = await issue(tenant);
      expect(
        await tenant.plinth.keys.keys.revoke({ keyId, body: { reason: 'employee left' } }),
      ).toMatchObject(job);
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'key not found', ({ keys }) => keys.keys.revoke({ keyId: absent })));
  });

  describe('endGrace', () => {
    it('200 with the key', async () => {
      const tenant = api.tenant();
      const keyId = await issue(tenant);
      expect(await tenant.plinth.keys.keys.endGrace({ keyId })).toMatchObject({ ...job, live_secrets: 1 });
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'key not found', ({ keys }) => keys.keys.endGrace({ keyId: absent })));
  });

  describe.each(['assignScopes', 'removeScopes'] as const)('%s', (method) => {
    it('200 with the key', async () => {
      const tenant = api.tenant();
      const keyId = await issue(tenant);
      expect(await tenant.plinth.keys.keys[method]({ keyId, body: scopes })).toMatchObject({
        name: job.name,
      });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'key not found', ({ keys }) => keys.keys[method]({ keyId: absent, body: scopes })));

    it('409 when it is revoked', async () => {
      const tenant = api.tenant();
      const keyId = await revoked(tenant);
      await tenant.refused(409, 'key is revoked', ({ keys }) => keys.keys[method]({ keyId, body: scopes }));
    });
  });

  describe('rotations', () => {
    it('200 with what was done', async () => {
      const tenant = api.tenant();
      const keyId = await issue(tenant);
      await tenant.plinth.keys.keys.rotate({ keyId, body: { reason: 'scheduled' } });
      expect((await tenant.plinth.keys.keys.rotations({ keyId })).map(({ reason }) => reason)).toEqual([
        'scheduled',
      ]);
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'key not found', async ({ keys }) => await keys.keys.rotations({ keyId: absent })));
  });

  describe('whoami', () => {
    it('200 with the key of the request', async () => {
      const { plinth } = await api.tenant().withKey([]);
      expect(await plinth.keys.keys.whoami()).toMatchObject({ state: 'active' });
    });
  });

  describe('changes', () => {
    it('410 when the stream does not reach back that far', () =>
      api
        .operator()
        .refused(410, 'Last-Event-ID: too old', ({ keys }) =>
          keys.keys.changes({ 'Last-Event-ID': '999999999' }).response(),
        ));
  });
});

behaviour('Keys', (api) => {
  it('a revoked key is refused from the answer on', async () => {
    const { keys } = api.tenant().plinth;
    const { raw_key, key } = await keys.keys.create({ body: job });
    await keys.keys.revoke({ keyId: key.id });
    expect(await keys.keys.validate({ body: { raw_key } })).toMatchObject({ valid: false, code: 'REVOKED' });
  });

  it('both raw keys work while a rotation is in grace', async () => {
    const { keys } = api.tenant().plinth;
    const { raw_key, key } = await keys.keys.create({ body: job });
    const rotated = await keys.keys.rotate({ keyId: key.id });
    const old = await keys.keys.validate({ body: { raw_key } });
    expect(old).toMatchObject({ valid: true, grace_ends_at: rotated.rotation.grace_ends_at });
    expect(await keys.keys.validate({ body: { raw_key: rotated.raw_key } })).toMatchObject({
      valid: true,
      grace_ends_at: null,
    });
  });

  it('a change is told to whoever listens', async () => {
    const tenant = api.tenant();
    const keyId = await issue(tenant);
    const stream = api.operator().plinth.keys.keys.changes();
    await stream.response();
    await tenant.plinth.keys.keys.suspend({ keyId });
    for await (const { event, data } of stream) {
      if (data.id !== keyId) continue;
      expect([event, data.kind]).toEqual(['change', 'key']);
      break;
    }
  });

  it('a walk over the list meets every key once', async () => {
    const tenant = api.tenant();
    const ids = [];
    for (let count = 0; count < 5; count++) ids.unshift(await issue(tenant));
    const met = [];
    for await (const { id } of tenant.plinth.keys.keys.list({ limit: 2 })) met.push(id);
    expect(met).toEqual(ids);
  });
});
