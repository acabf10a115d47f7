import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { absent } from './offers.ts';

/** Each state is used once, because all tenants share the rates. */
const newRate = () => ({
  country: 'us',
  state: randomBytes(6).toString('hex'),
  name: 'Sales tax',
  rate: '7.25',
});

contract('TaxRates', (api) => {
  const operator = () => api.operator();

  describe('create', () => {
    it('201 with the rate', async () => {
      const body = newRate();
      const { data, response } = await operator().plinth.billing.taxRates.create({ body }).response();
      expect(response.status).toBe(201);
      if (api.target === 'server') expect(data).toMatchObject({ ...body, country: 'US' });
    });

    it('403 for everybody but the operator', async () => {
      const key = await api.tenant().withKey(['billing:admin']);
      await key.refused(403, 'operator only', ({ billing }) => billing.taxRates.create({ body: newRate() }));
    });

    it('409 when the state has a rate', async () => {
      const body = newRate();
      await operator().plinth.billing.taxRates.create({ body });
      await operator().refused(409, 'country: has a rate for this state already', ({ billing }) =>
        billing.taxRates.create({ body: { ...body, state: body.state.toUpperCase(), country: 'US' } }),
      );
    });
  });

  describe('list', () => {
    it('200 with the newest first', async () => {
      const { id } = await operator().plinth.billing.taxRates.create({ body: newRate() });
      const { data } = await api.tenant().plinth.billing.taxRates.list({ limit: 1 });
      expect(data).toHaveLength(1);
      if (api.target === 'server') expect(data[0]?.id).toBe(id);
    });
  });

  describe('delete', () => {
    it('204', async () => {
      const { id } = await operator().plinth.billing.taxRates.create({ body: newRate() });
      await operator().plinth.billing.taxRates.delete({ id });
    });

    it('404 when it does not exist', () =>
      operator().refused(404, 'tax rate not found', ({ billing }) =>
        billing.taxRates.delete({ id: absent.taxRate }),
      ));
  });
});
