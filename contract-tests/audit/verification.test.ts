import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { absent, recorded } from './trail.ts';

contract('Verification', (api) => {
  describe('verify', () => {
    it('200 with the report', async () => {
      const tenant = api.tenant();
      const { stream_id } = await recorded(tenant);
      const report = await tenant.plinth.audit.verification.verify({ body: { stream_id } });
      expect(report).toMatchObject({
        valid: true,
        stream_id,
        gap_count: 0,
        tampered_count: 0,
        first_event: 1,
      });
    });

    it('400 for a range that ends before it begins', () =>
      api
        .tenant()
        .refused(400, 'audit: from_seq is after to_seq', ({ audit }) =>
          audit.verification.verify({ body: { from_seq: 2, to_seq: 1 } }),
        ));

    it('404 for a stream that does not exist', () =>
      api
        .tenant()
        .refused(404, 'audit: stream not found', ({ audit }) =>
          audit.verification.verify({ body: { stream_id: absent.stream } }),
        ));
  });
});

behaviour('Verification', (api) => {
  it('of a tenant that never was does not call it valid, and says so', async () => {
    const tenant = api.tenant();
    expect(await tenant.plinth.audit.verification.verify()).toEqual({
      ...{ valid: false, verified: 0, gaps: [], tampered: [], first_event: 0, last_event: 0 },
      ...{ stream_id: null, purged: 0, erased: 0, gap_count: 0, tampered_count: 0 },
      head_hash: '0'.repeat(64),
      remarks: ['nothing was ever recorded for this tenant and app'],
    });
  });

  it('of a part examines that part, and names what would have to follow the head', async () => {
    const tenant = api.tenant();
    for (const _ of [1, 2, 3]) await recorded(tenant);
    const { verify } = tenant.plinth.audit.verification;
    expect(await verify({ body: { from_seq: 2, to_seq: 3 } })).toMatchObject({
      ...{ valid: true, verified: 2, first_event: 2, last_event: 3 },
    });
    expect(await verify({ body: { to_seq: 5 } })).toMatchObject({ valid: false, gaps: [4, 5], gap_count: 2 });
  });

  it("of another tenant's stream is refused as if there were none", async () => {
    const { stream_id } = await recorded(api.tenant());
    await api
      .tenant()
      .refused(404, 'audit: stream not found', ({ audit }) =>
        audit.verification.verify({ body: { stream_id } }),
      );
  });
});
