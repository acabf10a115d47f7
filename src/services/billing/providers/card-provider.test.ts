import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createCardProvider } from './card-provider.ts';
import type { Charge, Provider } from './provider.ts';
import { type FakeCardProvider, fakeCardProvider } from './testing/fake-card-provider.ts';

let fake: FakeCardProvider;
let provider: Provider;
beforeAll(async () => {
  fake = await fakeCardProvider();
  provider = await createCardProvider({ key: 'sk_test_none', url: fake.url });
});
afterAll(() => fake.close());
beforeEach(() => {
  fake.behaviour = 'answers';
});

let count = 0;
const charge = (method?: string, more: Partial<Charge> = {}): Charge => ({
  ...{ id: `pay_${++count}`, tenant: 'acme', amount: 5_000n, currency: 'usd' },
  source: method === undefined ? undefined : { processorId: method, customerId: 'cus_1' },
  ...more,
});
const started = async (asked: Charge) => {
  const result = await provider.charge(asked);
  if (!('processorId' in result) || result.processorId === undefined) throw new Error(result.state);
  return { ...asked, processorId: result.processorId };
};

describe('a charge', () => {
  it('of a method succeeds, and is labelled with the payment', async () => {
    const asked = charge('pm_card');
    const { processorId } = await started(asked);
    const success = { state: 'succeeded', processorId, amount: 5_000n, currency: 'usd' };
    expect(await provider.charge(asked)).toEqual(success);
    expect(await provider.lookup({ ...asked, processorId })).toEqual(success);
    expect(await provider.cancel({ ...asked, processorId })).toEqual(success);
    expect(fake.intents.get(processorId)?.metadata).toEqual({ payment_id: asked.id, tenant_id: 'acme' });
  });

  it('that is declined says why', async () => {
    const result = await provider.charge(charge('pm_declined'));
    expect(result).toMatchObject({
      state: 'failed',
      code: 'insufficient_funds',
      message: 'Your card was declined.',
    });
    expect(result).toHaveProperty('processorId', expect.stringMatching(/^pi_/));
  });

  it('without a method is open until somebody finishes or cancels it', async () => {
    const open = await started(charge());
    const nextAction = { type: 'client_secret', value: `${open.processorId}_secret` };
    expect(await provider.lookup(open)).toEqual({
      state: 'pending',
      processorId: open.processorId,
      nextAction,
    });
    expect(await provider.cancel(open)).toEqual({ state: 'canceled', processorId: open.processorId });
    expect(await provider.lookup(open)).toEqual({ state: 'canceled', processorId: open.processorId });
  });

  it('that the provider does not understand is rejected', async () => {
    expect(await provider.charge(charge('pm_card', { amount: 999_999_999n }))).toMatchObject({
      state: 'rejected',
    });
    expect(await provider.lookup({ ...charge(), processorId: 'pi_none' })).toMatchObject({
      state: 'rejected',
    });
  });

  it('is unknown while the provider fails, is away or hangs up', async () => {
    fake.behaviour = 'fails';
    expect(await provider.charge(charge('pm_card'))).toMatchObject({ state: 'unknown' });
    const away = await createCardProvider({ key: 'sk_test_none', url: 'http://127.0.0.1:2' });
    expect(await away.charge(charge('pm_card'))).toMatchObject({ state: 'unknown' });
    fake.behaviour = 'hangsUpAfter';
    const [before, asked] = [fake.intents.size, charge('pm_card')];
    expect(await provider.charge(asked)).toMatchObject({ state: 'unknown' });
    fake.behaviour = 'answers';
    expect(await provider.charge(asked)).toMatchObject({ state: 'succeeded' });
    expect(fake.intents.size).toBe(before + 1);
  });

  it('is unknown when the answer takes too long', async () => {
    fake.behaviour = 'waitsBefore';
    const hasty = await createCardProvider({ key: 'sk_test_none', url: fake.url, timeoutMs: 50 });
    expect(await hasty.charge(charge('pm_card'))).toMatchObject({ state: 'unknown' });
    fake.hangUp();
  });
});

it('refunds are cumulative, made once for a key, and never more than the charge', async () => {
  const { id: paymentId, processorId } = await started(charge('pm_card'));
  const order = (id: string, amount: bigint) => ({
    ...{ id, paymentId, tenant: 'acme', processorId, amount, currency: 'usd' },
    source: undefined,
  });
  expect(await provider.refund(order('re_1', 1_000n))).toMatchObject({ state: 'succeeded', total: 1_000n });
  expect(await provider.refund(order('re_1', 1_000n))).toMatchObject({ state: 'succeeded', total: 1_000n });
  expect(await provider.refund(order('re_2', 4_000n))).toMatchObject({ state: 'succeeded', total: 5_000n });
  expect(await provider.refund(order('re_3', 1n))).toMatchObject({ state: 'rejected' });
});

describe('methods', () => {
  const attachment = (token: string, processorId?: string) => ({
    ...{ id: `pm_${++count}`, token, tenant: 'acme' },
    customer: { id: 'cus_ours', processorId },
  });

  it('are attached to a customer of the provider, and detached', async () => {
    const result = await provider.attach(attachment('tok_1'));
    if (result.state !== 'attached') throw new Error(result.state);
    expect(result.method).toEqual({
      ...{ processorId: 'pm_tok_1', customerId: expect.stringMatching(/^cus_/), type: 'card' },
      ...{ brand: 'mastercard', last4: '4444', expiryMonth: 4, expiryYear: 2031 },
    });
    const second = await provider.attach(attachment('pm_2', 'cus_known'));
    expect(second).toMatchObject({ method: { processorId: 'pm_2', customerId: 'cus_known' } });
    expect(await provider.detach(result.method)).toEqual({ state: 'detached' });
  });

  it('that have expired are refused', async () => {
    expect(await provider.attach(attachment('pm_expiredCard'))).toMatchObject({
      ...{ state: 'failed', code: 'expired_card' },
    });
  });
});
