import { describe, expect, it } from 'vitest';
import { type Api, contract } from '../harness.ts';
import { untaxed } from './payers.ts';
import { nobody, subscriber } from './subscribers.ts';

const absentInvoice = 'inv_01h455vb4pex5vsknk084sn0zz';
const notFound = 'invoice not found';

const drafted = async (api: Api) => {
  const { tenant, subscription } = await subscriber(api);
  await tenant.plinth.billing.customers.create({
    body: { name: 'Acme GmbH', email: 'billing@acme.example', billing_address: untaxed },
  });
  const draft = await tenant.plinth.billing.invoices.create({ body: { subscription_id: subscription.id } });
  return { tenant, subscription, draft };
};

contract('Invoices', (api) => {
  describe('create', () => {
    it('201 with a draft', async () => {
      const { tenant, subscription } = await subscriber(api);
      const { data, response } = await tenant.plinth.billing.invoices
        .create({ body: { subscription_id: subscription.id } })
        .response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ status: 'draft', number: null });
    });

    it('400 while the subscription is paused', async () => {
      const { tenant, subscription } = await subscriber(api);
      await api.operator().plinth.billing.subscriptions.pause({ id: subscription.id });
      await tenant.refused(400, 'subscription is paused', ({ billing }) =>
        billing.invoices.create({ body: { subscription_id: subscription.id } }),
      );
    });

    it('404 without the subscription', () =>
      api
        .tenant()
        .refused(404, 'subscription not found', ({ billing }) =>
          billing.invoices.create({ body: { subscription_id: nobody.subscription } }),
        ));

    it('409 when the idempotency key was used with another body', async () => {
      const { tenant, subscription } = await subscriber(api);
      const create = (order: string) => ({ body: { subscription_id: subscription.id, metadata: { order } } });
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.billing.invoices.create(create('a'), once);
      await tenant.refused(409, 'idempotency key was used with another body', ({ billing }) =>
        billing.invoices.create(create('b'), once),
      );
    });
  });

  it('list 200 without lines', async () => {
    const { tenant, draft } = await drafted(api);
    const { data } = await tenant.plinth.billing.invoices.list({ status: 'draft' });
    expect(data).toHaveLength(1);
    if (api.target === 'server') expect(data[0]).toMatchObject({ id: draft.id, line_items: [] });
  });

  describe('get', () => {
    it('200 by its number', async () => {
      const { tenant, draft } = await drafted(api);
      const final = await api.operator().plinth.billing.invoices.finalize({ invoice: draft.id });
      const got = await tenant.plinth.billing.invoices.get({ invoice: final.number ?? '' });
      if (api.target === 'server') expect(got).toEqual(final);
      else expect(got).toHaveProperty('number');
    });

    it('404', () =>
      api.tenant().refused(404, notFound, ({ billing }) => billing.invoices.get({ invoice: absentInvoice })));
  });

  describe('finalize', () => {
    it('200', async () => {
      const { draft } = await drafted(api);
      const final = await api.operator().plinth.billing.invoices.finalize({ invoice: draft.id });
      expect(final).toMatchObject({ status: 'pending' });
    });

    it('400 for one that is voided', async () => {
      const { draft } = await drafted(api);
      await api.operator().plinth.billing.invoices.void({ invoice: draft.id });
      await api
        .operator()
        .refused(400, 'invoice is voided', ({ billing }) => billing.invoices.finalize({ invoice: draft.id }));
    });

    it('404', () =>
      api
        .operator()
        .refused(404, notFound, ({ billing }) => billing.invoices.finalize({ invoice: absentInvoice })));
  });

  describe('void', () => {
    it('200, and 400 for another reason', async () => {
      const { draft } = await drafted(api);
      const voided = await api.operator().plinth.billing.invoices.void({
        invoice: draft.id,
        body: { reason: 'duplicate order' },
      });
      expect(voided).toMatchObject({ status: 'voided', void_reason: 'duplicate order' });
      await api
        .operator()
        .refused(400, 'invoice is voided', ({ billing }) => billing.invoices.void({ invoice: draft.id }));
    });

    it('404', () =>
      api
        .operator()
        .refused(404, notFound, ({ billing }) => billing.invoices.void({ invoice: absentInvoice })));
  });

  describe('pay', () => {
    it('200, and 400 for another payment', async () => {
      const { draft } = await drafted(api);
      expect(await api.operator().plinth.billing.invoices.pay({ invoice: draft.id })).toMatchObject({
        status: 'paid',
      });
      await api
        .operator()
        .refused(400, 'invoice is paid', ({ billing }) =>
          billing.invoices.pay({ invoice: draft.id, body: { payment_ref: 'transfer 7' } }),
        );
    });

    it('404', () =>
      api
        .operator()
        .refused(404, notFound, ({ billing }) => billing.invoices.pay({ invoice: absentInvoice })));
  });

  describe('pdf', () => {
    it('200 with the file', async () => {
      const { tenant, draft } = await drafted(api);
      const { response } = await tenant.plinth.billing.invoices.pdf({ invoice: draft.id }).response();
      expect(response.headers.get('content-type')).toBe('application/pdf');
      expect(response.headers.get('content-disposition')).toMatch(/^inline; filename="(INV-|inv_).*\.pdf"$/);
    });

    it('404', () =>
      api.tenant().refused(404, notFound, ({ billing }) => billing.invoices.pdf({ invoice: absentInvoice })));
  });
});
