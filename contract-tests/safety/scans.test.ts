import { describe, expect, it } from 'vitest';
import { contract, type Api } from '../harness.ts';

const text = 'Write to me john.smith@example.com please';

contract('Scans', (api: Api) => {
  it('input and output: 200 with the decision, which can be read', async () => {
    const { safety } = api.tenant().plinth;
    const input = await safety.scans.input({ body: { text } });
    expect(input).toMatchObject({ decision: 'redact', redacted: 'Write to me [EMAIL_1] please' });
    const output = await safety.scans.output({ body: { text } });
    expect(output.direction).toBe('output');
    expect((await safety.scans.get({ scanId: input.id })).decision).toBe('redact');
    const listed = [];
    for await (const scan of safety.scans.list({ decision: 'redact' })) listed.push(scan.id);
    expect(listed.length).toBeGreaterThan(0);
    const stats = await safety.scans.stats({ from: '2026-01-01' });
    if (api.target === 'server') expect(stats.total_scans).toBe(2);
  });

  it('preview: 200 with the decision, and no id', async () => {
    const { safety } = api.tenant().plinth;
    const preview = await safety.scans.preview({ body: { text, direction: 'input' } });
    expect(preview).toMatchObject({ id: '', decision: 'redact' });
  });

  it('400 with a profile that does not exist, and with periods that make no sense', async () => {
    const tenant = api.tenant();
    const profile = 'nobody';
    const refusal = 'profile: no enabled profile has this name';
    await tenant.refused(400, refusal, ({ safety }) => safety.scans.input({ body: { text, profile } }));
    await tenant.refused(400, refusal, ({ safety }) => safety.scans.output({ body: { text, profile } }));
    await tenant.refused(400, refusal, ({ safety }) =>
      safety.scans.preview({ body: { text, profile, direction: 'input' } }),
    );
    const period = { from: '2026-02-01', to: '2026-01-01' };
    await tenant.refused(400, 'from: must not be after to', ({ safety }) => safety.scans.stats(period));
    await tenant.refused(400, 'from: must not be after to', async ({ safety }) => {
      for await (const _ of safety.scans.list(period)) return;
    });
    await tenant.refused(400, /must be an id/, ({ safety }) =>
      safety.scans.get({ scanId: 'role_01h455vb4pex5vsknk084sn02q' }),
    );
  });

  it('get: 404 for a scan of another tenant', async () => {
    const { id: scanId } = await api.tenant().plinth.safety.scans.input({ body: { text } });
    await api.tenant().refused(404, 'scan not found', ({ safety }) => safety.scans.get({ scanId }));
  });
});

contract('Vault and detectors', (api: Api) => {
  describe('restore', () => {
    it('200 with a text without tokens', async () => {
      const { safety } = api.tenant().plinth;
      const answer = await safety.vault.restore({ body: { text: 'no token' } });
      if (api.target === 'server') expect(answer).toEqual({ text: 'no token', restored: 0, missing: 0 });
    });

    it('400 without a text', () =>
      api
        .tenant()
        .refused(400, 'text: must not be empty', ({ safety }) =>
          safety.vault.restore({ body: { text: '' } }),
        ));
  });

  describe('erase', () => {
    it('200 with the number of originals', async () => {
      const { erased } = await api.tenant().plinth.safety.vault.erase({ body: { all: true } });
      if (api.target === 'server') expect(erased).toBe(0);
    });

    it('400 unless it says what', () =>
      api
        .tenant()
        .refused(400, 'body: exactly one of scan_id, user_id and all', ({ safety }) =>
          safety.vault.erase({ body: {} }),
        ));
  });

  describe('detectors', () => {
    it('200 with the catalogue, 400 with another focus', async () => {
      const detectors = await api.tenant().plinth.safety.detectors.list({ focus: 'pii' });
      expect(detectors[0]!.id).toMatch(/^pii\./);
      await api
        .tenant()
        .refused(400, /^focus: /, ({ safety }) => safety.detectors.list({ focus: 'colours' as 'pii' }));
    });
  });
});
