import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, recorded, usedBefore } from './trail.ts';

const request = { subject_id: 'usr_42', reason: 'GDPR art. 17 request', requested_by: 'dpo@acme.example' };

contract('Erasures', (api) => {
  describe('create', () => {
    it('201 with the erasure', async () => {
      const tenant = api.tenant();
      if (api.target === 'server') for (const _ of [1, 2]) await recorded(tenant, { user_id: 'usr_42' });
      const { data, response } = await tenant.plinth.audit.erasures.create({ body: request }).response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ ...request, events_affected: 2, key_destroyed: true });
    });

    it('403 for another tenant', async () => {
      const key = await api.tenant().withKey(['audit:admin']);
      await key.refused(403, /tenant_id/, ({ audit }) =>
        audit.erasures.create({ body: { ...request, tenant_id: 'another' } }),
      );
    });

    it('409 when the idempotency key was used with another body', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.audit.erasures.create({ body: request }, once);
      await tenant.refused(409, usedBefore, ({ audit }) =>
        audit.erasures.create({ body: { ...request, subject_id: 'usr_43' } }, once),
      );
    });
  });

  describe('list', () => {
    it('200 with the erasures of the tenant', async () => {
      const tenant = api.tenant();
      const { id } = await tenant.plinth.audit.erasures.create({ body: request });
      expect((await tenant.plinth.audit.erasures.list()).map((erasure) => erasure.id)).toEqual([id]);
    });
  });

  describe('get', () => {
    it('200 with the erasure', async () => {
      const tenant = api.tenant();
      const erasure = await tenant.plinth.audit.erasures.create({ body: request });
      expect(await tenant.plinth.audit.erasures.get({ id: erasure.id })).toMatchObject({
        id: erasure.id,
        ...request,
      });
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'audit: erasure not found', ({ audit }) => audit.erasures.get({ id: absent.erasure })));
  });
});

behaviour('Erasures', (api) => {
  it('make the person unreadable, leave others readable and the chain valid', async () => {
    const tenant = api.tenant();
    const { audit } = tenant.plinth;
    const done = await recorded(tenant, { user_id: 'usr_42', ip: '203.0.113.7', reason: 'why' });
    const suffered = await recorded(tenant, { user_id: 'usr_7', subject_id: 'usr_42', reason: 'why' });
    const erasure = await audit.erasures.create({ body: request });
    expect(erasure.events_affected).toBe(2);
    const nothing = { user_id: null, ip: null, reason: null, metadata: null, erased: true };
    expect(await audit.events.get({ id: done.id })).toMatchObject({ ...nothing, hash: done.hash });
    expect(await audit.events.get({ id: suffered.id })).toMatchObject({
      ...{ user_id: 'usr_7', subject_id: null, reason: null, erased: true, hash: suffered.hash },
    });
    expect((await audit.events.listByUser({ userId: 'usr_42' })).total).toBe(0);
    expect(await audit.verification.verify()).toMatchObject({ valid: true, erased: 2 });
    expect(await audit.erasures.create({ body: request })).toMatchObject({
      events_affected: 0,
      key_destroyed: false,
    });
  });

  it('leave what happens afterwards readable', async () => {
    const tenant = api.tenant();
    await recorded(tenant, { user_id: 'usr_42' });
    await tenant.plinth.audit.erasures.create({ body: request });
    const later = await recorded(tenant, { user_id: 'usr_42' });
    expect(await tenant.plinth.audit.events.get({ id: later.id })).toEqual(later);
  });

  it('of the same person in another tenant change nothing', async () => {
    const [tenant, other] = [api.tenant(), api.tenant()];
    const event = await recorded(tenant, { user_id: 'usr_42' });
    await other.plinth.audit.erasures.create({ body: request });
    expect(await tenant.plinth.audit.events.get({ id: event.id })).toEqual(event);
  });
});
