import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Customer } from '../../../../generated/billing/types.ts';
import type { TestRequest, TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';

const clock = new TestClock('2026-01-15T09:55:00Z');
let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
  // Keeps the events in the outbox, as a consumer that has not had them would.
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('billing', 'test')`;
});
afterAll(() => server.close());

let count = 0;
const newTenant = () => `tenant-${++count}`;
const customer = async (more: object = {}, options: TestRequest = { tenant: 'acme' }): Promise<Customer> => {
  const body = { name: 'Acme GmbH', email: `c${++count}@acme.example`, ...more };
  return (await api.send('POST', '/billing/customers', { ...options, body })) as Customer;
};
const events = async ({ id }: { id: string }) =>
  await server.db.sql<{ type: string; tenant_id: string; data: object }[]>`
    select replace(type, 'billing.customer.', '') as type, tenant_id, data from billing.outbox where subject = ${id} order by id`;
const absent = 'cus_01h455vb4pex5vsknk084sn02q';
const notFound = [404, 'customer_not_found', 'customer not found'];
const taken = [409, 'duplicate_customer_email', 'email: belongs to another customer'];
const noEmail = [400, 'invalid_email', 'email: not an email address'];

describe('create', () => {
  it('fills in what is absent', async () => {
    const made = await customer({ email: 'Billing@Acme.example' });
    const at = '2026-01-15T09:55:00.000Z';
    expect(made).toEqual({
      ...{
        id: made.id,
        tenant_id: 'acme',
        app_id: 'default',
        name: 'Acme GmbH',
        email: 'Billing@Acme.example',
      },
      ...{
        currency: 'usd',
        balance: { amount: 0, currency: 'usd', display: '$0.00' },
        billing_address: null,
      },
      ...{ tax_ids: [], metadata: {}, created_at: at, updated_at: at },
    });
    expect(await api.send('GET', `/billing/customers/${made.id}`, { tenant: 'acme' })).toEqual(made);
    for (const email of ['billing@acme.example', 'BILLING@ACME.EXAMPLE', 'billing%40acme.example'])
      expect(await api.send('GET', `/billing/customers/email/${email}`, { tenant: 'acme' })).toEqual(made);
  });

  it('takes everything, and shows addresses with all their members', async () => {
    const body = {
      ...{ currency: 'jpy', tax_ids: [{ type: 'eu_vat', value: 'DE123456789' }], metadata: { a: [1, null] } },
      billing_address: { city: 'Berlin', country: 'de' },
    };
    const made = await customer(body);
    const billing_address = {
      line1: null,
      line2: null,
      city: 'Berlin',
      state: null,
      postal_code: null,
      country: 'DE',
    };
    expect(made).toMatchObject({ ...body, billing_address, balance: { display: '¥0' } });
    expect(await api.send('GET', `/billing/customers/${made.id}`)).toEqual(made);
  });

  it('tells nothing that has to be erased with the customer', async () => {
    const made = await customer({
      billing_address: { city: 'Berlin' },
      tax_ids: [{ type: 'a', value: 'b' }],
    });
    const { name: _, email: _email, billing_address: _address, tax_ids: _ids, ...told } = made;
    expect(await events(made)).toEqual([{ type: 'created', tenant_id: 'acme', data: told }]);
  });

  it.each([
    [noEmail, { email: 'acme.example' }],
    [noEmail, { email: 'a@b@acme.example' }],
    [noEmail, { email: 'a b@acme.example' }],
    [noEmail, { email: 'a@acme' }],
    [[400, 'invalid_input', 'currency: must be a currency code'], { currency: 'xyq' }],
    [
      [400, 'invalid_input', 'metadata: keys must have 1 to 64 characters'],
      { metadata: { ['x'.repeat(65)]: 1 } },
    ],
    [
      [400, 'invalid_input', 'metadata: at most 5 levels'],
      { metadata: { a: { b: { c: { d: { e: {} } } } } } },
    ],
  ])('is refused with %j', async (refusal, more) => {
    const body = { name: 'x', email: 'refused@acme.example', ...more };
    expect(await api.refusal('POST', '/billing/customers', { body })).toEqual(refusal);
    const { id } = await customer();
    expect(await api.refusal('PUT', `/billing/customers/${id}`, { body: more })).toEqual(refusal);
  });

  it('gives an address to one of many, in whatever case', async () => {
    const tenant = newTenant();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => {
        const email = at % 2 === 0 ? 'race@acme.example' : 'Race@Acme.Example';
        return api.refusal('POST', '/billing/customers', { tenant, body: { name: 'Race', email } });
      }),
    );
    expect(answers.filter(([status]) => status === 201)).toHaveLength(1);
    expect(answers.filter(([status]) => status !== 201)).toEqual(Array(15).fill(taken));
  });

  it('lets every tenant and app have an address', async () => {
    const email = 'shared@acme.example';
    const headers = { 'x-app-id': 'app_01h455vb4pex5vsknk084sn02q' };
    const made = [
      await customer({ email }, { tenant: newTenant() }),
      await customer({ email }, { tenant: newTenant() }),
      await customer({ email }, { tenant: 'acme' }),
      await customer({ email }, { tenant: 'acme', headers }),
    ];
    expect(new Set(made.map(({ id }) => id)).size).toBe(4);
  });
});

describe('update', () => {
  const put = async ({ id }: Customer, body: object) =>
    (await api.send('PUT', `/billing/customers/${id}`, { tenant: 'acme', body })) as Customer;

  it('keeps what is absent, clears with null and replaces the address', async () => {
    const before = await customer({ billing_address: { city: 'Berlin', country: 'de' }, metadata: { a: 1 } });
    clock.turn(1_000);
    const after = await put(before, {
      name: 'Other',
      billing_address: { line1: 'A 1' },
      tax_ids: [{ type: 'x', value: 'y' }],
    });
    const empty = { line2: null, city: null, state: null, postal_code: null, country: null };
    expect(after).toEqual({
      ...before,
      ...{ name: 'Other', billing_address: { line1: 'A 1', ...empty }, tax_ids: [{ type: 'x', value: 'y' }] },
      updated_at: new Date(clock.now()).toISOString(),
    });
    expect(await put(before, { billing_address: null, metadata: null })).toMatchObject({
      billing_address: null,
      metadata: {},
    });
    expect(await api.send('GET', `/billing/customers/${before.id}`)).toMatchObject({
      billing_address: null,
      name: 'Other',
    });
    const [, first, second] = await events(before);
    expect(first).toMatchObject({ type: 'updated', data: { previous: {} } });
    expect(JSON.stringify(first)).not.toMatch(/Other|A 1|Acme/);
    expect(second).toMatchObject({
      type: 'updated',
      data: { metadata: {}, previous: { metadata: { a: 1 } } },
    });
  });

  it('says nothing when nothing changed', async () => {
    const before = await customer();
    clock.turn(1_000);
    expect(await put(before, before)).toEqual(before);
    expect(await events(before)).toHaveLength(1);
  });

  it('moves the address with the customer, and refuses one that is taken', async () => {
    const [one, other] = [await customer(), await customer()];
    expect(await put(one, { email: one.email.toUpperCase() })).toMatchObject({
      email: one.email.toUpperCase(),
    });
    expect(
      await api.refusal('PUT', `/billing/customers/${one.id}`, { body: { email: other.email } }),
    ).toEqual(taken);
    await put(one, { email: 'moved@acme.example' });
    expect(await put(other, { email: one.email })).toMatchObject({ email: one.email });
    expect(
      await api.send('GET', '/billing/customers/email/moved@acme.example', { tenant: 'acme' }),
    ).toMatchObject({
      id: one.id,
    });
  });
});

describe('who sees what', () => {
  it("another tenant's customer is like one that does not exist", async () => {
    const { id, email } = await customer();
    const answers = (ref: string, address: string) =>
      Promise.all([
        api.refusal('GET', `/billing/customers/${ref}`, { tenant: 'other' }),
        api.refusal('PUT', `/billing/customers/${ref}`, { tenant: 'other', body: { name: 'x' } }),
        api.refusal('GET', `/billing/customers/email/${address}`, { tenant: 'other' }),
      ]);
    expect(await answers(id, email)).toEqual(Array(3).fill(notFound));
    expect(await answers(absent, 'nobody@acme.example')).toEqual(Array(3).fill(notFound));
    expect(await api.send('GET', `/billing/customers/${id}`)).toMatchObject({ name: 'Acme GmbH' });
  });

  it('the operator names the tenant of a customer, and nobody else another one', async () => {
    const tenant = newTenant();
    const made = await customer({ tenant_id: tenant }, {});
    expect(await api.send('GET', `/billing/customers/${made.id}`, { tenant })).toEqual(made);
    expect(await api.send('GET', `/billing/customers/${made.id}`)).toEqual(made);
    expect((await events(made))[0]).toMatchObject({ tenant_id: tenant });
    const body = { name: 'x', email: 'x@acme.example', tenant_id: tenant };
    const refusal = [403, 'forbidden', "tenant_id: not the caller's own"];
    expect(await api.refusal('POST', '/billing/customers', { tenant: 'other', body })).toEqual(refusal);
    expect(await api.refusal('GET', `/billing/customers?tenant_id=${tenant}`, { tenant: 'other' })).toEqual(
      refusal,
    );
  });

  it('lists are newest first, and of the tenant or of all', async () => {
    const [tenant, other] = [newTenant(), newTenant()];
    const made = [
      await customer({}, { tenant }),
      await customer({}, { tenant }),
      await customer({}, { tenant }),
    ];
    const last = await customer({}, { tenant: other });
    const own = await api.send('GET', '/billing/customers?limit=2', { tenant });
    expect(own).toEqual({
      data: [made[2], made[1]],
      pagination: { total: 3, limit: 2, offset: 0, has_more: true },
    });
    expect((await api.send('GET', '/billing/customers?limit=2&offset=2', { tenant })).data).toEqual([
      made[0],
    ]);
    expect((await api.send('GET', '/billing/customers?limit=2')).data).toEqual([last, made[2]]);
    expect((await api.send('GET', `/billing/customers?tenant_id=${tenant}`)).pagination.total).toBe(3);
  });
});
