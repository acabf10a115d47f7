import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { serverBy, TestClock } from '../testing.ts';
import { debtor, payingTools, signing } from './testing.ts';

const clock = new TestClock('2026-02-15T11:00:00Z');
let server: TestServer;
let api: ReturnType<typeof payingTools>;
beforeAll(async () => {
  server = await serverBy(clock, { env: signing });
  api = payingTools(server, server.db);
  // Keeps the events in the outbox, as a consumer that has not had them would.
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('billing', 'test')`;
});
afterAll(() => server.close());

const owing = (more: object = {}) => debtor(server.db, { at: clock.now(), ...more });
const status = (owner: Awaited<ReturnType<typeof owing>>, id: string) => async () =>
  (await api.payment(owner, id)).status;

describe('a payment', () => {
  it('is pending in the response, and its success pays the invoice right after', async () => {
    const owner = await owing();
    const { id: payment_method_id } = await api.method(owner);
    const payment = await api.pay(owner, { payment_method_id, metadata: { order: 7 } });
    expect(payment).toMatchObject({
      ...{ status: 'pending', processor_name: 'test', processor_id: `test_${payment.id}`, next_action: null },
      ...{
        amount: { amount: 5_000, display: '$50.00' },
        customer_id: owner.customer,
        metadata: { order: 7 },
      },
    });
    await until(async () => (await status(owner, payment.id)()) === 'succeeded');
    expect(await api.account(owner)).toEqual({ status: 'paid', paid: 5_000, balance: 0 });
    expect(await api.events(payment.id)).toEqual(['payment.created', 'payment.succeeded']);
    expect(await api.events(owner.invoice)).toEqual(['invoice.paid']);
    const body = { invoice_id: owner.invoice };
    expect(await api.refusal('POST', '/billing/payments', { tenant: owner.tenant, body })).toEqual([
      ...[400, 'invoice_paid', 'invoice is paid'],
    ]);
  });

  it.each([
    ['tok_chargeDeclined', 'card_declined'],
    ['tok_insufficientFunds', 'insufficient_funds'],
  ])('with %s fails with 402, and the invoice can be paid again', async (token, code) => {
    const owner = await owing();
    const { id: payment_method_id } = await api.method(owner, token);
    const { status, body } = await server.request('POST', '/billing/billing/payments', {
      ...{ tenant: owner.tenant, body: { invoice_id: owner.invoice, payment_method_id } },
    });
    expect([status, body.error.code, body.error.details.failure_code]).toEqual([402, 'payment_failed', code]);
    const payment = await api.payment(owner, body.error.details.payment_id);
    expect(payment).toMatchObject({ status: 'failed', failure_code: code });
    expect(await api.pay(owner, { payment_method_id: null })).toMatchObject({ status: 'pending' });
  });

  it('without a method remains open, and says how to finish it; events do not', async () => {
    const owner = await owing();
    const payment = await api.pay(owner);
    expect(payment).toMatchObject({ status: 'pending', next_action: { type: 'client_secret' } });
    const [event] = await server.db.sql<{ data: { next_action: unknown } }[]>`
      select data from billing.outbox where subject = ${payment.id}`;
    expect(event?.data.next_action).toBeNull();
  });

  it('may be of a part; no more than is due and not being paid', async () => {
    const owner = await owing();
    const amount = (amount: number, currency = 'usd') => ({ amount: { amount, currency } });
    await api.pay(owner, amount(3_000));
    const refused = (more: object) =>
      api.refusal('POST', '/billing/payments', {
        tenant: owner.tenant,
        body: { invoice_id: owner.invoice, ...more },
      });
    const tooMuch = [400, 'invalid_amount', 'amount: more than there is'];
    expect(await refused(amount(2_001))).toEqual(tooMuch);
    expect(await refused(amount(0))).toEqual([400, 'invalid_amount', 'amount: must be more than 0']);
    expect(await refused(amount(1, 'eur'))).toEqual([400, 'invalid_amount', 'amount: must be in usd']);
    expect(await api.pay(owner)).toMatchObject({ amount: { amount: 2_000 } });
    expect(await refused({})).toEqual(tooMuch);
  });

  it('is made once for an idempotency key', async () => {
    const owner = await owing();
    const first = await api.pay(owner, { idempotency_key: 'once' });
    expect(await api.pay(owner, { idempotency_key: 'once' })).toEqual(first);
    const other = { invoice_id: owner.invoice, idempotency_key: 'once', metadata: { a: 1 } };
    expect(
      await api.refusal('POST', '/billing/payments', { tenant: owner.tenant, body: other }),
    ).toMatchObject({
      ...{ 0: 409, 1: 'duplicate_idempotency_key' },
    });
  });

  it('of two invoices with one key at once is refused for one', async () => {
    const owner = await owing();
    const second = await owing({ tenant: owner.tenant });
    const pay = (invoice_id: string) =>
      server.request('POST', '/billing/billing/payments', {
        ...{ tenant: owner.tenant, body: { invoice_id, idempotency_key: 'both' } },
      });
    const answers = await Promise.all([pay(owner.invoice), pay(second.invoice)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('500 at once never reserve more than is due', async () => {
    const owner = await owing();
    const body = { invoice_id: owner.invoice, amount: { amount: 400, currency: 'usd' } };
    const pay = async (): Promise<string> => {
      const { body: answer } = await api.insist('POST', '/billing/payments', { tenant: owner.tenant, body });
      return answer.error?.code ?? answer.status;
    };
    const answers = Map.groupBy(await Promise.all(Array.from({ length: 500 }, pay)), (answer) => answer);
    expect([...answers.keys()].sort()).toEqual(['invalid_amount', 'pending']);
    expect(answers.get('pending')).toHaveLength(12);
    const [{ sum }] = await server.db.sql<[{ sum: number }]>`
      select sum(amount)::bigint as sum from billing.payment where invoice_id = ${owner.invoice}`;
    expect(sum).toBe(4_800);
  });
});

describe('whoever pays', () => {
  it('names customers and methods of the tenant only; others do not exist for it', async () => {
    const [owner, other] = [await owing(), await owing()];
    const { id: method } = await api.method(other);
    const refused = (more: object, tenant: string | undefined = owner.tenant) =>
      api.refusal('POST', '/billing/payments', {
        body: { invoice_id: owner.invoice, ...more },
        ...(tenant !== '' && { tenant }),
      });
    expect(await refused({ invoice_id: other.invoice })).toEqual([
      404,
      'invoice_not_found',
      'invoice not found',
    ]);
    expect(await refused({ customer_id: other.customer })).toEqual([
      ...[404, 'customer_not_found', 'customer not found'],
    ]);
    expect(await refused({ payment_method_id: method })).toEqual([
      ...[404, 'not_found', 'payment method not found'],
    ]);
    // The operator sees all of them, which does not make them pay for one another.
    expect(await refused({ customer_id: other.customer }, '')).toEqual([
      ...[400, 'invalid_input', 'customer_id: belongs to another tenant than the invoice'],
    ]);
    expect(await refused({ payment_method_id: method }, '')).toEqual([
      ...[400, 'invalid_input', 'payment_method_id: belongs to another tenant than the invoice'],
    ]);
  });

  it('of one tenant pays with the method of its own customer', async () => {
    const owner = await owing();
    const colleague = await owing({ tenant: owner.tenant });
    const { id: payment_method_id } = await api.method(colleague);
    const body = { invoice_id: owner.invoice, payment_method_id };
    expect(await api.refusal('POST', '/billing/payments', { tenant: owner.tenant, body })).toEqual([
      ...[400, 'invalid_input', 'payment_method_id: belongs to another customer'],
    ]);
    expect(await api.pay(owner, { payment_method_id, customer_id: colleague.customer })).toMatchObject({
      customer_id: colleague.customer,
    });
  });
});

describe('payments', () => {
  it('are listed newest first, by invoice, customer and status', async () => {
    const owner = await owing();
    const part = { amount: { amount: 1_000, currency: 'usd' } };
    const first = await api.pay(owner, part);
    clock.turn(1);
    const second = await api.pay(owner, part);
    const list = async (query: string) => {
      const { data } = await api.send('GET', `/billing/payments?${query}`, { tenant: owner.tenant });
      return data.map(({ id }: { id: string }) => id);
    };
    expect(await list('')).toEqual([second.id, first.id]);
    expect(await list(`invoice_id=${owner.invoice}&customer_id=${owner.customer}&limit=1`)).toEqual([
      second.id,
    ]);
    expect(await list('status=succeeded')).toEqual([]);
    const [other] = [await owing()];
    expect(await api.refusal('GET', `/billing/payments/${first.id}`, { tenant: other.tenant })).toEqual([
      ...[404, 'payment_not_found', 'payment not found'],
    ]);
  });

  it('that are open can be canceled once, which frees their amount', async () => {
    const owner = await owing();
    const { id } = await api.pay(owner);
    const cancel = { tenant: owner.tenant };
    expect(await api.send('POST', `/billing/payments/${id}/cancel`, cancel)).toMatchObject({
      ...{ status: 'canceled', next_action: null, completed_at: new Date(clock.now()).toISOString() },
    });
    expect(await api.send('POST', `/billing/payments/${id}/cancel`, cancel)).toMatchObject({
      status: 'canceled',
    });
    expect(await api.pay(owner)).toMatchObject({ amount: { amount: 5_000 } });
    expect(await api.events(id)).toEqual(['payment.created', 'payment.canceled']);
  });
});
