/** What is different in production: a server of its own says that it is. */
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
    server = await startServer({ environment: { NODE_ENV: 'production' } });
    const { url, rootToken } = server;
    api = connect({ target: 'server', url, rootToken, onBreach: (breach) => breaches.push(breach) });
  });
  afterAll(() => server.stop());
  afterEach(() => expect(breaches.splice(0), 'answers that break the contract').toEqual([]));

  it('Outbox: 404 whatever is asked', async () => {
    const operator = api.operator();
    const message = 'outbox not found';
    await operator.refused(404, message, ({ auth }) => auth.outbox.list());
    await operator.refused(404, message, ({ auth }) => auth.outbox.clear());
    await operator.refused(404, message, ({ auth }) =>
      auth.outbox.get({ messageId: 'msg_01m7w6qgepfq9s8vbawh33jb99' }),
    );
  });
});
