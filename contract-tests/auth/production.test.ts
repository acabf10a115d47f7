/** Behaviour that differs in production. A separate server runs in that mode. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Api } from '../harness.ts';
import { startServer, type Running } from '../process.ts';
import { servedBy } from '../targets.ts';

const hasOutbox = servedBy('server').some(
  ({ service, resource }) => service === 'auth' && resource === 'Outbox',
);

describe.skipIf(!hasOutbox)('auth in production', () => {
  const breaches: string[] = [];
  let server: Running;
  let api: Api;
  beforeAll(async () => {
    server = await startServer({
      environment: { NODE_ENV: 'production', PLINTH_PUBLIC_URL: 'http://127.0.0.1' },
    });
    const { url, rootToken } = server;
    api = connect({ target: 'server', url, rootToken, onBreach: (breach) => breaches.push(breach) });
  });
  afterAll(() => server.stop());
  afterEach(() => expect(breaches.splice(0), 'answers that break the contract').toEqual([]));

  it('SigningKeys rotate: 200 with one key of each algorithm that signs, 429 when too many are kept', async () => {
    const { auth } = api.operator().plinth;
    const { keys } = await auth.signingKeys.rotate();
    const active = keys.filter(({ state }) => state === 'active').map(({ alg }) => alg);
    expect(new Set(active).size).toBe(active.length);
    expect(active).toContain('ES256');
    const again = Array.from({ length: 20 }, () => auth.signingKeys.rotate({}, { retries: 0 }));
    const refused = (await Promise.allSettled(again)).filter(({ status }) => status === 'rejected');
    expect(refused[0]).toMatchObject({ reason: { status: 429 } });
  });

  it('Outbox: 404 whatever is asked', async () => {
    const operator = api.operator();
    const message = 'outbox not found';
    await operator.refused(404, message, ({ auth }) => auth.outbox.list());
    await operator.refused(404, message, ({ auth }) => auth.outbox.clear());
    const page = operator.plinth.auth.outbox.page({ key: 'any' });
    await expect(page).rejects.toMatchObject({ status: 404 });
    await operator.refused(404, message, ({ auth }) =>
      auth.outbox.get({ messageId: 'msg_01m7w6qgepfq9s8vbawh33jb99' }),
    );
  });
});
