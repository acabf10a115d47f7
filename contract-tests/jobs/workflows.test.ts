import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';

const name = 'order.fulfil';
const body = { description: 'Charge, ship, notify', timeout: '5m' };

contract('Workflows', (api) => {
  describe('list', () => {
    it('200 with the names', async () => {
      const { jobs } = api.tenant().plinth;
      await jobs.workflows.put({ name, body });
      expect((await jobs.workflows.list()).names).toContain(name);
    });
  });

  describe('put', () => {
    it('200 with the workflow and the queue of its runs', async () => {
      const { jobs } = api.tenant().plinth;
      expect(await jobs.workflows.put({ name, body })).toMatchObject({
        name,
        version: 1,
        queue: 'workflow.order.fulfil.v1',
        source: 'http',
        ...body,
      });
    });
  });

  describe('get', () => {
    it('200 with the workflow', async () => {
      const { jobs } = api.tenant().plinth;
      await jobs.workflows.put({ name, body });
      expect(await jobs.workflows.get({ name })).toMatchObject({ name, ...body });
    });
  });

  describe('delete', () => {
    it('204', async () => {
      const { jobs } = api.tenant().plinth;
      await jobs.workflows.put({ name, body });
      await jobs.workflows.delete({ name });
    });
  });

  describe.each(['get', 'delete'] as const)('%s', (method) => {
    it('404 when nobody has registered it', () =>
      api.tenant().refused(404, 'workflow not found', async ({ jobs }) => {
        await jobs.workflows[method]({ name: 'order.return' });
      }));
  });
});

behaviour('Workflows', (api) => {
  it('the highest version counts, and all go at once', async () => {
    const tenant = api.tenant();
    const { workflows } = tenant.plinth.jobs;
    for (const version of [1, 12, 3]) await workflows.put({ name, body: { version } });
    expect(await workflows.get({ name })).toMatchObject({ version: 12, queue: `workflow.${name}.v12` });
    expect(await workflows.list()).toEqual({ names: [name] });
    await workflows.delete({ name });
    expect(await workflows.list()).toEqual({ names: [] });
  });

  it('another tenant has no part in it', async () => {
    await api.tenant().plinth.jobs.workflows.put({ name, body });
    const stranger = api.tenant();
    expect(await stranger.plinth.jobs.workflows.list()).toEqual({ names: [] });
    await stranger.refused(404, 'workflow not found', ({ jobs }) => jobs.workflows.get({ name }));
    await stranger.refused(404, 'workflow not found', ({ jobs }) => jobs.runs.start({ body: { name } }));
  });
});
