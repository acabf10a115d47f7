import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { serverBy, TestClock } from '../testing.ts';
import { system } from '../writes.ts';
import { release } from './outcomes.ts';
import { type Debtor, debtor, payingTools, processOn, signing } from './testing.ts';

const clock = new TestClock('2026-02-15T11:00:00Z');
let server: TestServer;
let api: ReturnType<typeof payingTools>;
beforeAll(async () => {
  server = await serverBy(clock, { env: signing });
  api = payingTools(server, server.db);
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('billing', 'test')`;
});
afterAll(() => server.close());

/** A tenant that has paid its invoice. */
async function paid(): Promise<{ owner: Debtor; id: string }> {
  const owner = await debtor(server.db, { at: clock.now() });
  const { id: payment_method_id } = await api.method(owner);
  const { id } = await api.pay(owner, { payment_method_id });
  await until(async () => (await api.payment(owner, id)).status === 'succeeded');
  return { owner, id };
}
const usd = (amount: number) => ({ amount: { amount, currency: 'usd' } });
// Only the operator refunds.
const refund = (id: string, body?: object) =>
  api.send('POST', `/billing/payments/${id}/refund`, body === undefined ? {} : { body });
const refused = (id: string, body?: object) =>
  api.refusal('POST', `/billing/payments/${id}/refund`, body === undefined ? {} : { body });

describe('a refund', () => {
  it('is of a part, then of the rest, and never of more', async () => {
    const { owner, id } = await paid();
    expect(await refund(id, { ...usd(1_000), reason: 'outage' })).toMatchObject({
      ...{ id, status: 'refunded', refund_reason: 'outage', refunded_amount: { amount: 1_000 } },
    });
    expect(await refused(id, usd(4_001))).toEqual([400, 'invalid_amount', 'amount: more than there is']);
    expect(await refused(id, usd(0))).toEqual([400, 'invalid_amount', 'amount: more than there is']);
    expect(await refused(id, { amount: { amount: 1, currency: 'eur' } })).toEqual([
      ...[400, 'invalid_amount', 'amount: must be in usd'],
    ]);
    expect(await refund(id)).toMatchObject({ refunded_amount: { amount: 5_000 }, refund_reason: null });
    expect(await refused(id)).toEqual([400, 'invalid_state', 'nothing of the payment is left to refund']);
    expect(await api.account(owner)).toEqual({ status: 'paid', paid: 5_000, balance: 0 });
    expect(await api.events(id)).toEqual([
      ...['payment.created', 'payment.succeeded', 'payment.refunded', 'payment.refunded'],
    ]);
  });

  it('of many at once is never of more than was paid', async () => {
    const { owner, id } = await paid();
    const one = async (): Promise<number> => {
      const { status } = await api.insist('POST', `/billing/payments/${id}/refund`, { body: usd(700) });
      return status;
    };
    const statuses = await Promise.all(Array.from({ length: 20 }, one));
    expect(statuses.filter((status) => status === 200)).toHaveLength(7);
    expect(await api.payment(owner, id)).toMatchObject({ refunded_amount: { amount: 4_900 } });
  });

  it('that the provider made by itself counts, too', async () => {
    const { owner, id } = await paid();
    await refund(id, usd(1_000));
    const charge = (amount_refunded: number) => ({ payment_intent: `test_${id}`, amount_refunded });
    const notify = (total: number) => api.notify('charge.refunded', charge(total), { now: clock.now() });
    expect([await notify(1_000), await notify(3_000), await notify(2_000)]).toEqual([false, true, false]);
    expect(await api.payment(owner, id)).toMatchObject({ refunded_amount: { amount: 3_000 } });
    expect(await refused(id, usd(2_001))).toMatchObject({ 1: 'invalid_amount' });
    expect(await refund(id)).toMatchObject({ refunded_amount: { amount: 5_000 } });
    expect(await notify(9_000)).toBe(false);
  });

  it('of money that went to the balance takes it back, and is refused beyond what is left of it', async () => {
    const owner = await debtor(server.db, { at: clock.now(), status: 'pending' });
    const { id } = await api.pay(owner);
    await api.send('POST', `/billing/payments/${id}/cancel`, { tenant: owner.tenant });
    await server.db.sql`update billing.invoice set status = 'voided' where id = ${owner.invoice}`;
    await api.notify('payment_intent.succeeded', { id: `test_${id}` }, { now: clock.now() });
    expect(await api.account(owner)).toMatchObject({ balance: -5_000 });
    await refund(id, usd(1_000));
    expect(await api.account(owner)).toMatchObject({ balance: -4_000 });
    await server.db.sql`update billing.customer set balance = -500 where id = ${owner.customer}`;
    expect(await refused(id)).toEqual([
      400,
      'invalid_amount',
      'amount: at most $5.00, because the credit of this payment has paid for something else',
    ]);
    await refund(id, usd(500));
    expect(await api.account(owner)).toMatchObject({ balance: 0 });
  });

  it('of money that a voided invoice gave back is not given twice', async () => {
    const owner = await debtor(server.db, { at: clock.now() });
    const { id } = await api.pay(owner);
    await api.notify('payment_intent.succeeded', { id: `test_${id}`, amount: 4_000 }, { now: clock.now() });
    await refund(id, usd(1_000));
    const { tenant: tenant_id, invoice: invoice_id } = owner;
    for (const _ of [1, 2])
      await processOn(server.db, clock, undefined).write(system(tenant_id, 'default'), (tx) =>
        release(tx, { tenant_id, invoice_id }, clock.now()),
      );
    expect(await api.account(owner)).toMatchObject({ balance: -3_000 });
    await refund(id, usd(500));
    expect(await api.account(owner)).toMatchObject({ balance: -2_500 });
  });

  it('needs money that has arrived', async () => {
    const owner = await debtor(server.db, { at: clock.now() });
    const { id } = await api.pay(owner);
    expect(await refused(id)).toEqual([400, 'invalid_state', 'payment is pending']);
    expect(await refused('pay_01khgfa9r8ecxt60xvhcr4x6z8')).toEqual([
      ...[404, 'payment_not_found', 'payment not found'],
    ]);
    const ofTenant = await api.refusal('POST', `/billing/payments/${id}/refund`, { tenant: owner.tenant });
    expect(ofTenant.slice(0, 2)).toEqual([403, 'forbidden']);
  });
});
