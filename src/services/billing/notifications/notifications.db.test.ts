import { createHmac, randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { cardSignature, debtor, payingTools, secret } from '../payments/testing.ts';
import { serverBy, TestClock } from '../testing.ts';
import { secretFile, secretsOf } from './secrets.ts';

const clock = new TestClock('2026-02-15T11:00:00Z');
const lines: string[] = [];
let server: TestServer;
let api: ReturnType<typeof payingTools>;
beforeAll(async () => {
  const env = {
    PLINTH_BILLING_CARD_PROVIDER_SECRETS: `whsec_new,${secret}`,
    PLINTH_BILLING_BILLING_PROVIDER_SECRETS: secret,
  };
  server = await serverBy(clock, { env, log: { write: (line) => void lines.push(line) } });
  api = payingTools(server, server.db);
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('billing', 'test')`;
});
afterAll(() => server.close());

/** A tenant with an open payment of its invoice. */
async function paying(more: object = {}) {
  const owner = await debtor(server.db, { at: clock.now(), ...more });
  const { id } = await api.pay(owner);
  const notify = (type: string, object: object = {}, eventId?: string) =>
    api.notify(
      type,
      { id: `test_${id}`, payment_intent: `test_${id}`, ...object },
      { now: clock.now(), ...(eventId !== undefined && { id: eventId }) },
    );
  return { owner, id, notify };
}

const event = (type = 'payment_intent.succeeded', object: object = { id: 'pi_nobody' }) =>
  JSON.stringify({ id: `evt_${randomBytes(8).toString('hex')}`, type, data: { object } });
const post = async (body: string | Uint8Array, signature?: string, provider = 'card') => {
  const name = provider === 'card' ? 'CardProvider-Signature' : 'BillingProvider-Signature';
  const headers = {
    'Content-Type': 'application/json',
    ...(signature !== undefined && { [name]: signature }),
  };
  const path = `/billing/webhooks/${provider}-provider`;
  return await server.request('POST', path, { token: null, body, headers });
};

describe('a signature', () => {
  it('of any configured secret is accepted, as the library of the card provider makes it', async () => {
    const body = event();
    const timestamp = clock.now() / 1_000;
    for (const key of [secret, 'whsec_new']) {
      const header = new Stripe('sk_test_none').webhooks.generateTestHeaderString({
        ...{ payload: body, secret: key, timestamp },
      });
      const { status, body: answer } = await post(body, header);
      expect([status, answer]).toEqual([200, { received: true, handled: false }]);
    }
  });

  it.each<[string, (body: string) => string | undefined]>([
    ['missing', () => undefined],
    ['malformed', () => 't=now,v1=yes'],
    ['old', (body) => cardSignature(body, clock.now() - 301_000)],
    ['of another secret', (body) => cardSignature(body, clock.now(), 'whsec_other')],
    ['of another body', (body) => cardSignature(`${body} `, clock.now())],
  ])('that is %s is a 401, whatever the body', async (_, sign) => {
    for (const body of [event(), 'no event']) {
      const { status, body: answer } = await post(body, sign(body));
      expect([status, answer.error.code]).toEqual([401, 'invalid_signature']);
    }
  });

  it('is read under the name that the card provider gives it, and under both names both must be valid', async () => {
    const told = async (sign: (body: string) => Record<string, string>) => {
      const { owner, id } = await paying();
      const body = event('payment_intent.succeeded', { id: `test_${id}` });
      const path = '/billing/webhooks/card-provider';
      const { status } = await server.request('POST', path, { token: null, body, headers: sign(body) });
      return [status, (await api.account(owner))?.status];
    };
    const signed = (body: string, key = secret) =>
      new Stripe('sk_test_none').webhooks.generateTestHeaderString({
        ...{ payload: body, secret: key, timestamp: clock.now() / 1_000 },
      });
    const both = (stripe: string, own: string) => ({
      'Stripe-Signature': stripe,
      'CardProvider-Signature': own,
    });
    expect(await told((body) => ({ 'Stripe-Signature': signed(body) }))).toEqual([200, 'paid']);
    expect(await told((body) => both(signed(body), signed(body)))).toEqual([200, 'paid']);
    expect(await told((body) => both(signed(body, 'whsec_other'), signed(body)))).toEqual([401, 'pending']);
    expect(await told((body) => both(signed(body), ''))).toEqual([401, 'pending']);
    expect(await told(() => ({ 'Paddle-Signature': 't=1,v1=00' }))).toEqual([401, 'pending']);
  });

  it('is read under the name that the billing provider gives it', async () => {
    const body = JSON.stringify({
      event_id: 'evt_1',
      event_type: 'transaction.completed',
      data: { id: 'txn_1' },
    });
    const seconds = clock.now() / 1_000;
    const h1 = createHmac('sha256', secret).update(`${seconds}:${body}`).digest('hex');
    const told = async (headers: Record<string, string>) => {
      const path = '/billing/webhooks/billing-provider';
      return (await server.request('POST', path, { token: null, body, headers })).status;
    };
    const header = `ts=${seconds};h1=${h1}`;
    expect(await told({ 'Paddle-Signature': header })).toBe(200);
    expect(await told({ 'Paddle-Signature': header, 'BillingProvider-Signature': header })).toBe(200);
    expect(await told({ 'Paddle-Signature': header, 'BillingProvider-Signature': 'ts=1;h1=00' })).toBe(401);
    expect(await told({ 'Stripe-Signature': header })).toBe(401);
  });

  it('covers what is no event, which is a 400', async () => {
    for (const body of ['', '{', '[]', '{"id":"evt_1","type":"x"}']) {
      const { status, body: answer } = await post(body, cardSignature(body, clock.now()));
      expect([status, answer.error.code]).toEqual([400, 'invalid_payload']);
    }
  });

  it('of more than 1 MiB is not looked at', async () => {
    const { status } = await post('x'.repeat(1024 * 1024 + 1), 't=1,v1=00');
    expect(status).toBe(413);
  });
});

describe('a notification', () => {
  it('of success pays the invoice, once', async () => {
    const { owner, id, notify } = await paying();
    const twice = [await notify('payment_intent.succeeded', {}, `evt_${id}`)];
    twice.push(await notify('payment_intent.succeeded', {}, `evt_${id}`));
    expect([...twice, await notify('payment_intent.succeeded')]).toEqual([true, false, false]);
    expect(await api.account(owner)).toEqual({ status: 'paid', paid: 5_000, balance: 0 });
    expect(await api.events(id)).toEqual(['payment.created', 'payment.succeeded']);
  });

  it('that arrives many times at once has its effect once', async () => {
    const { owner, id, notify } = await paying();
    const told = Array.from({ length: 8 }, () => notify('payment_intent.succeeded', {}, `evt_${id}`));
    expect((await Promise.all(told)).filter(Boolean)).toHaveLength(1);
    expect(await api.account(owner)).toMatchObject({ paid: 5_000, balance: 0 });
  });

  it('finds the payment by the id that the provider was told', async () => {
    const { owner, id } = await paying();
    await server.db.sql`update billing.payment set processor_id = null where id = ${id}`;
    const object = { id: 'pi_7', metadata: { payment_id: id } };
    expect(await api.notify('payment_intent.succeeded', object, { now: clock.now() })).toBe(true);
    expect(await api.account(owner)).toMatchObject({ status: 'paid' });
  });

  it('teaches the id that the answer of the provider did not, so that the payment can be refunded', async () => {
    const owner = await debtor(server.db, { at: clock.now() });
    const { id: payment_method_id } = await api.method(owner, 'tok_chargeTimeout');
    const body = { invoice_id: owner.invoice, payment_method_id };
    const asked = await server.request('POST', '/billing/billing/payments', { tenant: owner.tenant, body });
    expect(asked.status).toBe(504);
    const { payment_id } = asked.body.error.details;
    const now = clock.now();
    await api.notify('payment_intent.succeeded', { id: 'pi_late', metadata: { payment_id } }, { now });
    expect(await api.payment(owner, payment_id)).toMatchObject({ processor_id: 'pi_late' });
    const part = { body: { amount: { amount: 1_000, currency: 'usd' } } };
    expect(await api.send('POST', `/billing/payments/${payment_id}/refund`, part)).toMatchObject({
      refunded_amount: { amount: 1_000 },
    });
    // The provider names the charge and not our payment in what it tells of its own refunds.
    await api.notify('charge.refunded', { payment_intent: 'pi_late', amount_refunded: 3_000 }, { now });
    expect(await api.payment(owner, payment_id)).toMatchObject({ refunded_amount: { amount: 3_000 } });
  });

  it('is known by the id of its event, whatever it says the second time', async () => {
    const { owner, id, notify } = await paying();
    await notify('payment_intent.succeeded');
    expect(await notify('charge.refunded', { amount_refunded: 100 }, `evt_${id}`)).toBe(true);
    expect(await notify('charge.refunded', { amount_refunded: 900 }, `evt_${id}`)).toBe(false);
    expect(await api.payment(owner, id)).toMatchObject({ refunded_amount: { amount: 100 } });
  });

  it('of the billing provider has the same effect, and each of its refunds counts once', async () => {
    const { owner, id } = await paying();
    const tell = async (event_type: string, data: object): Promise<boolean> => {
      const event_id = `evt_${randomBytes(8).toString('hex')}`;
      const body = JSON.stringify({ event_id, event_type, data: { currency_code: 'USD', ...data } });
      const seconds = clock.now() / 1_000;
      const hash = createHmac('sha256', secret).update(`${seconds}:${body}`).digest('hex');
      const { body: answer } = await post(body, `ts=${seconds};h1=${hash}`, 'billing');
      return answer.handled;
    };
    const details = { totals: { grand_total: '5000' } };
    expect(await tell('transaction.completed', { id: `test_${id}`, details })).toBe(true);
    expect(await api.account(owner)).toMatchObject({ status: 'paid' });
    const refund = (adjustment: string) =>
      tell('adjustment.updated', {
        ...{ id: adjustment, action: 'refund', status: 'approved', transaction_id: `test_${id}` },
        totals: { total: '300' },
      });
    expect([await refund(`${id}_1`), await refund(`${id}_1`), await refund(`${id}_2`)]).toEqual([
      ...[true, false, true],
    ]);
    expect(await api.payment(owner, id)).toMatchObject({ refunded_amount: { amount: 600 } });
  });

  it('of an unknown type or payment is acknowledged and logged', async () => {
    const { notify } = await paying();
    expect(await notify('customer.created')).toBe(false);
    expect(await api.notify('payment_intent.succeeded', { id: 'pi_nobody' }, { now: clock.now() })).toBe(
      false,
    );
    expect(lines.join()).toContain('customer.created');
  });

  it('of failure is ignored after success, and success counts after failure', async () => {
    const { owner, id, notify } = await paying();
    expect(await notify('payment_intent.payment_failed')).toBe(true);
    expect(await api.payment(owner, id)).toMatchObject({ status: 'failed', failure_code: 'payment_failed' });
    expect(await notify('payment_intent.succeeded')).toBe(true);
    expect(await notify('payment_intent.payment_failed')).toBe(false);
    expect(await api.payment(owner, id)).toMatchObject({ status: 'succeeded', failure_code: null });
    expect(await api.account(owner)).toMatchObject({ status: 'paid' });
  });

  it('of a smaller amount credits what has arrived; the rest remains due', async () => {
    const { owner, id, notify } = await paying();
    await notify('payment_intent.succeeded', { amount_received: 3_000, amount: 5_000, currency: 'usd' });
    expect(await api.account(owner)).toEqual({ status: 'pending', paid: 3_000, balance: 0 });
    expect(await api.payment(owner, id)).toMatchObject({ status: 'succeeded', amount: { amount: 3_000 } });
    expect(await api.pay(owner)).toMatchObject({ amount: { amount: 2_000 } });
  });

  it('of a larger amount gives the customer credit', async () => {
    const { owner, notify } = await paying();
    await notify('payment_intent.succeeded', { amount: 5_700, currency: 'usd' });
    expect(await api.account(owner)).toEqual({ status: 'paid', paid: 5_000, balance: -700 });
  });

  it('of another currency changes nothing and is logged as an error', async () => {
    const { owner, id, notify } = await paying();
    expect(await notify('payment_intent.succeeded', { amount: 5_000, currency: 'eur' })).toBe(false);
    expect(await api.account(owner)).toEqual({ status: 'pending', paid: 0, balance: 0 });
    const errors = lines.filter((line) => line.includes('"level":50')).join();
    expect(errors).toContain(id);
  });

  it('of money for an invoice that is paid or voided gives the customer credit', async () => {
    for (const status of ['paid', 'voided']) {
      const { owner, notify } = await paying();
      await server.db.sql`update billing.invoice set status = ${status} where id = ${owner.invoice}`;
      await notify('payment_intent.succeeded');
      expect(await api.account(owner)).toEqual({ status, paid: 0, balance: -5_000 });
    }
  });

  it('of money that is nobody’s is told', async () => {
    const { owner, id, notify } = await paying({ isBilled: false });
    await server.db.sql`update billing.invoice set status = 'voided' where id = ${owner.invoice}`;
    await notify('payment_intent.succeeded');
    expect(await api.events(id)).toEqual(['payment.created', 'payment.unapplied', 'payment.succeeded']);
  });

  it('of late money that covers an invoice cancels what else would pay it', async () => {
    const { owner, id, notify } = await paying();
    await api.send('POST', `/billing/payments/${id}/cancel`, { tenant: owner.tenant });
    const other = await api.pay(owner);
    await notify('payment_intent.succeeded');
    expect(await api.payment(owner, other.id)).toMatchObject({ status: 'canceled' });
    expect(await api.payment(owner, id)).toMatchObject({ status: 'succeeded' });
    expect(await api.account(owner)).toMatchObject({ status: 'paid', paid: 5_000 });
  });

  it('has the same end in all orders', async () => {
    const told: [string, object][] = [
      ['payment_intent.succeeded', { amount_received: 4_000, currency: 'usd' }],
      ['payment_intent.payment_failed', {}],
      ['payment_intent.canceled', {}],
      ['charge.refunded', { amount_refunded: 1_500 }],
    ];
    const ends = new Set<string>();
    for (const order of permutations(told)) {
      const { owner, id, notify } = await paying();
      for (const [type, object] of [...order, ...order]) await notify(type, object);
      const { status, amount, refunded_amount } = await api.payment(owner, id);
      ends.add(JSON.stringify([status, amount, refunded_amount, await api.account(owner)]));
    }
    expect([...ends].map((end) => JSON.parse(end))).toEqual([
      [
        'refunded',
        { amount: 4_000, currency: 'usd', display: '$40.00' },
        { amount: 1_500, currency: 'usd', display: '$15.00' },
        { status: 'pending', paid: 4_000, balance: 0 },
      ],
    ]);
  });
});

function permutations<One>(all: readonly One[]): One[][] {
  if (all.length <= 1) return [[...all]];
  return all.flatMap((one, at) => permutations(all.toSpliced(at, 1)).map((rest) => [one, ...rest]));
}

describe('the secrets of a server without any', () => {
  const none = { cardSecrets: [], billingSecrets: [] };

  it('are one that is generated once, however many processes start, for the owner alone', async () => {
    const dataDir = join(server.db.options.dataDir, 'of-secrets');
    const all = await Promise.all(
      Array.from({ length: 8 }, () => secretsOf({ ...none, provider: 'test' }, dataDir)),
    );
    const file = join(dataDir, secretFile);
    const kept = (await readFile(file, 'utf8')).trim();
    expect(new Set(all.flatMap(({ card, billing }) => [...card, ...billing]))).toEqual(new Set([kept]));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('are none with a provider that somebody has set up: all notifications are refused', async () => {
    const dataDir = join(server.db.options.dataDir, 'of-no-secrets');
    const secrets = await secretsOf({ ...none, provider: 'card-provider' }, dataDir);
    expect(secrets).toEqual({ card: [], billing: [] });
    await expect(stat(dataDir)).rejects.toThrow('ENOENT');
  });
});
