import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { attached, missing, notify, open, paid, payer, type Payer } from './payers.ts';

const notFound = 'payment not found';
const usd = (amount: number) => ({ amount, currency: 'usd' });
const paying = ({ invoice }: Payer, more: object = {}) => ({ body: { invoice_id: invoice.id, ...more } });

contract('Payments', (api) => {
  const operator = () => api.operator();

  describe('create', () => {
    it('201 with a payment whose outcome arrives later', async () => {
      const one = await payer(api);
      const { data, response } = await one.tenant.plinth.billing.payments.create(paying(one)).response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ status: 'pending', refunded_amount: { amount: 0 } });
      if (api.target === 'server')
        expect(data).toMatchObject({
          ...{ invoice_id: one.invoice.id, customer_id: one.customer.id, amount: usd(4_900) },
          ...{ processor_name: 'test', next_action: { type: 'client_secret' } },
        });
    });

    it('201 with an open payment for a card whose bank decides later', async () => {
      const one = await payer(api);
      const { id: payment_method_id } = await attached(one, 'tok_chargePending');
      const payment = await one.tenant.plinth.billing.payments.create(paying(one, { payment_method_id }));
      expect(payment).toMatchObject({ status: 'pending' });
      if (api.target === 'server') expect(payment).toMatchObject({ next_action: null, payment_method_id });
    });

    it('400 for more than is due', async () => {
      const one = await payer(api);
      await one.tenant.refused(400, 'amount: more than there is', ({ billing }) =>
        billing.payments.create(paying(one, { amount: usd(4_901) })),
      );
    });

    it('402 when the card is declined', async () => {
      const one = await payer(api);
      const { id } = await attached(one, 'tok_chargeDeclined');
      await one.tenant.refused(402, 'the card was declined', ({ billing }) =>
        billing.payments.create(paying(one, { payment_method_id: id })),
      );
    });

    it('404 when the invoice does not exist', () =>
      api
        .tenant()
        .refused(404, 'invoice not found', ({ billing }) =>
          billing.payments.create({ body: { invoice_id: missing.invoice } }),
        ));

    it('409 when the idempotency key was used with another body', async () => {
      const one = await payer(api);
      await open(one, { idempotency_key: 'once', amount: usd(100) });
      await one.tenant.refused(409, /^idempotency_key: /, ({ billing }) =>
        billing.payments.create(paying(one, { idempotency_key: 'once', amount: usd(200) })),
      );
    });

    it('504 when the provider does not answer in time', async () => {
      const one = await payer(api);
      const { id } = await attached(one, 'tok_chargeTimeout');
      await one.tenant.refused(504, 'the payment provider did not answer in time', ({ billing }) =>
        billing.payments.create(paying(one, { payment_method_id: id })),
      );
    });
  });

  describe('list', () => {
    it('200 with the payments of the tenant', async () => {
      const one = await payer(api);
      const { id } = await open(one);
      const { data, pagination } = await one.tenant.plinth.billing.payments.list({ status: 'pending' });
      expect([data.map((payment) => payment.id), pagination.total]).toEqual([[id], 1]);
    });
  });

  describe('get', () => {
    it('200 with the payment', async () => {
      const one = await payer(api);
      const { id } = await open(one);
      expect(await one.tenant.plinth.billing.payments.get({ id })).toMatchObject({ id });
    });
  });

  describe('refund', () => {
    it('200 with what was refunded in all', async () => {
      const { id } = await paid(api, await payer(api));
      const body = { amount: usd(1_000), reason: 'service outage' };
      expect(await operator().plinth.billing.payments.refund({ id, body })).toMatchObject({
        ...{ id, status: 'refunded', refunded_amount: usd(1_000), refund_reason: 'service outage' },
      });
    });

    it('400 when the money has not arrived', async () => {
      const { id } = await open(await payer(api));
      await operator().refused(400, 'payment is pending', ({ billing }) => billing.payments.refund({ id }));
    });

    it('404 when it does not exist', () =>
      operator().refused(404, notFound, ({ billing }) => billing.payments.refund({ id: missing.payment })));

    it('504 when the provider does not answer in time', async () => {
      const one = await payer(api);
      const { id: payment_method_id } = await attached(one, 'tok_refundTimeout');
      const { id } = await one.tenant.plinth.billing.payments.create(paying(one, { payment_method_id }));
      const status = async () => (await one.tenant.plinth.billing.payments.get({ id })).status;
      if (api.target === 'server') await expect.poll(status, { timeout: 10_000 }).toBe('succeeded');
      await operator().refused(504, 'the payment provider did not answer in time', ({ billing }) =>
        billing.payments.refund({ id }),
      );
    });
  });

  describe('cancel', () => {
    it('200 with the payment as it is now', async () => {
      const one = await payer(api);
      const { id } = await open(one);
      expect(await one.tenant.plinth.billing.payments.cancel({ id })).toMatchObject({
        id,
        status: 'canceled',
      });
    });

    it('400 when its outcome is known', async () => {
      const one = await payer(api);
      const { id } = await paid(api, one);
      await one.tenant.refused(400, 'payment has succeeded', ({ billing }) =>
        billing.payments.cancel({ id }),
      );
    });
  });

  describe.each(['get', 'cancel'] as const)('%s', (method) => {
    it('404 when it does not exist', () =>
      api.tenant().refused(404, notFound, async ({ billing }) => {
        await billing.payments[method]({ id: missing.payment });
      }));
  });
});

behaviour('Payments', (api) => {
  it('are those of their tenant alone, who can neither be seen nor paid for by another', async () => {
    const [one, other] = [await payer(api), await payer(api)];
    const { id } = await open(one);
    const { id: method } = await attached(other);
    const { tenant } = other;
    await tenant.refused(404, notFound, ({ billing }) => billing.payments.get({ id }));
    await tenant.refused(404, notFound, ({ billing }) => billing.payments.cancel({ id }));
    await tenant.refused(404, 'invoice not found', ({ billing }) => billing.payments.create(paying(one)));
    await one.tenant.refused(404, 'payment method not found', ({ billing }) =>
      billing.payments.create(paying(one, { payment_method_id: method })),
    );
    const key = await one.tenant.withKey(['billing:admin']);
    await key.refused(403, /./, ({ billing }) => billing.payments.refund({ id }));
  });

  it('that succeed pay the invoice, and a repeated notification changes nothing', async () => {
    const one = await payer(api);
    const { processor_id } = await open(one);
    const said = { id: processor_id };
    expect(await notify(api, 'payment_intent.succeeded', said)).toEqual({ received: true, handled: true });
    expect(await notify(api, 'payment_intent.succeeded', said)).toEqual({ received: true, handled: false });
    const invoice = await one.tenant.plinth.billing.invoices.get({ invoice: one.invoice.id });
    expect(invoice).toMatchObject({ status: 'paid', amount_paid: usd(4_900) });
  });
});
