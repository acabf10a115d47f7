import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { attached, missing, payer } from './payers.ts';

const notFound = 'payment method not found';

contract('Payment methods', (api) => {
  describe('create', () => {
    it('201 with what people recognise it by', async () => {
      const { tenant, customer } = await payer(api);
      const body = { customer_id: customer.id, token: 'tok_visa' };
      const { data, response } = await tenant.plinth.billing.paymentMethods.create({ body }).response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ customer_id: customer.id, type: 'card', last4: '4242', is_default: true });
      expect(data).not.toHaveProperty('token');
    });

    it('400 for the number of a card', async () => {
      const { tenant, customer } = await payer(api);
      const body = { customer_id: customer.id, token: '4242424242424242' };
      await tenant.refused(400, 'token: must not be the number of a card', ({ billing }) =>
        billing.paymentMethods.create({ body }),
      );
    });

    it('402 for a card that has expired', async () => {
      const { tenant, customer } = await payer(api);
      const body = { customer_id: customer.id, token: 'tok_expiredCard' };
      await tenant.refused(402, 'the card has expired', ({ billing }) =>
        billing.paymentMethods.create({ body }),
      );
    });

    it('404 when the customer does not exist', () =>
      api
        .tenant()
        .refused(404, 'customer not found', ({ billing }) =>
          billing.paymentMethods.create({ body: { customer_id: missing.customer, token: 'tok_visa' } }),
        ));

    it('409 when the idempotency key was used with another body', async () => {
      const one = await payer(api);
      const create = (token: string) => ({ body: { customer_id: one.customer.id, token } });
      const once = { idempotencyKey: 'once' };
      await one.tenant.plinth.billing.paymentMethods.create(create('tok_visa'), once);
      await one.tenant.refused(409, 'idempotency key was used with another body', ({ billing }) =>
        billing.paymentMethods.create(create('tok_amex'), once),
      );
    });

    it('504 when the provider does not answer in time', async () => {
      const { tenant, customer } = await payer(api);
      const body = { customer_id: customer.id, token: 'tok_attachTimeout' };
      await tenant.refused(504, 'the payment provider did not answer in time', ({ billing }) =>
        billing.paymentMethods.create({ body }),
      );
    });
  });

  describe('list', () => {
    it('200 with those of the customer', async () => {
      const one = await payer(api);
      const { id } = await attached(one);
      const methods = await one.tenant.plinth.billing.paymentMethods.list({ customer_id: one.customer.id });
      expect(methods.map((method) => method.id)).toEqual([id]);
    });

    it('404 when the customer does not exist', () =>
      api
        .tenant()
        .refused(404, 'customer not found', ({ billing }) =>
          billing.paymentMethods.list({ customer_id: missing.customer }),
        ));
  });

  describe('delete', () => {
    it('204', async () => {
      const one = await payer(api);
      await attached(one);
      const { id } = await attached(one, 'tok_amex');
      await one.tenant.plinth.billing.paymentMethods.delete({ id });
    });

    it('400 when it is the only one while an invoice is unpaid', async () => {
      const one = await payer(api);
      const { id } = await attached(one);
      await one.tenant.refused(400, 'an invoice is to be paid with it', ({ billing }) =>
        billing.paymentMethods.delete({ id }),
      );
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, notFound, ({ billing }) => billing.paymentMethods.delete({ id: missing.method })));
  });

  describe('setDefault', () => {
    it('200 with the method as it is now', async () => {
      const one = await payer(api);
      await attached(one);
      const { id } = await attached(one, 'tok_amex');
      expect(await one.tenant.plinth.billing.paymentMethods.setDefault({ id })).toMatchObject({
        is_default: true,
      });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, notFound, ({ billing }) => billing.paymentMethods.setDefault({ id: missing.method })));
  });
});
