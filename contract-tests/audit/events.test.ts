import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../generated/audit/types.ts';
import { behaviour, contract } from '../harness.ts';
import { absent, anEvent, own, recorded } from './trail.ts';

const keyOfAnother = 'audit: idempotency key was used for another event';

contract('Events', (api) => {
  describe('create', () => {
    it('201 with the event', async () => {
      const { data, response } = await api.tenant().plinth.audit.events.create({ body: anEvent }).response();
      // The mock answers with the first status that is documented.
      expect(response.status).toBe(api.target === 'mock' ? 200 : 201);
      expect(data).toMatchObject({ ...anEvent, erased: false, erasure_id: null });
    });

    it('200 with the stored event when its key is repeated', async () => {
      const { events } = api.tenant().plinth.audit;
      const body = { ...anEvent, reason: 'asked', idempotency_key: 'once' };
      const first = await events.create({ body });
      const { data: again, response } = await events.create({ body }).response();
      expect(response.status).toBe(200);
      expect(again).toEqual(first);
    });

    it('400 without its action', () =>
      api.tenant().refused(400, 'audit: action: required', ({ audit }) =>
        // @ts-expect-error an event without its action
        audit.events.create({ body: { resource: 'user', category: 'data' } }),
      ));

    it('400 for the category of the service', () =>
      api
        .tenant()
        .refused(400, 'audit: category audit is reserved', ({ audit }) =>
          audit.events.create({ body: { ...anEvent, category: 'audit' } }),
        ));

    it('403 for another tenant', async () => {
      const key = await api.tenant().withKey(['audit:write']);
      await key.refused(403, "audit: tenant_id: not the caller's own", ({ audit }) =>
        audit.events.create({ body: { ...anEvent, tenant_id: 'another' } }),
      );
    });

    it('409 when its key was used for another event', async () => {
      const tenant = api.tenant();
      await recorded(tenant, { idempotency_key: 'once' });
      await tenant.refused(409, keyOfAnother, ({ audit }) =>
        audit.events.create({ body: { ...anEvent, action: 'user.deleted', idempotency_key: 'once' } }),
      );
    });
  });

  describe('createBatch', () => {
    it('201 with a receipt for each event', async () => {
      const body = { events: [{ ...anEvent, idempotency_key: 'once' }] };
      const { data, response } = await api.tenant().plinth.audit.events.createBatch({ body }).response();
      expect(response.status).toBe(201);
      expect(data.events).toMatchObject([{ duplicate: false }]);
    });

    it('400 as a whole when one of them is wrong', () =>
      api.tenant().refused(400, 'audit: events[1].action: required', ({ audit }) =>
        // @ts-expect-error an event without its action
        audit.events.createBatch({ body: { events: [anEvent, { resource: 'user', category: 'data' }] } }),
      ));

    it('403 as a whole when one of them names another tenant', async () => {
      const key = await api.tenant().withKey(['audit:write']);
      const events = [anEvent, { ...anEvent, tenant_id: 'another' }];
      await key.refused(403, "audit: events[1].tenant_id: not the caller's own", ({ audit }) =>
        audit.events.createBatch({ body: { events } }),
      );
    });

    it('409 when a key was used for another event', async () => {
      const tenant = api.tenant();
      await recorded(tenant, { idempotency_key: 'once' });
      const events = [anEvent, { ...anEvent, action: 'user.deleted', idempotency_key: 'once' }];
      await tenant.refused(409, keyOfAnother, ({ audit }) => audit.events.createBatch({ body: { events } }));
    });
  });

  describe('list', () => {
    it('200 with the events that match', async () => {
      const tenant = api.tenant();
      const { id } = await recorded(tenant);
      const { events, total, next_cursor } = await tenant.plinth.audit.events.list({ category: 'data' });
      expect([events.map((event) => event.id), total, next_cursor]).toEqual([[id], 1, null]);
    });
  });

  describe('listByUser', () => {
    it('200 with the events of which the person is the actor', async () => {
      const tenant = api.tenant();
      const { id } = await recorded(tenant, { user_id: 'usr_42' });
      const { events } = await tenant.plinth.audit.events.listByUser({ userId: 'usr_42' });
      expect(events).toMatchObject([{ id, user_id: 'usr_42' }]);
    });
  });

  describe('aggregate', () => {
    it('200 with the number of each group', async () => {
      const tenant = api.tenant();
      await recorded(tenant, { category: 'fiction' });
      const { buckets } = await tenant.plinth.audit.events.aggregate({
        body: { group_by: 'category', categories: ['fiction'] },
      });
      if (api.target === 'server') expect(buckets).toEqual([{ name: 'fiction', count: 1 }]);
      else expect(buckets).not.toEqual([]);
    });
  });

  describe('get', () => {
    it('200 with the event', async () => {
      const tenant = api.tenant();
      const event = await recorded(tenant);
      expect(await tenant.plinth.audit.events.get({ id: event.id })).toEqual(event);
    });
  });

  describe('record', () => {
    it('200 with what is needed to check the hash', async () => {
      const tenant = api.tenant();
      const { id, hash, prev_hash } = await recorded(tenant);
      const stored = await tenant.plinth.audit.events.record({ id });
      // The server records version 2, and the example is of version 1.
      expect(stored).toMatchObject({ hash, record: { id, prev_hash } });
      expect([1, 2]).toContain(stored.record.v);
    });
  });

  describe.each(['get', 'record'] as const)('%s', (method) => {
    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'audit: event not found', async ({ audit }) => {
        await audit.events[method]({ id: absent.event });
      }));
  });

  describe('exportCsv', () => {
    it('200 with a line for each event below the names of the columns', async () => {
      const tenant = api.tenant();
      await recorded(tenant);
      const response = await tenant.plinth.audit.events.exportCsv({ category: 'data' });
      expect(response.headers.get('content-type')).toMatch(/^text\/csv/);
      const [head, ...lines] = (await response.text()).trimEnd().split('\r\n');
      expect(head).toMatch(/^sequence,id,timestamp,/);
      expect(lines).toHaveLength(1);
    });
  });

  describe('exportNdjson', () => {
    it('200 with a line for each event', async () => {
      const tenant = api.tenant();
      const event = await recorded(tenant);
      const response = await tenant.plinth.audit.events.exportNdjson({ category: 'data' });
      expect(response.headers.get('content-type')).toMatch(/^application\/x-ndjson/);
      const lines = (await response.text()).trimEnd().split('\n');
      expect(lines).toHaveLength(1);
      if (api.target === 'server') expect(JSON.parse(lines[0]!)).toEqual(event);
    });
  });
});

