import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, newCustomer, newName } from './offers.ts';

const notFound = 'customer not found';
const taken = 'email: belongs to another customer';
const noEmail = 'email: not an email address';

contract('Customers', (api) => {
  describe('create', () => {
    it('201 with the customer', async () => {
      const body = { name: 'Acme GmbH', email: `${newName()}@acme.example` };
      const { data, response } = await api.tenant().plinth.billing.customers.create({ body }).response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ name: 'Acme GmbH', currency: 'usd', balance: { amount: 0 } });
      if (api.target === 'server') expect(data).toMatchObject({ ...body, billing_address: null });
    });

    it('400 with what is no email address', () =>
      api
        .tenant()
        .refused(400, noEmail, ({ billing }) =>
          billing.customers.create({ body: { name: 'x', email: 'acme.example' } }),
        ));

    it('403 for another tenant', async () => {
      const key = await api.tenant().withKey(['billing:write']);
      const body = { name: 'x', email: 'x@acme.example', tenant_id: 'another' };
      await key.refused(403, /^tenant_id: /, ({ billing }) => billing.customers.create({ body }));
    });

    it('409 when another one has the address', async () => {
      const tenant = api.tenant();
      const { email } = await newCustomer(tenant);
      await tenant.refused(409, taken, ({ billing }) =>
        billing.customers.create({ body: { name: 'x', email: email.toUpperCase() } }),
      );
    });
  });

  describe('list', () => {
    it('200 with the customers of the tenant', async () => {
      const tenant = api.tenant();
      const { id } = await newCustomer(tenant);
      const { data, pagination } = await tenant.plinth.billing.customers.list();
      expect([data.map((one) => one.id), pagination.total]).toEqual([[id], 1]);
    });
  });

  describe('get and getByEmail', () => {
    it('200 with the customer', async () => {
      const tenant = api.tenant();
      const { id, email } = await newCustomer(tenant);
      const { customers } = tenant.plinth.billing;
      expect(await customers.get({ id })).toMatchObject({ id, email });
      expect(await customers.getByEmail({ email })).toMatchObject({ email });
    });

    it('404 when there is none', async () => {
      const tenant = api.tenant();
      await tenant.refused(404, notFound, ({ billing }) => billing.customers.get({ id: absent.customer }));
      await tenant.refused(404, notFound, ({ billing }) =>
        billing.customers.getByEmail({ email: 'nobody@acme.example' }),
      );
    });
  });

  describe('update', () => {
    it('200 with the customer as it is now', async () => {
      const tenant = api.tenant();
      const { id } = await newCustomer(tenant);
      const body = { name: 'Acme GmbH' };
      expect(await tenant.plinth.billing.customers.update({ id, body })).toMatchObject(body);
    });

    it('400 with what is no email address', async () => {
      const tenant = api.tenant();
      const { id } = await newCustomer(tenant);
      await tenant.refused(400, noEmail, ({ billing }) =>
        billing.customers.update({ id, body: { email: 'a b@acme.example' } }),
      );
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, notFound, ({ billing }) =>
          billing.customers.update({ id: absent.customer, body: { name: 'x' } }),
        ));

    it('409 when another one has the address', async () => {
      const tenant = api.tenant();
      const [{ id }, { email }] = [await newCustomer(tenant), await newCustomer(tenant)];
      await tenant.refused(409, taken, ({ billing }) => billing.customers.update({ id, body: { email } }));
    });
  });
});

behaviour('Customers', (api) => {
  it('another tenant reaches neither the id nor the address', async () => {
    const { id, email } = await newCustomer(api.tenant());
    const stranger = await api.tenant().withKey(['billing:*']);
    await stranger.refused(404, notFound, ({ billing }) => billing.customers.get({ id }));
    await stranger.refused(404, notFound, ({ billing }) => billing.customers.getByEmail({ email }));
    expect((await stranger.plinth.billing.customers.list()).data).toEqual([]);
  });

  it('an address is found in any case, and shown with all its members', async () => {
    const tenant = api.tenant();
    const { id, email } = await newCustomer(tenant, { billing_address: { country: 'de' } });
    const found = await tenant.plinth.billing.customers.getByEmail({ email: email.toUpperCase() });
    expect(found).toMatchObject({
      ...{ id, email },
      billing_address: {
        line1: null,
        line2: null,
        city: null,
        state: null,
        postal_code: null,
        country: 'DE',
      },
    });
  });
});
