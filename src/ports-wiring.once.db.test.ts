import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { asOperator } from './http/asker.ts';
import type { Context } from './http/context.ts';
import type { PortsOf } from './http/port.ts';
import type { ServiceModule } from './http/service.ts';
import { bareService, madeUp } from './testing/made-up-service.ts';
import { testServer } from './testing/server.ts';

const asks = { authz: 'required', keys: 'required' } as const;

/** The question that the made-up service asks when it receives a request. */
let ask: (ports: PortsOf<typeof asks>, context: Context) => unknown;

const asker = madeUp('sync', asks, {
  Info_get: async (ports, _, context) => (await ask(ports, context)) ?? null,
});

const readEvents: typeof ask = async ({ keys }, context) => {
  for await (const event of keys.keys.changes({}, asOperator(context))) return event;
  return null;
};

describe('a service that cannot be asked', () => {
  const start = (modules: ServiceModule[], remotes = {}) =>
    testServer({ services: [], modules, strict: false, remotes });

  it('and does not answer is unavailable', async () => {
    const nowhere = { url: 'http://127.0.0.1:9', token: 'x'.repeat(32) };
    const server = await start([asker], { authz: nowhere, keys: nowhere });
    try {
      ask = ({ authz }, context) => authz.roles.create({ body: { name: 'a' } }, context);
      const { status, body } = await server.request('GET', '/sync/info');
      expect([status, body]).toEqual([503, { error: 'authz unavailable' }]);
    } finally {
      await server.close();
    }
  });

  it.each<[what: string, answer: (res: ServerResponse) => void, ask: typeof ask]>([
    [
      'and hangs is unavailable, and is not asked again in the meantime',
      () => {},
      ({ authz }, context) => authz.roles.get({ roleId: 'role_01m7w4n5e0f7drekxj50y51wjg' }, context),
    ],
    [
      'for events and answers with a page is unavailable',
      (res) => res.setHeader('content-type', 'text/html').end('<p>hello'),
      readEvents,
    ],
    [
      'for events any longer is unavailable',
      (res) =>
        res.setHeader('content-type', 'text/event-stream').end('event: error\ndata: {"error":"inside"}\n\n'),
      readEvents,
    ],
    [
      'for events and sends none that can be read is unavailable',
      (res) => res.setHeader('content-type', 'text/event-stream').end('event: change\ndata: {\n\n'),
      readEvents,
    ],
  ])('%s', { timeout: 30_000 }, async (_, answer, asking) => {
    let asked = 0;
    const other = createServer((_req, res) => {
      asked += 1;
      answer(res);
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const remote = {
      url: `http://127.0.0.1:${(other.address() as AddressInfo).port}`,
      token: 'x'.repeat(32),
    };
    const server = await start([asker], { authz: remote, keys: remote });
    try {
      ask = asking;
      const { status, body } = await server.request('GET', '/sync/info');
      expect([status, body.error, asked]).toEqual([503, expect.stringMatching(/^\w+ unavailable$/), 1]);
    } finally {
      await server.close();
      other.closeAllConnections();
      other.close();
    }
  });

  it('is not said to lack what a wrong URL lacks', async () => {
    const other = await testServer({ services: ['authz', 'keys'] });
    const wrong = { url: `${other.url}/elsewhere`, token: other.rootToken };
    const server = await start([asker], { authz: wrong, keys: wrong });
    try {
      const roleId = 'role_01m7w4n5e0f7drekxj50y51wjg';
      ask = ({ authz }, context) => authz.roles.get({ roleId }, context);
      const { status, body } = await server.request('GET', '/sync/info');
      expect([status, body]).toEqual([503, { error: 'authz unavailable' }]);
    } finally {
      await server.close();
      await other.close();
    }
  });

  it('and is required stops the start with a sentence', async () => {
    await expect(start([asker])).rejects.toThrow(
      /^sync needs authz: serve authz in the same process, or set PLINTH_AUTHZ_URL and PLINTH_AUTHZ_TOKEN to the server that does$/,
    );
  });

  it.each([
    ['an API key', `sk_live_${'a'.repeat(55)}`],
    ['a session token', `pst_${'a'.repeat(55)}`],
    ['an access token', 'eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl'],
  ])('with %s stops the start, since it would answer about one tenant only', async (_, token) => {
    const remote = { url: 'http://127.0.0.1:9', token };
    await expect(start([asker], { authz: remote, keys: remote })).rejects.toThrow(
      /^PLINTH_AUTHZ_TOKEN must be the root token of that server/,
    );
  });
});

describe('services of one process', () => {
  it('may ask one another', async () => {
    let depth = 0;
    const audit = madeUp(
      'audit',
      { sync: 'required' },
      {
        Stats_get: async ({ sync }, _, context) =>
          depth++ < 3 ? { asked: await sync.info.get({}, context) } : context.tenant,
      },
    );
    const sync = madeUp(
      'sync',
      { audit: 'required' },
      { Info_get: async ({ audit }, _, context) => ({ asked: await audit.stats.get({}, context) }) },
    );
    const server = await testServer({ services: [], modules: [audit, sync], strict: false });
    try {
      const { body } = await server.request('GET', '/sync/info', { tenant: 'acme' });
      expect(
        JSON.stringify(body)
          .replace(/[^a-z]+/g, ' ')
          .trim(),
      ).toMatch(/^(asked ){7}acme$/);
    } finally {
      await server.close();
    }
  });

  it('cannot be asked while they are created', async () => {
    const early: ServiceModule<Record<never, never>, { keys: 'required' }> = {
      ...{ name: 'sync', migrations: new URL('./none/', import.meta.url), built: [], settings: {} },
      asks: { keys: 'required' },
      async create({ ports }) {
        await ports.keys.keys.list({}, asOperator({ requestId: 'early' }));
        return bareService({});
      },
    };
    await expect(testServer({ services: ['keys'], modules: [early], strict: false })).rejects.toThrow(
      'keys was asked before all services were created; ask it from start() on',
    );
  });
});
