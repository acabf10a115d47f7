import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, period, recorded, reported, usedBefore } from './trail.ts';

const kinds = [
  ['soc2', 5],
  ['hipaa', 4],
  ['euaiact', 5],
] as const;

contract('Reports', (api) => {
  describe.each(kinds)('%s', (kind, sections) => {
    it('201 with the report', async () => {
      const { data, response } = await api
        .tenant()
        .plinth.audit.reports[kind]({ body: { period } })
        .response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ type: kind, format: 'json' });
      if (api.target === 'server') expect(data.sections).toHaveLength(sections);
    });

    it('400 for more than 400 days', () =>
      api
        .tenant()
        .refused(400, 'audit: period is longer than 400 days', ({ audit }) =>
          audit.reports[kind]({ body: { period: { from: '2024-01-01', to: '2026-01-01' } } }),
        ));

    it('403 for another tenant', async () => {
      const key = await api.tenant().withKey(['audit:write', 'audit:read']);
      await key.refused(403, /tenant_id/, ({ audit }) =>
        audit.reports[kind]({ body: { period, tenant_id: 'another' } }),
      );
    });

    it('409 when the idempotency key was used with another body', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.audit.reports[kind]({ body: { period } }, once);
      await tenant.refused(409, usedBefore, ({ audit }) =>
        audit.reports[kind]({ body: { period, generated_by: 'somebody' } }, once),
      );
    });
  });

  describe('custom', () => {
    const body = { period, title: 'Deletions' };

    it('201 with the report', async () => {
      const { data, response } = await api.tenant().plinth.audit.reports.custom({ body }).response();
      expect(response.status).toBe(201);
      if (api.target === 'server') expect(data).toMatchObject({ type: 'custom', title: 'Deletions' });
    });

    it('400 for more than 400 days', () =>
      api
        .tenant()
        .refused(400, 'audit: period is longer than 400 days', ({ audit }) =>
          audit.reports.custom({ body: { ...body, period: { from: '2024-01-01', to: '2026-01-01' } } }),
        ));

    it('409 when the idempotency key was used with another body', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.audit.reports.custom({ body }, once);
      await tenant.refused(409, usedBefore, ({ audit }) =>
        audit.reports.custom({ body: { ...body, title: 'Others' } }, once),
      );
    });
  });

  describe('list', () => {
    it('200 with the reports of the tenant, without their sections', async () => {
      const tenant = api.tenant();
      const { id } = await reported(tenant);
      const reports = await tenant.plinth.audit.reports.list();
      expect(reports).toMatchObject([{ sections: [] }]);
      if (api.target === 'server') expect(reports[0]).toMatchObject({ id });
    });
  });

  describe('get', () => {
    it('200 with the report', async () => {
      const tenant = api.tenant();
      const report = await reported(tenant);
      const read = await tenant.plinth.audit.reports.get({ id: report.id });
      if (api.target === 'server') expect(read).toEqual(report);
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'audit: report not found', ({ audit }) => audit.reports.get({ id: absent.report })));
  });

  describe('export', () => {
    it.each([
      ['json', 'application/json'],
      ['csv', 'text/csv'],
      ['markdown', 'text/markdown'],
      ['html', 'text/html'],
    ] as const)('200 as %s, to be downloaded', async (format, type) => {
      const tenant = api.tenant();
      const { id } = await reported(tenant);
      const response = await tenant.plinth.audit.reports.export({ id, format });
      if (api.target === 'server') {
        expect(response.headers.get('content-type')).toBe(
          format === 'json' ? type : `${type}; charset=utf-8`,
        );
        expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="report_/);
        expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      }
      expect(await response.text()).not.toBe('');
    });

    it('400 for a format that does not exist', () =>
      api.tenant().refused(400, /format/, async ({ audit }) => {
        // @ts-expect-error no format
        await audit.reports.export({ id: absent.report, format: 'pdf' });
      }));

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'audit: report not found', async ({ audit }) => {
        await audit.reports.export({ id: absent.report, format: 'csv' });
      }));
  });
});

behaviour('Reports', (api) => {
  it('count what happened in the period, and show it without those who were erased since', async () => {
    const tenant = api.tenant();
    const { audit } = tenant.plinth;
    const during = { timestamp: '2026-02-01T00:00:00Z', user_id: 'usr_42' };
    await recorded(tenant, { ...during, outcome: 'denied', severity: 'critical' });
    await recorded(tenant, during);
    await recorded(tenant, { ...during, timestamp: '2026-04-01T00:00:00Z' });
    const report = await reported(tenant);
    expect(report.stats).toEqual({
      ...{ total_events: 2, critical_events: 1, failed_events: 0, denied_events: 1, purged_events: 0 },
    });
    const shown = ({ sections }: typeof report) =>
      sections.find(({ control }) => control === 'CC6.3')!.events;
    expect(shown(report).map(({ outcome, user_id }) => [outcome, user_id])).toEqual([
      ['denied', 'usr_42'],
      ['success', 'usr_42'],
    ]);
    const body = { subject_id: 'usr_42', reason: 'asked', requested_by: 'dpo' };
    await audit.erasures.create({ body });
    const later = await audit.reports.get({ id: report.id });
    expect(shown(later).map(({ user_id }) => user_id)).toEqual([null, null]);
    const exported = await (await audit.reports.export({ id: report.id, format: 'html' })).text();
    expect(exported).not.toContain('usr_42');
  });

  it('of another tenant cannot be read', async () => {
    const { id } = await reported(api.tenant());
    await api.tenant().refused(404, 'audit: report not found', ({ audit }) => audit.reports.get({ id }));
  });
});