behaviour('Events', (api) => {
  it('are numbered without gaps, each with the hash of the one before', async () => {
    const tenant = api.tenant();
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await recorded(tenant)).id));
    const { events } = await tenant.plinth.audit.events.list({ order: 'asc', limit: 1000 });
    expect(events.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    const chain = events.toSorted((a, b) => a.sequence - b.sequence);
    expect(chain.map(({ sequence }) => sequence)).toEqual(chain.map((_, at) => at + 1));
    for (const [at, { prev_hash }] of chain.entries())
      expect(prev_hash).toBe(chain[at - 1]?.hash ?? '0'.repeat(64));
  });

  it('name the credential that recorded them', async () => {
    const tenant = api.tenant();
    expect((await recorded(tenant)).recorded_by).toBe('root:root');
    expect((await recorded(await tenant.withKey(['audit:write', 'audit:read']))).recorded_by).toMatch(
      /^key:key_/,
    );
  });

  it('of which one is wrong are not recorded, none of them', async () => {
    const tenant = api.tenant();
    const events = [anEvent, { ...anEvent, category: 'audit' }];
    await tenant.refused(400, 'audit: category audit is reserved', ({ audit }) =>
      audit.events.createBatch({ body: { events } }),
    );
    expect((await tenant.plinth.audit.events.list({ category: 'data' })).total).toBe(0);
  });

  it('the operator records one for a tenant, which sees it, and reads those of all', async () => {
    const tenant = api.tenant();
    const operator = api.operator();
    const event = await recorded(operator, { tenant_id: tenant.id });
    expect(event.tenant_id).toBe(tenant.id);
    expect(await tenant.plinth.audit.events.get({ id: event.id })).toEqual(event);
    expect(await operator.plinth.audit.events.get({ id: event.id })).toEqual(event);
    await api
      .tenant()
      .refused(404, 'audit: event not found', ({ audit }) => audit.events.get({ id: event.id }));
  });

  it('a walk over the list meets every event once, newest first', async () => {
    const tenant = api.tenant();
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) ids.unshift((await recorded(tenant)).id);
    const met: string[] = [];
    for await (const { id } of tenant.plinth.audit.events.list({ category: 'data', limit: 2 })) met.push(id);
    expect(met).toEqual(ids);
  });

  it('of the other services arrive with their source', async () => {
    const tenant = api.tenant();
    await tenant.plinth.authz.roles.create({ body: { name: 'Editor' } });
    let found: AuditEvent | undefined;
    await expect
      .poll(async () => {
        [found] = (await tenant.plinth.audit.events.list({ action: 'role.created' })).events;
        return found;
      })
      .toMatchObject({ category: 'access', resource: 'role', source: 'authz', recorded_by: 'relay' });
    expect(own([found!])).toEqual([]);
  });
});
