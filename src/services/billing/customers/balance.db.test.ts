import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Customer } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { accountStore } from '../invoices/account.store.ts';
import { until } from '../../../testing/until.ts';
import { serverBy, TestClock, tools, usd } from '../testing.ts';
import { createWriter } from '../writes.ts';
import type { BalanceCause } from './balance.store.ts';
import { changeBalance } from './balance.ts';

const clock = new TestClock('2026-01-15T09:55:00Z');
let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
});
afterAll(() => server.close());

let count = 0;
const customer = async (more: object = {}, tenant = 'acme'): Promise<Customer> => {
  const body = { name: 'Acme GmbH', email: `c${++count}@acme.example`, ...more };
  return (await api.send('POST', '/billing/customers', { tenant, body })) as Customer;
};
const change = (
  { tenant_id, id }: Pick<Customer, 'tenant_id' | 'id'>,
  amount: bigint,
  cause: BalanceCause = {},
) =>
  createWriter(server)({ tenant: tenant_id, app: 'default', actor: 'test' }, (tx) =>
    changeBalance(tx, { tenant_id, customerId: id, amount, cause }, clock.now()),
  );
const entries = ({ id }: Customer) => server.db.sql<{ amount: number; reason: string | null }[]>`
  select amount, reason from billing.balance_entry where customer_id = ${id} order by id`;

describe('the balance', () => {
  it('is the sum of its entries', async () => {
    const one = await customer();
    expect(await change(one, -2_500n, { reason: 'goodwill' })).toBe(-2_500n);
    expect(await change(one, 1_000n, { invoiceId: 'inv_1', paymentId: 'pay_1' })).toBe(-1_500n);
    expect(await entries(one)).toEqual([
      { amount: -2_500, reason: 'goodwill' },
      { amount: 1_000, reason: null },
    ]);
    expect(await api.send('GET', `/billing/customers/${one.id}`)).toMatchObject({
      balance: { amount: -1_500, currency: 'usd', display: '-$15.00' },
    });
  });

  it('loses none of many changes at once', async () => {
    const one = await customer();
    await Promise.all(Array.from({ length: 40 }, (_, at) => change(one, BigInt(-1 - at))));
    expect(await api.send('GET', `/billing/customers/${one.id}`)).toMatchObject({
      balance: { amount: -820 },
    });
    expect(await entries(one)).toHaveLength(40);
  });

  it('takes an idempotency key once, for each customer', async () => {
    const [one, other] = [await customer(), await customer()];
    const cause = { idempotencyKey: 'credit-1' };
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => change(one, -5n, cause)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(change(one, -5n, cause)).rejects.toMatchObject({
      details: { code: 'duplicate_idempotency_key' },
    });
    expect(await change(other, -5n, cause)).toBe(-5n);
    expect(await entries(one)).toHaveLength(1);
  });

  it('never becomes a debt, nor larger than JSON can show', async () => {
    const one = await customer();
    await expect(change(one, 1n)).rejects.toThrow(/customer_credit/);
    await change(one, BigInt(-Number.MAX_SAFE_INTEGER));
    await expect(change(one, -1n)).rejects.toMatchObject({ details: { code: 'invalid_amount' } });
    await expect(change({ tenant_id: 'other', id: one.id }, -1n)).rejects.toMatchObject({ kind: 'invalid' });
    expect(await entries(one)).toHaveLength(1);
  });
});

it('each change is told, whether credit, an invoice or a payment causes it', async () => {
  const { id, tenant_id } = await customer({}, 'told');
  const subscription = await api.subscribe(tenant_id, await api.plan());
  const credit = { amount: usd(1_000), reason: 'goodwill' };
  await api.send('POST', `/billing/customers/${id}/credit`, { body: credit });
  const { id: invoice } = await api.finalize(await api.draft(subscription));
  const card = await api.send('POST', '/billing/payment-methods', {
    body: { customer_id: id, token: 'tok_visa' },
  });
  const payment = await api.send('POST', '/billing/payments', {
    body: { invoice_id: invoice, payment_method_id: card.id, amount: usd(2_000) },
  });
  await until(async () => (await api.send('GET', `/billing/payments/${payment.id}`)).status === 'succeeded');
  await api.send('POST', `/billing/invoices/${invoice}/void`);
  const told = await server.db.sql<{ balance: number; previous: number; name: string | null }[]>`
    select (data #>> '{balance,amount}')::integer as balance, (data #>> '{previous,balance,amount}')::integer as previous,
      data ->> 'name' as name
    from billing.outbox where type = 'billing.customer.balance_changed' and subject = ${id} order by id`;
  expect(told).toEqual([
    { balance: -1_000, previous: 0, name: null },
    { balance: 0, previous: -1_000, name: null },
    { balance: -1_000, previous: 0, name: null },
    { balance: -3_000, previous: -1_000, name: null },
  ]);
});

