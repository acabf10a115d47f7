import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Asker } from './http/asker.ts';
import type { Context } from './http/context.ts';
import type { PortsOf } from './http/port.ts';
import { madeUp } from './testing/made-up-service.ts';
import { type TestRequest, type TestServer, testServer } from './testing/server.ts';

const asks = { keys: 'required', audit: 'required' } as const;
type Ask = (ports: PortsOf<typeof asks>, context: Context) => unknown;

/** The question that the made-up service asks when it receives a request. */
let ask: Ask;

const asker = madeUp('sync', asks, {
  Info_get: async (ports, _, context) => (await ask(ports, context)) ?? null,
});

/** Returns the caller that the asked service saw. */
const witness = madeUp(
  'audit',
  {},
  {
    Stats_get: (
      _ports,
      _,
      { tenant, app, actor, userId, credential, session, scopes, operator, caller },
    ) => ({
      ...{ tenant, app, actor, userId, credential, session, scopes, operator, confined: caller.confined },
    }),
  },
);

const impersonated = {
  id: 'sess_1',
  orgId: 'org_1',
  orgScopes: ['auth:write'],
  impersonatedBy: 'user_2',
  authenticatedAt: '2026-11-20T09:30:00.000Z',
};

let tenants = 0;

describe.each(['in this process', 'on another server'])(
  'a caller who asks %s through another service',
  (where) => {
    let servers: TestServer[];
    let server: TestServer;
    /** The server of the services that are asked. */
    let asked: TestServer;
    beforeAll(async () => {
      const together = where === 'in this process';
      asked = await testServer({
        services: ['keys'],
        modules: together ? [asker, witness] : [witness],
        strict: false,
      });
      server = asked;
      servers = [asked];
      if (together) return;
      const remote = (name: string) => ({ url: `${asked.url}/${name}`, token: asked.rootToken });
      server = await testServer({
        services: [],
        modules: [asker],
        strict: false,
        remotes: { keys: remote('keys'), audit: remote('audit') },
      });
      servers = [server, asked];
    });
    afterAll(async () => {
      for (const one of servers) await one.close();
    });

    let tenant: string;
    beforeEach(() => {
      tenants += 1;
      tenant = `acme-${tenants}`;
    });

    async function through(asks: Ask, request: TestRequest = { tenant }) {
      ask = asks;
      const { status, body } = await server.request('GET', '/sync/info', request);
      return { status, body };
    }

    /** Asks as another caller than the one who sent the request. */
    const as = ({ caller, requestId, ip, userAgent, signal }: Context, other: object): Asker => ({
      ...{ caller: { ...caller, ...other }, requestId, ip, userAgent, signal },
    });

    it('is still a key, which cannot extend itself', async () => {
      const scopes = ['sync:read', 'keys:write'];
      const { body: own } = await asked.request('POST', '/keys/v1/keys', {
        tenant,
        body: { name: 'Own', scopes, expires_at: '2098-01-01T00:00:00Z' },
      });
      const expires_at = '2099-01-01T00:00:00Z';
      const extended = await through(
        ({ keys }, context) => keys.keys.update({ keyId: own.key.id, body: { expires_at } }, context),
        { apiKey: own.raw_key },
      );
      expect([extended.status, extended.body]).toEqual([403, { error: 'a key cannot extend itself' }]);
    });

    it('is recorded as the author by the same name', async () => {
      const scopes = ['sync:read', 'keys:write'];
      const { body: own } = await asked.request('POST', '/keys/v1/keys', {
        tenant,
        body: { name: 'Own', scopes, expires_at: '2098-01-01T00:00:00Z' },
      });
      const made = await through(({ keys }, context) => keys.keys.create({ body: { name: 'a' } }, context), {
        apiKey: own.raw_key,
      });
      expect(made.body.key.created_by).toBe(own.key.id);
    });

    it.each<[who: string, other: object]>([
      [
        'an impersonated session',
        {
          credential: { kind: 'session', id: 'sess_1' },
          session: impersonated,
          userId: 'user_1',
          actor: 'user_1',
        },
      ],
      ['an access token', { credential: { kind: 'token', id: 'jti_1' }, actor: 'client_1' }],
      ['a key', { credential: { kind: 'key', id: 'key_1' }, actor: 'key_1' }],
      ['a link of a service', { credential: { kind: 'own', id: 'link_1' }, actor: 'link', confined: true }],
      ['a name of other letters', { credential: { kind: 'own', id: 'żółw' }, actor: 'żółw', confined: true }],
    ])('is %s there as well', async (_, other) => {
      const caller = { tenant, app: 'shop', scopes: ['audit:read'], confined: false, ...other };
      const { body } = await through(async ({ audit }, context) => audit.stats.get({}, as(context, caller)));
      expect(body).toEqual({ userId: null, session: null, operator: false, ...caller });
    });

    it('is the operator there only with a credential of the app of the operator', async () => {
      const caller = { credential: { kind: 'key', id: 'key_1' }, scopes: ['audit:*'], confined: false };
      const operator = async (place: object) =>
        (
          await through(async ({ audit }, context) =>
            audit.stats.get({}, as(context, { ...caller, ...place })),
          )
        ).body.operator;
      expect(await operator({ tenant: 'default', app: 'default' })).toBe(true);
      expect(await operator({ tenant: 'default', app: 'shop' })).toBe(false);
      expect(await operator({ tenant, app: 'default' })).toBe(false);
      expect(await operator({ tenant: 'default', app: 'default', confined: true })).toBe(false);
    });

    it('gains nothing from a scope that looks like several', async () => {
      const refused = await through(({ keys }, context) =>
        keys.keys.create(
          { body: { name: 'a', scopes: ['authz:admin'] } },
          as(context, {
            credential: { kind: 'token', id: 'jti_1' },
            scopes: ['keys:write', 'x authz:admin'],
          }),
        ),
      );
      expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('authz:admin')]);
    });
  },
);
