import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { absent, newPlan } from './offers.ts';
import { nobody, subscriber } from './subscribers.ts';

const notFound = 'subscription not found';

contract('Subscriptions', (api) => {
  describe('create', () => {
    it('201 with the subscription', async () => {
      const tenant = api.tenant();
      const { id } = await newPlan(api);
      const { data, response } = await tenant.plinth.billing.subscriptions
        .create({ body: { tenant_id: tenant.id, plan_id: id } })
        .response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ status: 'active', cancel_at: null });
      if (api.target === 'server') expect(data).toMatchObject({ tenant_id: tenant.id, plan_id: id });
    });

    it('400 on an archived plan', async () => {
      const tenant = api.tenant();
      const { id } = await newPlan(api, { status: 'archived' });
      await tenant.refused(400, 'plan is archived', ({ billing }) =>
        billing.subscriptions.create({ body: { tenant_id: tenant.id, plan_id: id } }),
      );
    });

    it('404 without the plan', () => {
      const tenant = api.tenant();
      return tenant.refused(404, 'plan not found', ({ billing }) =>
        billing.subscriptions.create({ body: { tenant_id: tenant.id, plan_id: absent.plan } }),
      );
    });

    it('409 for a tenant with a live one', async () => {
      const { tenant, subscription } = await subscriber(api);
      await tenant.refused(409, 'tenant has a live subscription', ({ billing }) =>
        billing.subscriptions.create({ body: { tenant_id: tenant.id, plan_id: subscription.plan_id } }),
      );
    });
  });

  it('list 200 with the newest first', async () => {
    const { tenant, subscription } = await subscriber(api);
    const { data } = await tenant.plinth.billing.subscriptions.list({ limit: 1 });
    if (api.target === 'server') expect(data).toEqual([subscription]);
    else expect(data).toHaveLength(1);
  });

  describe('get', () => {
    it('200', async () => {
      const { tenant, subscription } = await subscriber(api);
      const got = await tenant.plinth.billing.subscriptions.get({ id: subscription.id });
      if (api.target === 'server') expect(got).toEqual(subscription);
      else expect(got).toMatchObject({ status: expect.any(String) });
    });

    it('404', () =>
      api
        .tenant()
        .refused(404, notFound, ({ billing }) => billing.subscriptions.get({ id: nobody.subscription })));
  });

  describe('update', () => {
    it('200 with other metadata', async () => {
      const { tenant, subscription } = await subscriber(api);
      const changed = await tenant.plinth.billing.subscriptions.update({
        id: subscription.id,
        body: { metadata: { crm: 'x-7' } },
      });
      if (api.target === 'server') expect(changed.metadata).toEqual({ crm: 'x-7' });
      else expect(changed).toHaveProperty('metadata');
    });

    it('404', () =>
      api
        .tenant()
        .refused(404, notFound, ({ billing }) =>
          billing.subscriptions.update({ id: nobody.subscription, body: { metadata: {} } }),
        ));
  });

  describe('cancel and uncancel', () => {
    it('200 at the end of the period, and back', async () => {
      const { tenant, subscription } = await subscriber(api);
      const { id } = subscription;
      const canceled = await tenant.plinth.billing.subscriptions.cancel({ id });
      if (api.target === 'server') expect(canceled.cancel_at).toBe(subscription.current_period_end);
      else expect(canceled).toHaveProperty('cancel_at');
      const back = await tenant.plinth.billing.subscriptions.uncancel({ id });
      if (api.target === 'server') expect(back.cancel_at).toBeNull();
      else expect(back).toHaveProperty('cancel_at');
    });

    it('400 for one that has ended', async () => {
      const { tenant, subscription } = await subscriber(api);
      const { id } = subscription;
      await tenant.plinth.billing.subscriptions.cancel({ id, body: { immediately: true } });
      await tenant.refused(400, 'subscription has ended', ({ billing }) =>
        billing.subscriptions.cancel({ id }),
      );
      await tenant.refused(400, 'subscription is canceled', ({ billing }) =>
        billing.subscriptions.uncancel({ id }),
      );
    });

    it('404', async () => {
      const tenant = api.tenant();
      const { subscription: id } = nobody;
      await tenant.refused(404, notFound, ({ billing }) => billing.subscriptions.cancel({ id }));
      await tenant.refused(404, notFound, ({ billing }) => billing.subscriptions.uncancel({ id }));
    });
  });

  describe('pause and resume', () => {
    it('200', async () => {
      const { subscription } = await subscriber(api);
      const { id } = subscription;
      const { subscriptions } = api.operator().plinth.billing;
      const paused = await subscriptions.pause({ id });
      if (api.target === 'server') expect(paused.status).toBe('paused');
      else expect(paused).toHaveProperty('status');
      const resumed = await subscriptions.resume({ id });
      if (api.target === 'server') expect(resumed.status).toBe('active');
      else expect(resumed).toHaveProperty('status');
    });

    it('400 in another status', async () => {
      const { tenant, subscription } = await subscriber(api);
      const { id } = subscription;
      await tenant.plinth.billing.subscriptions.cancel({ id, body: { immediately: true } });
      for (const verb of ['pause', 'resume'] as const)
        await api
          .operator()
          .refused(400, 'subscription is canceled', ({ billing }) => billing.subscriptions[verb]({ id }));
    });

    it('403 for everybody but the operator', async () => {
      const { tenant, subscription } = await subscriber(api);
      const { id } = subscription;
      const key = await tenant.withKey(['billing:admin']);
      for (const verb of ['pause', 'resume'] as const)
        await key.refused(403, 'operator only', ({ billing }) => billing.subscriptions[verb]({ id }));
    });

    it('404', async () => {
      const { subscription: id } = nobody;
      for (const verb of ['pause', 'resume'] as const)
        await api.operator().refused(404, notFound, ({ billing }) => billing.subscriptions[verb]({ id }));
    });
  });

  describe('changePlan', () => {
    it('200 with the new plan', async () => {
      const { tenant, subscription } = await subscriber(api);
      const { id: plan_id } = await newPlan(api);
      const changed = await tenant.plinth.billing.subscriptions.changePlan({
        id: subscription.id,
        body: { plan_id },
      });
      if (api.target === 'server') expect(changed.plan_id).toBe(plan_id);
      else expect(changed).toHaveProperty('plan_id');
    });

    it('400 when it has ended', async () => {
      const { tenant, subscription } = await subscriber(api);
      const { id, plan_id } = subscription;
      await tenant.plinth.billing.subscriptions.cancel({ id, body: { immediately: true } });
      await tenant.refused(400, 'subscription is neither active nor trialing', ({ billing }) =>
        billing.subscriptions.changePlan({ id, body: { plan_id } }),
      );
    });

    it('404 without the subscription', () =>
      api
        .tenant()
        .refused(404, notFound, ({ billing }) =>
          billing.subscriptions.changePlan({ id: nobody.subscription, body: { plan_id: absent.plan } }),
        ));
  });

  describe('upcoming', () => {
    it('200 with what the period costs so far', async () => {
      const { tenant, subscription } = await subscriber(api);
      const invoice = await tenant.plinth.billing.subscriptions.upcoming({ id: subscription.id });
      expect(invoice).toMatchObject({ status: 'draft' });
      expect(invoice).not.toHaveProperty('number');
    });

    it('400 while it is paused', async () => {
      const { tenant, subscription } = await subscriber(api);
      const { id } = subscription;
      await api.operator().plinth.billing.subscriptions.pause({ id });
      await tenant.refused(400, 'subscription is paused', ({ billing }) =>
        billing.subscriptions.upcoming({ id }),
      );
    });

    it('404', () =>
      api
        .tenant()
        .refused(404, notFound, ({ billing }) =>
          billing.subscriptions.upcoming({ id: nobody.subscription }),
        ));
  });
});
