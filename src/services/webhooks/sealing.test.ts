import { describe, expect, it } from 'vitest';
import { createSealer } from '../../lib/seal.ts';
import { createSealing, Unreadable } from './sealing.ts';

const [master, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
const sealing = createSealing(createSealer(master));
const endpoint = { tenant_id: 'acme', id: 'ep_01h455vb4pex5vsknk084sn02q' };

describe('a sealed value', () => {
  const secret = sealing.sealSecret(endpoint, 'whsec_x');
  const headers = sealing.sealHeaders(endpoint, { cookie: 'ä\n=1' });

  it('opens with the master key, also when that is the previous one by now', () => {
    for (const opener of [sealing, createSealing(createSealer(other, master))]) {
      expect(opener.openSecret(endpoint, secret)).toBe('whsec_x');
      expect(opener.openHeaders(endpoint, headers)).toEqual({ cookie: 'ä\n=1' });
    }
  });

  it('opens for nothing else', () => {
    const attempts = [
      () => createSealing(createSealer(other)).openSecret(endpoint, secret),
      () => sealing.openSecret({ ...endpoint, tenant_id: 'other' }, secret),
      () => sealing.openSecret({ ...endpoint, id: 'ep_01h455vb4pex5vsknk084sn02r' }, secret),
      () => sealing.openSecret(endpoint, headers),
      () => sealing.openHeaders(endpoint, secret),
      () => sealing.openSecret(endpoint, secret.subarray(0, 20)),
    ];
    for (const attempt of attempts) expect(attempt).toThrow(Unreadable);
  });
});
