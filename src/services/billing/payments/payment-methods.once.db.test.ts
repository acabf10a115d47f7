import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock } from '../testing.ts';
import { type Debtor, debtor, payingTools } from './testing.ts';

const clock = new TestClock('2026-01-15T09:58:00Z');
const lines: string[] = [];
let server: TestServer;
let api: ReturnType<typeof payingTools>;
beforeAll(async () => {
  server = await serverBy(clock, { log: { write: (line) => void lines.push(line) } });
  api = payingTools(server, server.db);
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('billing', 'test')`;
});
afterAll(() => server.close());

const owing = (more: object = {}) => debtor(server.db, { at: clock.now(), ...more });
const list = ({ tenant, customer }: Debtor) =>
  api.send('GET', `/billing/payment-methods?customer_id=${customer}`, { tenant });
const defaults = async (owner: Debtor) =>
  (await list(owner))
    .filter(({ is_default }: { is_default: boolean }) => is_default)
    .map(({ id }: { id: string }) => id);
const attaching = ({ tenant, customer }: Debtor, token: string) => ({
  tenant,
  body: { customer_id: customer, token },
});

describe('attaching', () => {
  it('shows what people recognise the method by; the first is the default', async () => {
    const owner = await owing();
    const first = await api.method(owner);
    expect(first).toEqual({
      ...{ id: first.id, customer_id: owner.customer, type: 'card', last4: '4242', brand: 'visa' },
      ...{ expiry_month: 12, expiry_year: 2099, is_default: true, created_at: '2026-01-15T09:58:00.000Z' },
    });
    clock.turn(1);
    const second = await api.method(owner, 'tok_mastercard');
    expect(second).toMatchObject({ is_default: false });
    expect(await list(owner)).toEqual([second, first]);
    clock.turn(1);
    const third = await api.method(owner, 'tok_amex', { set_default: true });
    expect(await defaults(owner)).toEqual([third.id]);
    expect(await api.events(third.id)).toEqual(['payment_method.attached', 'payment_method.default_changed']);
  });

  it('an expired card is refused with 402', async () => {
    const { status, body } = await server.request('POST', '/billing/billing/payment-methods', {
      ...attaching(await owing(), 'tok_expiredCard'),
    });
    expect([status, body.error]).toEqual([
      402,
      {
        ...{ code: 'payment_failed', message: 'the card has expired', type: 'payment' },
        details: { failure_code: 'expired_card' },
      },
    ]);
  });

  it('the number of a card is refused, and neither logged nor stored', async () => {
    const owner = await owing();
    for (const number of ['4242424242424242', '4242 4242 4242 4242'])
      expect(await api.refusal('POST', '/billing/payment-methods', attaching(owner, number))).toEqual([
        ...[400, 'invalid_input', 'token: must not be the number of a card'],
      ]);
    expect(await list(owner)).toEqual([]);
    expect(lines.join()).not.toMatch(/4242.?4242/);
  });

  it('no more than 50, also at once', async () => {
    const owner = await owing();
    const attach = async (): Promise<number> => {
      const { status } = await api.insist('POST', '/billing/payment-methods', attaching(owner, 'tok_visa'));
      return status;
    };
    const statuses = await Promise.all(Array.from({ length: 60 }, attach));
    expect(statuses.filter((status) => status === 201)).toHaveLength(50);
    expect(await defaults(owner)).toHaveLength(1);
    expect(await api.refusal('POST', '/billing/payment-methods', attaching(owner, 'tok_visa'))).toEqual([
      ...[400, 'invalid_input', 'customer_id: already has 50 payment methods'],
    ]);
  });
});

describe('detaching', () => {
  it('makes the newest of the others the default', async () => {
    const owner = await owing({ status: 'paid' });
    const methods = [];
    for (const token of ['tok_a', 'tok_b', 'tok_c']) {
      methods.push(await api.method(owner, token));
      clock.turn(1);
    }
    await api.send('DELETE', `/billing/payment-methods/${methods[0].id}`, { tenant: owner.tenant });
    expect(await defaults(owner)).toEqual([methods[2].id]);
    await api.send('DELETE', `/billing/payment-methods/${methods[1].id}`, { tenant: owner.tenant });
    await api.send('DELETE', `/billing/payment-methods/${methods[2].id}`, { tenant: owner.tenant });
    expect(await list(owner)).toEqual([]);
    expect(await api.events(methods[0].id)).toEqual(['payment_method.attached', 'payment_method.detached']);
  });

  it.each(['pending', 'past_due'])('the only one is refused while an invoice is %s', async (status) => {
    const owner = await owing({ status });
    const [one, other] = [await api.method(owner), await api.method(owner)];
    await api.send('DELETE', `/billing/payment-methods/${one.id}`, { tenant: owner.tenant });
    const last = { tenant: owner.tenant };
    expect(await api.refusal('DELETE', `/billing/payment-methods/${other.id}`, last)).toEqual([
      ...[400, 'invalid_state', 'an invoice is to be paid with it'],
    ]);
  });
});

it('setting the default is done once', async () => {
  const owner = await owing();
  const [first, second] = [await api.method(owner), await api.method(owner)];
  const path = `/billing/payment-methods/${second.id}/default`;
  for (const _ of [1, 2])
    expect(await api.send('POST', path, { tenant: owner.tenant })).toMatchObject({ is_default: true });
  expect(await defaults(owner)).toEqual([second.id]);
  expect(await api.events(second.id)).toEqual(['payment_method.attached', 'payment_method.default_changed']);
  expect(await api.events(first.id)).toEqual(['payment_method.attached']);
});

it('another tenant meets the same answers as to what never existed', async () => {
  const [owner, { tenant }] = [await owing(), await owing()];
  const { id } = await api.method(owner);
  const gone = [404, 'not_found', 'payment method not found'];
  expect(await api.refusal('DELETE', `/billing/payment-methods/${id}`, { tenant })).toEqual(gone);
  expect(await api.refusal('POST', `/billing/payment-methods/${id}/default`, { tenant })).toEqual(gone);
  const nobody = [404, 'customer_not_found', 'customer not found'];
  expect(
    await api.refusal('POST', '/billing/payment-methods', { ...attaching(owner, 'tok_visa'), tenant }),
  ).toEqual(nobody);
  expect(
    await api.refusal('GET', `/billing/payment-methods?customer_id=${owner.customer}`, { tenant }),
  ).toEqual(nobody);
  expect(await api.send('GET', `/billing/payment-methods?customer_id=${owner.customer}`)).toHaveLength(1);
});
