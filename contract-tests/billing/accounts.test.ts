import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { absent, newCustomer } from './offers.ts';

const notFound = 'customer not found';
const { customer: id } = absent;
const amount = { amount: 1_000, currency: 'usd' };

contract('Customers beyond their record', (api) => {
  describe('delete', () => {
    it('204', async () => {
      const tenant = api.tenant();
      const customer = await newCustomer(tenant);
      const { response } = await tenant.plinth.billing.customers.delete({ id: customer.id }).response();
      expect(response.status).toBe(204);
    });

    it('404', () => api.tenant().refused(404, notFound, ({ billing }) => billing.customers.delete({ id })));

    it('409 while the customer has credit', async () => {
      if (api.target !== 'server') return;
      const tenant = api.tenant();
      const customer = await newCustomer(tenant);
      await api.operator().plinth.billing.customers.credit({ id: customer.id, body: { amount } });
      await tenant.refused(409, 'customer has credit', ({ billing }) =>
        billing.customers.delete({ id: customer.id }),
      );
    });
  });

  describe('credit', () => {
    it('200 with the balance', async () => {
      const customer = await newCustomer(api.tenant());
      const credited = await api
        .operator()
        .plinth.billing.customers.credit({ id: customer.id, body: { amount } });
      if (api.target === 'server') expect(credited.balance.amount).toBe(-1_000);
      else expect(credited).toHaveProperty('balance');
    });

    it('404', () =>
      api
        .operator()
        .refused(404, notFound, ({ billing }) => billing.customers.credit({ id, body: { amount } })));

    it('409 when the key was used with another body', async () => {
      const customer = await newCustomer(api.tenant());
      const body = { amount, idempotency_key: 'gift' };
      await api.operator().plinth.billing.customers.credit({ id: customer.id, body });
      await api
        .operator()
        .refused(409, /^idempotency_key: /, ({ billing }) =>
          billing.customers.credit({ id: customer.id, body: { ...body, amount: { ...amount, amount: 5 } } }),
        );
    });
  });

  it('200 with what a customer has', async () => {
    const tenant = api.tenant();
    const { id: own } = await newCustomer(tenant);
    const { customers } = tenant.plinth.billing;
    expect(await customers.usage({ id: own })).toHaveProperty('usage');
    expect(await customers.subscriptions({ id: own })).toHaveProperty('data');
    expect(await customers.invoices({ id: own })).toHaveProperty('data');
    const lines = await (await customers.export({ id: own })).text();
    expect(lines).toMatch(/^\{"kind":"customer"/);
  });

  it('404 for a customer that does not exist', async () => {
    const tenant = api.tenant();
    await tenant.refused(404, notFound, ({ billing }) => billing.customers.usage({ id }));
    await tenant.refused(404, notFound, ({ billing }) => billing.customers.subscriptions({ id }));
    await tenant.refused(404, notFound, ({ billing }) => billing.customers.invoices({ id }));
    await tenant.refused(404, notFound, ({ billing }) => billing.customers.export({ id }));
  });
});