describe('the currency', () => {
  const refusal = [400, 'invalid_input', 'currency: the customer is billed in another one'];
  const toEuro = (id: string) =>
    api.refusal('PUT', `/billing/customers/${id}`, { tenant: 'acme', body: { currency: 'eur' } });

  it('can change until a balance entry exists', async () => {
    const { id } = await customer();
    expect((await toEuro(id))[0]).toBe(200);
    expect(await api.send('GET', `/billing/customers/${id}`)).toMatchObject({
      currency: 'eur',
      balance: { display: '€0.00' },
    });
    const billed = await customer();
    await change(billed, -1n);
    expect(await toEuro(billed.id)).toEqual(refusal);
    await api.send('PUT', `/billing/customers/${billed.id}`, {
      body: { currency: 'usd', name: 'Same currency' },
    });
  });

  it.each([
    ['names the customer', true],
    ['names nobody, so that the customer pays,', false],
  ])('stays for as long as a subscription that %s is live', async (_, isNamed) => {
    const { id, tenant_id } = await customer({}, `named-${isNamed}`);
    const named = await api.subscribe(tenant_id, await api.plan(), isNamed ? { customer_id: id } : {});
    const toEuro = (body: object) =>
      api.refusal('PUT', `/billing/customers/${id}`, { tenant: tenant_id, body });
    expect(await toEuro({ currency: 'eur' })).toEqual(refusal);
    await api.send('POST', `/billing/subscriptions/${named.id}/cancel`, { body: { immediately: true } });
    expect((await toEuro({ currency: 'eur' }))[0]).toBe(200);
  });

  it('stays while the last invoice of a subscription is about to become final', async () => {
    const { id, tenant_id } = await customer({}, 'leaving');
    const { id: left } = await api.subscribe(tenant_id, await api.plan(), { customer_id: id });
    clock.turn(86_400_000);
    await api.send('POST', `/billing/subscriptions/${left}/cancel`, { body: { immediately: true } });
    const body = { currency: 'eur' };
    expect(await api.refusal('PUT', `/billing/customers/${id}`, { tenant: tenant_id, body })).toEqual(
      refusal,
    );
  });

  it.each([
    ['draft', 200],
    ['pending', 400],
    ['voided', 400],
  ])('with an invoice that is %s: %i', async (status, expected) => {
    const { id, tenant_id } = await customer();
    await server.db.sql`
      insert into billing.invoice (tenant_id, id, app_id, number, subscription_id, customer_id, status, origin, currency, subtotal,
        discount_amount, tax_amount, total, credit_applied, amount_due, discounts, taxes, period_start, period_end, metadata, created_at,
        updated_at)
      select ${tenant_id}, 'inv_' || ${id}, 'default', ${id}, 'sub_1', ${id}, ${status}, 'manual', 'usd', 0, 0, 0, 0, 0, 0, '[]', '[]',
        at, at, '{}', at, at
      from (select ${new Date(clock.now())}::timestamptz as at) as times`;
    expect((await toEuro(id))[0]).toBe(expected);
  });
});

describe('the payer of a subscription', () => {
  const payer = async (tenant: string, id: string | null, currency: string) =>
    (
      await accountStore(server.db.sql).payer(
        { tenant_id: tenant, app_id: 'default', id: 'sub_1' },
        { customerId: id, currency, lock: false },
      )
    )?.id;

  it('is the named customer, or else the oldest one with the currency', async () => {
    const euro = await customer({ currency: 'eur' }, 'payers');
    const [first, second] = [await customer({}, 'payers'), await customer({}, 'payers')];
    await customer({}, 'other-payers');
    expect(await payer('payers', null, 'usd')).toBe(first.id);
    expect(await payer('payers', second.id, 'usd')).toBe(second.id);
    expect(await payer('payers', null, 'eur')).toBe(euro.id);
    expect(await payer('payers', euro.id, 'usd')).toBeUndefined();
    expect(await payer('payers', null, 'jpy')).toBeUndefined();
    expect(await payer('other-payers', first.id, 'usd')).toBeUndefined();
    await server.db.sql`update billing.customer set deleted_at = created_at where id = ${first.id}`;
    expect(await payer('payers', null, 'usd')).toBe(second.id);
  });
});
