import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, newName, newPlan } from './offers.ts';

const notFound = 'plan not found';
const usd = (amount: number) => ({ amount, currency: 'usd' });

contract('Plans', (api) => {
  const operator = () => api.operator();

  describe('create', () => {
    it('201 with the plan', async () => {
      const body = { name: newName(), currency: 'usd', features: [{ key: 'calls' }], trial_days: 14 };
      const { data, response } = await operator().plinth.billing.plans.create({ body }).response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ currency: 'usd', status: 'active', revision: 1 });
      if (api.target === 'server') expect(data).toMatchObject({ name: body.name, trial_days: 14 });
    });

    it('400 when two features have a key', () =>
      operator().refused(400, 'features.1.key: duplicate', ({ billing }) =>
        billing.plans.create({
          body: { name: newName(), currency: 'usd', features: [{ key: 'calls' }, { key: 'calls' }] },
        }),
      ));

    it('400 when the prices contradict the features', () =>
      operator().refused(400, 'pricing.tiers.0.feature_key: no such feature', ({ billing }) =>
        billing.plans.create({
          body: {
            name: newName(),
            currency: 'usd',
            pricing: { tiers: [{ feature_key: 'calls', up_to: -1 }] },
          },
        }),
      ));

    it('403 for everybody but the operator', async () => {
      const key = await api.tenant().withKey(['billing:admin']);
      await key.refused(403, 'operator only', ({ billing }) =>
        billing.plans.create({ body: { name: newName(), currency: 'usd' } }),
      );
    });

    it('409 when the slug is taken', async () => {
      const { slug } = await newPlan(api);
      await operator().refused(409, 'slug: already exists', ({ billing }) =>
        billing.plans.create({ body: { name: newName(), currency: 'usd', slug } }),
      );
    });
  });

  describe('list', () => {
    it('200 with the newest first', async () => {
      const { id } = await newPlan(api);
      const { data } = await api.tenant().plinth.billing.plans.list({ limit: 1 });
      expect(data).toHaveLength(1);
      if (api.target === 'server') expect(data[0]?.id).toBe(id);
    });
  });

  describe('get', () => {
    it('200 with the plan, by its id and by its slug', async () => {
      const { id, slug } = await newPlan(api);
      const { plans } = api.tenant().plinth.billing;
      expect(await plans.get({ plan: id })).toMatchObject({ id, slug });
      expect(await plans.get({ plan: slug })).toMatchObject({ id, slug });
    });
  });

  describe('update', () => {
    it('200 with the plan as it is now', async () => {
      const { id } = await newPlan(api);
      const body = { description: 'For growing teams' };
      expect(await operator().plinth.billing.plans.update({ plan: id, body })).toMatchObject(body);
    });

    it('400 when it is archived', async () => {
      const { id } = await newPlan(api, { status: 'archived' });
      await operator().refused(400, 'plan is archived', ({ billing }) =>
        billing.plans.update({ plan: id, body: { description: 'x' } }),
      );
    });

    it('404 when it does not exist', () =>
      operator().refused(404, notFound, ({ billing }) =>
        billing.plans.update({ plan: absent.plan, body: { description: 'x' } }),
      ));
  });

  describe('activate and archive', () => {
    it('200 with the plan', async () => {
      const { id } = await newPlan(api, { status: 'draft' });
      const { plans } = operator().plinth.billing;
      expect(await plans.activate({ plan: id })).toMatchObject({ status: 'active' });
      expect(await plans.archive({ plan: id })).toMatchObject({ status: 'archived' });
    });
  });

  describe('delete', () => {
    it('204', async () => {
      const { id } = await newPlan(api);
      await operator().plinth.billing.plans.delete({ plan: id });
    });
  });

  describe.each(['get', 'activate', 'archive', 'delete'] as const)('%s', (method) => {
    it('404 when it does not exist', () =>
      operator().refused(404, notFound, async ({ billing }) => {
        await billing.plans[method]({ plan: absent.plan });
      }));
  });
});

behaviour('Plans', (api) => {
  it('a plan that is subscribed to is not deleted', async () => {
    const { id } = await newPlan(api);
    const tenant = api.tenant();
    await tenant.plinth.billing.subscriptions.create({ body: { tenant_id: tenant.id, plan_id: id } });
    await api
      .operator()
      .refused(400, 'plan has live subscriptions: archive it instead', ({ billing }) =>
        billing.plans.delete({ plan: id }),
      );
  });

  it('the revision rises with features and prices only', async () => {
    const { id } = await newPlan(api, { features: [{ key: 'calls' }] });
    const { plans } = api.operator().plinth.billing;
    const change = async (body: object) => (await plans.update({ plan: id, body })).revision;
    expect(await change({ description: 'x' })).toBe(1);
    expect(await change({ features: [{ key: 'calls', limit: 5 }] })).toBe(2);
    expect(await change({ pricing: { base_amount: usd(4900) } })).toBe(3);
  });

  it('a price below a cent is shown exactly, and rounded', async () => {
    const tiers = [{ feature_key: 'calls', up_to: -1, unit_amount_decimal: '0.50' }];
    const { pricing } = await newPlan(api, { features: [{ key: 'calls' }], pricing: { tiers } });
    expect(pricing?.tiers[0]).toMatchObject({
      unit_amount_decimal: '0.5',
      unit_amount: { amount: 1, display: '$0.01' },
    });
  });

  it('the slug of a deleted plan is free again', async () => {
    const { id, slug } = await newPlan(api);
    await api.operator().plinth.billing.plans.delete({ plan: id });
    const next = await newPlan(api, { slug });
    expect((await api.tenant().plinth.billing.plans.get({ plan: slug })).id).toBe(next.id);
  });
});
