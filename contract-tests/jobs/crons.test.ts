import { describe, expect, it } from 'vitest';
import { behaviour, contract, type Tenant } from '../harness.ts';
import { absent, newQueue, tooLarge } from './work.ts';

const report = {
  name: 'nightly-report',
  schedule: '30 2 * * *',
  timezone: 'Europe/Berlin',
  job_name: 'report.build',
  queue: 'reports',
  payload: { kind: 'daily' },
};

/** Creates the cron entry of a tenant, on the mock and on the server. */
const create = async ({ plinth }: Tenant, more: object = {}) =>
  (await plinth.jobs.crons.create({ body: { ...report, ...more } })).id;

contract('Crons', (api) => {
  describe('create', () => {
    it('201 with the entry and its next tick', async () => {
      const { data, response } = await api.tenant().plinth.jobs.crons.create({ body: report }).response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ ...report, enabled: true, last_fired_at: null });
      expect(data.next_run_at).not.toBeNull();
    });

    it('400 for a schedule with seconds', () =>
      api
        .tenant()
        .refused(400, /^schedule: /, ({ jobs }) =>
          jobs.crons.create({ body: { ...report, schedule: '0 30 2 * * *' } }),
        ));

    it('409 when the name is taken', async () => {
      const tenant = api.tenant();
      await create(tenant);
      await tenant.refused(409, 'cron entry already exists: nightly-report', ({ jobs }) =>
        jobs.crons.create({ body: report }),
      );
    });

    it('413 when the payload is too large', () =>
      api
        .tenant()
        .refused(413, 'payload: must have at most 65536 bytes', ({ jobs }) =>
          jobs.crons.create({ body: { ...report, payload: tooLarge } }),
        ));
  });

  describe('list', () => {
    it('200 with the entries of the tenant', async () => {
      const tenant = api.tenant();
      const id = await create(tenant);
      expect((await tenant.plinth.jobs.crons.list()).map((entry) => entry.id)).toEqual([id]);
    });
  });

  describe('get', () => {
    it('200 with the entry', async () => {
      const tenant = api.tenant();
      const cronId = await create(tenant);
      expect(await tenant.plinth.jobs.crons.get({ cronId })).toMatchObject({ id: cronId, ...report });
    });
  });

  describe('update', () => {
    it('200 with the entry as it is now', async () => {
      const tenant = api.tenant();
      const cronId = await create(tenant);
      expect(await tenant.plinth.jobs.crons.update({ cronId, body: { timeout: '30m' } })).toMatchObject({
        ...report,
        timeout: '30m',
      });
    });

    it('413 when the payload is too large', async () => {
      const tenant = api.tenant();
      const cronId = await create(tenant);
      await tenant.refused(413, 'payload: must have at most 65536 bytes', ({ jobs }) =>
        jobs.crons.update({ cronId, body: { payload: tooLarge } }),
      );
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'cron entry not found', ({ jobs }) =>
          jobs.crons.update({ cronId: absent.cron, body: { enabled: false } }),
        ));
  });

  describe('disable', () => {
    it('200 with the entry, which has no next tick', async () => {
      const tenant = api.tenant();
      const cronId = await create(tenant);
      expect(await tenant.plinth.jobs.crons.disable({ cronId })).toMatchObject({
        enabled: false,
        next_run_at: null,
      });
    });
  });

  describe('enable', () => {
    it('200 with the entry, which has a next tick', async () => {
      const tenant = api.tenant();
      const cronId = await create(tenant, { enabled: false });
      const entry = await tenant.plinth.jobs.crons.enable({ cronId });
      expect(entry.enabled).toBe(true);
      expect(entry.next_run_at).not.toBeNull();
    });
  });

  describe('trigger', () => {
    it('201 with a job of the entry', async () => {
      const tenant = api.tenant();
      const cronId = await create(tenant);
      const { data, response } = await tenant.plinth.jobs.crons.trigger({ cronId }).response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ name: 'report.build', queue: 'reports', origin_id: cronId });
    });

    it('409 while its last job lives, if jobs may not overlap', async () => {
      const tenant = api.tenant();
      const cronId = await create(tenant, { overlap: 'skip' });
      await tenant.plinth.jobs.crons.trigger({ cronId });
      await tenant.refused(409, 'the last job of the cron entry is still live', ({ jobs }) =>
        jobs.crons.trigger({ cronId }),
      );
    });
  });

  describe('delete', () => {
    it('204', async () => {
      const tenant = api.tenant();
      await tenant.plinth.jobs.crons.delete({ cronId: await create(tenant) });
    });
  });

  describe.each(['get', 'disable', 'enable', 'trigger', 'delete'] as const)('%s', (method) => {
    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'cron entry not found', async ({ jobs }) => {
        await jobs.crons[method]({ cronId: absent.cron });
      }));
  });
});

behaviour('Crons', (api) => {
  it('the name may be used again after the entry is deleted, and its jobs remain', async () => {
    const tenant = api.tenant();
    const queue = newQueue();
    const cronId = await create(tenant, { queue });
    const { id } = await tenant.plinth.jobs.crons.trigger({ cronId });
    await tenant.plinth.jobs.crons.delete({ cronId });
    await create(tenant);
    expect(await tenant.plinth.jobs.jobs.get({ jobId: id })).toMatchObject({ queue, origin_id: cronId });
  });

  it('the operator makes an entry for a tenant, whose name is then taken there only', async () => {
    const tenant = api.tenant();
    const { jobs } = api.operator().plinth;
    const body = { ...report, scope_org_id: tenant.id };
    const { id } = await jobs.crons.create({ body });
    expect(await tenant.plinth.jobs.crons.list()).toMatchObject([{ id, scope_org_id: tenant.id }]);
    await create(api.tenant());
  });

  it('a queue of the platform or of a workflow is refused', () =>
    Promise.all(
      ['plinth.billing', 'workflow.order.fulfil.v1'].map((queue) =>
        api
          .tenant()
          .refused(400, `queue: ${queue} is reserved`, ({ jobs }) =>
            jobs.crons.create({ body: { ...report, queue } }),
          ),
      ),
    ));
});
