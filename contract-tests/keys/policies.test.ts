import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';

const partners = {
  name: 'Partners',
  rate_limit: 1000,
  allowed_ips: ['203.0.113.0/24'],
  max_key_age: '2160h',
};
const absent = 'kpol_01m7w6qgepfq9s8vbysg9zj04z';

contract('Policies', (api) => {
  describe('create', () => {
    it('201 with the policy as stored', async () => {
      const { keys } = api.tenant().plinth;
      expect(await keys.policies.create({ body: partners })).toMatchObject(partners);
    });

    it('409 when the name is taken', async () => {
      const tenant = api.tenant();
      await tenant.plinth.keys.policies.create({ body: partners });
      await tenant.refused(409, 'policy name already exists', ({ keys }) =>
        keys.policies.create({ body: partners }),
      );
    });
  });

  describe('list', () => {
    it('200 with the policies of the tenant', async () => {
      const { keys } = api.tenant().plinth;
      const { id } = await keys.policies.create({ body: partners });
      expect((await keys.policies.list()).map((policy) => policy.id)).toEqual([id]);
    });
  });

  describe('get', () => {
    it('200 with the policy', async () => {
      const { keys } = api.tenant().plinth;
      const { id } = await keys.policies.create({ body: partners });
      expect(await keys.policies.get({ policyId: id })).toMatchObject(partners);
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'policy not found', ({ keys }) => keys.policies.get({ policyId: absent })));
  });

  describe('update', () => {
    it('200 with the policy as it is now', async () => {
      const { keys } = api.tenant().plinth;
      const { id } = await keys.policies.create({ body: { ...partners, rate_limit: 1 } });
      expect(await keys.policies.update({ policyId: id, body: { rate_limit: 1000 } })).toMatchObject(
        partners,
      );
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'policy not found', ({ keys }) =>
          keys.policies.update({ policyId: absent, body: { rate_limit: 1000 } }),
        ));

    it('409 when another one has the name', async () => {
      const tenant = api.tenant();
      const { keys } = tenant.plinth;
      await keys.policies.create({ body: partners });
      const { id } = await keys.policies.create({ body: { name: 'Customers' } });
      await tenant.refused(409, 'policy name already exists', (plinth) =>
        plinth.keys.policies.update({ policyId: id, body: { name: partners.name } }),
      );
    });
  });

  describe('delete', () => {
    it('204', async () => {
      const { keys } = api.tenant().plinth;
      const { id } = await keys.policies.create({ body: partners });
      await keys.policies.delete({ policyId: id });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'policy not found', ({ keys }) => keys.policies.delete({ policyId: absent })));

    it('409 while a key uses it', async () => {
      const tenant = api.tenant();
      const { id } = await tenant.plinth.keys.policies.create({ body: partners });
      await tenant.plinth.keys.keys.create({ body: { name: 'Reporting job', policy_id: id } });
      await tenant.refused(409, 'policy is used by 1 key', ({ keys }) =>
        keys.policies.delete({ policyId: id }),
      );
    });
  });
});

behaviour('Policies', (api) => {
  it('a change acts on all keys of the policy at once', async () => {
    const { keys } = api.tenant().plinth;
    const { id } = await keys.policies.create({ body: { name: 'Partners' } });
    const made = await Promise.all(
      ['a', 'b'].map((name) => keys.keys.create({ body: { name, policy_id: id } })),
    );
    await keys.policies.update({
      policyId: id,
      body: { allowed_ips: ['203.0.113.0/24'], require_context: true },
    });
    for (const { raw_key } of made) {
      expect((await keys.keys.validate({ body: { raw_key } })).code).toBe('CONTEXT_REQUIRED');
      expect((await keys.keys.validate({ body: { raw_key, ip: '198.51.100.7' } })).code).toBe(
        'IP_NOT_ALLOWED',
      );
      expect((await keys.keys.validate({ body: { raw_key, ip: '203.0.113.7' } })).code).toBe('VALID');
    }
  });
});
