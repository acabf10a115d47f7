import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, archived, recorded, usedBefore } from './trail.ts';

const policy = { category: 'auth', duration: '2160h' };

contract('Retention', (api) => {
  describe('create', () => {
    it('201 with the policy', async () => {
      const { data, response } = await api
        .tenant()
        .plinth.audit.retention.create({ body: { ...policy, archive: true } })
        .response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ ...policy, archive: true });
    });

    it('400 for the category of the service', () =>
      api
        .tenant()
        .refused(400, 'audit: category audit is reserved', ({ audit }) =>
          audit.retention.create({ body: { ...policy, category: 'audit' } }),
        ));

    it('403 for a shorter time than anybody but the operator may choose', () =>
      api
        .tenant()
        .refused(403, /^audit: duration: only the operator/, ({ audit }) =>
          audit.retention.create({ body: { ...policy, duration: '719h' } }),
        ));

    it('409 when the idempotency key was used with another body', async () => {
      const tenant = api.tenant();
      const once = { idempotencyKey: 'once' };
      await tenant.plinth.audit.retention.create({ body: policy }, once);
      await tenant.refused(409, usedBefore, ({ audit }) =>
        audit.retention.create({ body: { ...policy, duration: '2161h' } }, once),
      );
    });
  });

  describe('list', () => {
    it('200 with the policies of the tenant', async () => {
      const tenant = api.tenant();
      const { id } = await tenant.plinth.audit.retention.create({ body: policy });
      expect((await tenant.plinth.audit.retention.list()).map((one) => one.id)).toEqual([id]);
    });
  });

  describe('delete', () => {
    it('204', async () => {
      const tenant = api.tenant();
      const { id } = await tenant.plinth.audit.retention.create({ body: policy });
      const { response } = await tenant.plinth.audit.retention.delete({ id }).response();
      expect(response.status).toBe(204);
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, 'audit: retention policy not found', ({ audit }) =>
          audit.retention.delete({ id: absent.policy }),
        ));
  });

  describe('enforce', () => {
    it('200 with what it did', async () => {
      const tenant = api.tenant();
      const result = await tenant.plinth.audit.retention.enforce();
      if (api.target === 'server')
        expect(result).toEqual({ archived: 0, purged: 0, retained: 0, complete: true });
      else expect(result.complete).toBe(true);
    });
  });

  describe('archives', () => {
    it('200 with the archives of the tenant', async () => {
      const tenant = api.tenant();
      const id = await archived(tenant);
      expect((await tenant.plinth.audit.retention.archives()).map((archive) => archive.id)).toEqual([id]);
    });
  });

  describe('archiveContent', () => {
    it('200 with the content', async () => {
      const tenant = api.tenant();
      const id = await archived(tenant);
      const response = await tenant.plinth.audit.retention.archiveContent({ id });
      expect(response.headers.get('content-type')).toMatch(/^application\/gzip/);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'audit: archive not found', async ({ audit }) => {
        await audit.retention.archiveContent({ id: absent.archive });
      }));
  });
});

behaviour('Retention', (api) => {
  it('of a category once more replaces the policy under its id', async () => {
    const { retention } = api.tenant().plinth.audit;
    const first = await retention.create({ body: policy });
    const second = await retention.create({ body: { ...policy, duration: '4320h', archive: true } });
    expect(second).toMatchObject({ id: first.id, duration: '4320h', archive: true });
    expect(await retention.list()).toEqual([second]);
  });

  it('purges what is due, keeps it in an archive, and leaves the chain valid', async () => {
    const tenant = api.tenant();
    const { audit } = tenant.plinth;
    const kept = await recorded(tenant);
    const id = await archived(tenant);
    const [archive] = await audit.retention.archives();
    expect(archive).toMatchObject({ id, event_count: 1, category: 'ancient' });
    const content = gunzipSync(await (await audit.retention.archiveContent({ id })).bytes()).toString();
    expect(content.trimEnd().split('\n')).toHaveLength(1);
    const { record } = JSON.parse(content) as { record: { id: string } };
    await tenant.refused(404, 'audit: event not found', (plinth) =>
      plinth.audit.events.get({ id: record.id }),
    );
    expect(await audit.events.get({ id: kept.id })).toEqual(kept);
    expect(await audit.verification.verify()).toMatchObject({ valid: true, purged: 1 });
  });

  it('by the operator may be shorter, and is no help to the tenant', async () => {
    await api.operator().plinth.audit.retention.create({ body: { category: 'short', duration: '1h' } });
    await api
      .tenant()
      .refused(403, /^audit: duration: /, ({ audit }) =>
        audit.retention.create({ body: { category: 'short', duration: '1h' } }),
      );
  });

  it("of another tenant purges nothing of one's own", async () => {
    const [tenant, other] = [api.tenant(), api.tenant()];
    const event = await recorded(tenant, { category: 'ancient', timestamp: '2020-01-01T00:00:00Z' });
    await archived(other);
    expect(await tenant.plinth.audit.events.get({ id: event.id })).toEqual(event);
  });
});
